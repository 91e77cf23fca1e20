"""SQLite's write-ahead log, checked for damage before SQLite reads it.

SQLite takes a log up to the first page that is not what it should be, and says nothing of those behind: that is right
for what was being written when the machine went down, and loses what was committed if the file was damaged since. Here
the pages are counted that carry the marks of the log's beginning, up to the last transaction but one: the last may have
been under way when the process was killed, and nobody has been answered then.
"""

import struct
from pathlib import Path

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = (0x377F0682, 0x377F0683)


def committed_pages(log: Path) -> int:
    """Return how many pages of a log were committed for certain; -1 if it is damaged from its beginning."""
    try:
        content = log.open("rb")
    except FileNotFoundError:
        return 0
    with content:
        header = content.read(_HEADER.size)
        if len(header) < _HEADER.size:
            return 0
        magic, _, page_bytes, _, *salts, first, second = _HEADER.unpack(header)
        if magic not in _MAGIC or (first, second) != _checksum(header[:24], magic):
            return -1
        found = last = number = 0
        while len(frame := content.read(_FRAME.size)) == _FRAME.size:
            number += 1
            _, pages_after_commit, *marks, _, _ = _FRAME.unpack(frame)
            if pages_after_commit and marks == salts:
                found, last = last, number
            content.seek(page_bytes, 1)
        return found


def _checksum(data: bytes, magic: int) -> tuple[int, int]:
    """Return the checksum that SQLite's format asks for; the last bit of the magic number says in which byte order."""
    order = ">" if magic & 1 else "<"
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    first = second = 0
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second

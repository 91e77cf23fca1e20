"""SQLite's write-ahead log, checked for damage before SQLite reads it.

SQLite reads a log up to the first invalid page and silently ignores the rest: that is right for pages that were being
written when the machine went down, but loses committed changes if the file was damaged later. Here the pages with the
salts of the log's header are counted, up to the last transaction but one: the process may have been killed during the
last transaction, before a client got its response.
"""

import struct
from pathlib import Path

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = (0x377F0682, 0x377F0683)


def committed_pages(log: Path) -> int:
    """Return how many pages of a log are certainly committed; -1 if the header of the log is damaged."""
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
    """Return the checksum of SQLite's format; the last bit of the magic number is the byte order."""
    order = ">" if magic & 1 else "<"
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    first = second = 0
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second

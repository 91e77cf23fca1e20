"""A watched file: reports when it was changed or replaced, also behind the symbolic links of a ConfigMap mount.

From a path to the moments when it should be read. The kubelet swaps the link `..data` of a mounted ConfigMap, an
editor replaces a file or writes it in place, an operator makes it readable: in each case modification time, size,
inode or mode differ. A file is reported only after one check without a change, so that a file under construction is
not read.
"""

import asyncio
import math

from kubesched.common.files import FileStamp, file_stamp

LOOK_EVERY_SECONDS = 0.25


class ChangedFile:
    """Detects when a file differs from its last read; `stamp` is its stamp before the first read."""

    def __init__(self, path: str, stamp: FileStamp | None, look_every_seconds: float = LOOK_EVERY_SECONDS) -> None:
        self._path = path
        self._look_every_seconds = look_every_seconds
        self._read = stamp
        self._asked = asyncio.Event()

    def ask(self) -> None:
        """Report the file at once, changed or not."""
        self._asked.set()

    async def change(self, at_most_seconds: float = math.inf) -> bool:
        """Wait until the file has changed and is stable, or `ask` was called; it then counts as read.

        Returns False after `at_most_seconds` without either.
        """
        until = asyncio.get_running_loop().time() + at_most_seconds
        seen, changed = self._read, True
        while not await self._asked_within(self._look_every_seconds):
            now = file_stamp(self._path)
            if now not in (None, self._read) and now == seen:
                break
            seen = now
            if asyncio.get_running_loop().time() >= until:
                changed = False
                break
        # taken before the read: a change meanwhile is detected the next time
        self._read = file_stamp(self._path)
        return changed

    async def _asked_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._asked.wait()
        except TimeoutError:
            return False
        self._asked.clear()
        return True

"""Files that change while they are in use: certificates, keys and bundles of authorities.

From paths to parsed contents. The files are checked on use, at most once a second, and read when one of them was
changed or replaced. Contents that cannot be used are logged once, and the last good ones stay in use.
"""

# upstream: apiserver/pkg/server/dynamiccertificates/{dynamic_serving_content,dynamic_cafile_content}.go (v1.36)

import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from kubesched.common.files import FileStamp, UnusableFileError, file_stamp, read_at_most
from kubesched.common.notes import Clock, Note
from kubesched.serving.options import ServingError

LOOK_EVERY_SECONDS = 1.0
LARGEST_FILE = 4 * 2**20

Meaning = TypeVar("Meaning")


class WatchedFiles(Generic[Meaning]):
    """The parsed contents of some files in their last valid state; at first they must be valid."""

    def __init__(
        self,
        paths: Sequence[str],
        parse: Callable[..., Meaning],
        note: Note,
        clock: Clock = time.monotonic,
    ) -> None:
        self._paths = tuple(paths)
        self._parse = parse
        self._note = note
        self._clock = clock
        self._looked = clock()
        self._stamp = self._stamps()
        self._meaning = self._read()

    def current(self) -> Meaning:
        """Return the parsed contents, read again if the files have changed."""
        now = self._clock()
        if now - self._looked < LOOK_EVERY_SECONDS:
            return self._meaning
        self._looked = now
        stamp = self._stamps()
        if stamp != self._stamp:
            # taken before reading: a change meanwhile is detected the next time
            self._stamp = stamp
            try:
                self._meaning = self._read()
            except ServingError as error:
                self._note(f"{error}; the last valid version is used")
        return self._meaning

    def _read(self) -> Meaning:
        return self._parse(*(_contents(path) for path in self._paths))

    def _stamps(self) -> tuple[FileStamp | None, ...]:
        return tuple(map(file_stamp, self._paths))


def _contents(path: str) -> bytes:
    try:
        return read_at_most(path, LARGEST_FILE)
    except UnusableFileError as error:
        raise ServingError(f"{path}: {error}") from None

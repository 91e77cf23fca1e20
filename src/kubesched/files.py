"""Files that somebody named, read with care: all of a file, unless it is so large that it must be another one."""

from pathlib import Path

from kubesched.errors import KubeschedError


class UnusableFileError(KubeschedError):
    """A file that cannot be read, or is too large; the text says why and what to do, but not which file."""


def read_at_most(path: str, most: int) -> bytes:
    """Return what is in a file of at most so many bytes."""
    try:
        with Path(path).open("rb") as file:
            contents = file.read(most + 1)
    except OSError as error:
        raise UnusableFileError(f"{error.strerror or error}; name a file that can be read") from None
    if len(contents) > most:
        raise UnusableFileError(f"larger than {most} bytes; is it the right file?")
    return contents

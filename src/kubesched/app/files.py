"""Files that options name, read with care.

From a path to its bytes, or one sentence that names the option, the file and the fix.
"""

from pathlib import Path

from kubesched.app.errors import OptionError

LARGEST = 10 * 2**20


def read_file(path: str, option: str) -> bytes:
    """Return what is in the file that an option names."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(LARGEST + 1)
    except OSError as error:
        raise OptionError(f"{option} {path}: {error.strerror or error}; name a file that can be read") from None
    if len(text) > LARGEST:
        raise OptionError(f"{option} {path}: larger than {LARGEST} bytes; is it the right file?")
    return text

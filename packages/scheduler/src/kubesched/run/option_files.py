"""Files that options name.

From a path to its bytes, or one sentence that names the option, the file and the fix.
"""

from kubesched.common.files import UnusableFileError, read_at_most
from kubesched.errors import KubeschedError

LARGEST = 10 * 2**20


class OptionError(KubeschedError):
    """Options that do not fit together, or a file that cannot be read."""


def read_file(path: str, option: str) -> bytes:
    """Return the contents of the file that an option names."""
    try:
        return read_at_most(path, LARGEST)
    except UnusableFileError as error:
        raise OptionError(f"{option} {path}: {error}") from None

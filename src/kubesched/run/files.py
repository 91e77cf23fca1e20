"""Files that options name, read with care.

From a path to its bytes, or one sentence that names the option, the file and the fix.
"""

from kubesched.common.files import UnusableFileError, read_at_most
from kubesched.run.errors import OptionError

LARGEST = 10 * 2**20


def read_file(path: str, option: str) -> bytes:
    """Return what is in the file that an option names."""
    try:
        return read_at_most(path, LARGEST)
    except UnusableFileError as error:
        raise OptionError(f"{option} {path}: {error}") from None

"""What can be wrong with a folder in which a control plane is kept."""

from kubesched.errors import KubeschedError


class DataError(KubeschedError):
    """A folder that cannot be used; the text names it, or the file in it."""

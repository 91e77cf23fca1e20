"""What is wrong with how a process was started."""

from kubesched.errors import KubeschedError


class OptionError(KubeschedError):
    """Options that do not fit together, or a file that cannot be read."""

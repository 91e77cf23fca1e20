"""The error that ends the benchmark."""

from kubesched.errors import KubeschedError


class LivingError(KubeschedError):
    """The benchmark cannot go on; the message says why."""

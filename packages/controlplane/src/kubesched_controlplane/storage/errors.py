"""Errors of a data folder."""

from kubesched.errors import KubeschedError


class DataError(KubeschedError):
    """A data folder that cannot be used; the message names the folder or a file in it."""

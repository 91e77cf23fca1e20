"""The error of traces and specifications that cannot be read."""

from kubesched.errors import KubeschedError


class TraceError(KubeschedError):
    """A trace, or a specification of one, that cannot be read; the message names file, line or field."""

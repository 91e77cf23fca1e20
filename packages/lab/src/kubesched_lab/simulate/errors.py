"""The error of traces and specifications that are not readable."""

from kubesched.errors import KubeschedError


class TraceError(KubeschedError):
    """A trace, or the specification of a trace, is not readable; the message names file, line or field."""

"""The error of sweeps that cannot be carried out as requested."""

from collections.abc import Iterator
from contextlib import contextmanager

from kubesched.errors import KubeschedError


class SweepError(KubeschedError):
    """A specification of a sweep, an input or a result is not usable; the message names file and field."""


@contextmanager
def about(what: str) -> Iterator[None]:
    """Prefix the SweepErrors of a block with their subject: a file, a field."""
    try:
        yield
    except SweepError as error:
        raise SweepError(f"{what}: {error}") from None

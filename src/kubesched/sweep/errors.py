"""The error of sweeps that cannot be done as they are asked for."""

from collections.abc import Iterator
from contextlib import contextmanager

from kubesched.errors import KubeschedError


class SweepError(KubeschedError):
    """A specification of a sweep, its inputs or its results that cannot be used; the message names file and field."""


@contextmanager
def about(what: str) -> Iterator[None]:
    """Have SweepErrors of a block begin with what they are about: a file, a field."""
    try:
        yield
    except SweepError as error:
        raise SweepError(f"{what}: {error}") from None

"""Restrictions: what code may read of a cluster, by context."""

from contextvars import copy_context

import pytest

from kubesched.core.cluster.changes import ANYTHING, UNRESTRICTED, ChangeLog, Reads
from kubesched.core.cluster.restrictions import may_read, restricted


@pytest.fixture
def log() -> ChangeLog:
    return ChangeLog()


def test_without_a_restriction_anything_may_be_read(log: ChangeLog) -> None:
    assert may_read(log) == UNRESTRICTED


@pytest.mark.parametrize("inner", [Reads.TAINTS, UNRESTRICTED])
def test_the_inner_restriction_applies_and_then_the_outer_one_again(log: ChangeLog, inner: int) -> None:
    with restricted(log, Reads.LABELS):
        with restricted(log, inner):
            assert may_read(log) == inner
        assert may_read(log) == Reads.LABELS
    assert may_read(log) == UNRESTRICTED


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt, GeneratorExit, StopIteration])
def test_an_exception_ends_a_restriction(log: ChangeLog, raised: type[BaseException]) -> None:
    with restricted(log, Reads.LABELS):
        with pytest.raises(raised), restricted(log, Reads.TAINTS):
            raise raised
        assert may_read(log) == Reads.LABELS
    assert may_read(log) == UNRESTRICTED


def test_none_changes_nothing(log: ChangeLog) -> None:
    with restricted(log, Reads.LABELS), restricted(log, None):
        assert may_read(log) == Reads.LABELS
    with restricted(log, None):
        assert may_read(log) == UNRESTRICTED


def test_a_restriction_concerns_one_cluster(log: ChangeLog) -> None:
    with restricted(log, ANYTHING):
        assert may_read(ChangeLog()) == UNRESTRICTED


def test_in_a_copy_of_the_context_the_restriction_ends_with_the_original(log: ChangeLog) -> None:
    with restricted(log, Reads.LABELS):
        copy = copy_context()
        assert copy.run(may_read, log) == Reads.LABELS
    assert copy.run(may_read, log) == UNRESTRICTED

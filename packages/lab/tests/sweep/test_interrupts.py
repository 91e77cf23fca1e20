"""Ctrl-C and SIGTERM end a sweep, also where a library drops the exception."""

import signal
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

from kubesched_lab.sweep.executors.interrupts import Interrupts, interrupts_noted


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_that_somebody_drops_counts_nevertheless(number: signal.Signals) -> None:
    def dropping() -> Iterator[int]:
        for item in range(3):
            if item == 1:
                with suppress(KeyboardInterrupt):
                    signal.raise_signal(number)
            yield item

    before, seen = signal.getsignal(number), list[int]()
    with pytest.raises(KeyboardInterrupt), interrupts_noted() as interrupts:
        seen.extend(interrupts.heeded(dropping()))
    assert seen == [0, 1]
    assert signal.getsignal(number) is before


def interrupted(interrupts: Interrupts) -> Iterator[str]:
    yield "before"
    with interrupts.held():
        signal.raise_signal(signal.SIGINT)
        yield "the block goes on"


def test_the_first_interrupt_waits_for_the_end_of_a_block_and_the_next_does_not() -> None:
    seen = list[str]()
    with interrupts_noted() as interrupts:
        with pytest.raises(KeyboardInterrupt):
            seen.extend(interrupted(interrupts))
        with pytest.raises(KeyboardInterrupt):
            seen.extend(interrupted(interrupts))
    assert seen == ["before", "the block goes on", "before"]


def test_outside_of_such_a_block_nothing_waits() -> None:
    with interrupts_noted() as interrupts:
        with interrupts.held():
            pass
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


class Interrupted:
    """Is interrupted while Python takes it away, as a future of Dask may be."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_in_a_finalizer_counts_and_prints_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    def finalizing() -> Iterator[int]:
        for item in range(3):
            if item == 1:
                Interrupted()
            yield item

    hook, seen = sys.unraisablehook, list[int]()
    with pytest.raises(KeyboardInterrupt), interrupts_noted() as interrupts:
        seen.extend(interrupts.heeded(finalizing()))
    assert seen == [0, 1]
    assert sys.unraisablehook is hook
    assert capfd.readouterr().err == ""


class Failing:
    def __del__(self) -> None:
        raise ValueError("a fault of the library")


def test_another_exception_in_a_finalizer_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    with interrupts_noted():
        Failing()
    assert "ValueError: a fault of the library" in capfd.readouterr().err


def test_without_an_interrupt_everything_comes() -> None:
    with interrupts_noted() as interrupts:
        assert list(interrupts.heeded(range(3))) == [0, 1, 2]

"""Ctrl-C and SIGTERM end a sweep, also where a library drops the exception."""

import signal
from collections.abc import Iterator
from contextlib import suppress

import pytest

from kubesched.sweep.executors.interrupts import interrupts_noted


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


def test_without_an_interrupt_everything_comes() -> None:
    with interrupts_noted() as interrupts:
        assert list(interrupts.heeded(range(3))) == [0, 1, 2]

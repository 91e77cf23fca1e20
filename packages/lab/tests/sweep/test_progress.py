"""Progress of sweeps: counts, the rate and what is left, on terminals and elsewhere."""

import pytest

from kubesched_lab.sweep.progress import SweepProgress


class Clock:
    """A clock that is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_line_has_counts_the_rate_and_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    progress = SweepProgress(200, terminal=False, clock=clock)
    assert progress.line() == "0 of 200 runs done"
    progress.found(100)
    clock.now = 60.0
    for number in range(20):
        progress.ended(failed=number == 3)
    assert progress.line() == "119 of 200 runs done, 1 failed, 20 a minute, 4 min 0 s left"
    clock.now = 3600 * 3
    assert progress.line() == "119 of 200 runs done, 1 failed, 0.1 a minute, 12 h 0 min left"
    assert capsys.readouterr().err == "101 of 200 runs done, 1.0 a minute, 1 h 39 min left\n"


def test_notes_are_told_once_above_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    progress = SweepProgress(2, terminal=True, clock=clock)
    progress.begin()
    progress.begin()
    progress.note("run 1: a note", once="a note")
    progress.note("run 2: a note", once="a note")
    clock.now = 30.0
    progress.ended(failed=False)
    progress.ended(failed=False)
    progress.end()
    # click leaves out what is for terminals where there is none
    assert capsys.readouterr().err == (
        "\r0 of 2 runs done\rrun 1: a note\n"
        "\r1 of 2 runs done, 2.0 a minute, 30 s left\r2 of 2 runs done, 4.0 a minute\n"
    )

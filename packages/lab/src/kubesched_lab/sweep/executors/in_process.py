"""Runs one after the other, in this process."""

from collections.abc import Iterator, Sequence

from kubesched_lab.sweep.run_carrier import RunCarrier
from kubesched_lab.sweep.runs import RunOutcome, SweepRun, SweepSetup


class InProcess:
    """Carries out runs in the process of the caller."""

    def __init__(self, setup: SweepSetup) -> None:
        self._carrier = RunCarrier(setup)

    def outcomes(self, runs: Sequence[SweepRun]) -> Iterator[RunOutcome]:
        """Yield the outcomes in the order of the runs."""
        for run in runs:
            yield self._carrier.carry_out(run)

    def close(self) -> None:
        """Do nothing: no run is under way between two outcomes."""

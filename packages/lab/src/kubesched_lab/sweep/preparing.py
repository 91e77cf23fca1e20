"""A sweep that is ready to run: its specification and the contents of its files, checked.

From the path of a specification to a `PreparedSweep`; raises KubeschedError, which names the file and the field.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kubesched import __version__
from kubesched.common.files import UnusableFileError, read_at_most
from kubesched.config.document import parse
from kubesched.errors import KubeschedError
from kubesched_lab.sweep.errors import SweepError, about
from kubesched_lab.sweep.inputs import SweepInputs, read_inputs
from kubesched_lab.sweep.planning import ConfigVariant, plan, runs_of
from kubesched_lab.sweep.request import SweepRequest
from kubesched_lab.sweep.run_carrier import RunCarrier, sentence
from kubesched_lab.sweep.runs import SweepRun, SweepSetup
from kubesched_lab.sweep.spec import Common, SweepSpec, common_of, spec_of

LARGEST_SPEC = 1 << 24


class PreparedSweep(NamedTuple):
    """A specification with the contents of its files."""

    path: str
    spec: SweepSpec
    document: dict[str, Any]
    inputs: SweepInputs
    common: Common

    @property
    def setup(self) -> SweepSetup:
        """Return the setup that workers need."""
        return SweepSetup(__version__, self.inputs.traces, self.common, self.inputs.mapping, self.inputs.plugins)

    def plan(self) -> list[SweepRun]:
        """Return the runs; raises SweepError."""
        with about(self.path):
            return plan(self.spec, self.inputs, self.common, __version__)

    def runs_of(self, configs: Sequence[ConfigVariant]) -> list[SweepRun]:
        """Return the runs under other configurations than the specification has; raises SweepError."""
        with about(self.path):
            return runs_of(self.spec, self.inputs, self.common, __version__, configs)

    def request(self, runs: Sequence[SweepRun], *, tuned: bool = False) -> SweepRequest:
        """Return the request that `sweep.json` keeps for these runs."""
        labels = [run.label for run in runs]
        return SweepRequest(__version__, self.document, self.inputs.digests, labels, self.common.timeline, tuned)


def prepare(path: str, *, timeline: bool = False) -> PreparedSweep:
    """Return the sweep that a file describes; raises KubeschedError."""
    try:
        text = read_at_most(path, LARGEST_SPEC)
    except UnusableFileError as error:
        raise SweepError(f"{path}: {error}") from None
    spec = spec_of(path, text)
    with about(path):
        inputs = read_inputs(spec, Path(path).parent)
        return PreparedSweep(path, spec, parse(text), inputs, common_of(spec, timeline=timeline))


def check(setup: SweepSetup, runs: Sequence[SweepRun]) -> None:
    """Raise KubeschedError if a configuration or a Workload is not usable; each is checked once."""
    carrier = RunCarrier(setup)
    configs = {run.config_text: run for run in runs}
    for run in configs.values():
        try:
            carrier.check_config(run)
        except KubeschedError as error:
            raise SweepError(f"configuration {run.label.config}: {sentence(error)}") from None
    scenarios = {repr(run.label.scenario): run for run in runs}
    for run in scenarios.values():
        carrier.check_workloads(run)

"""The values that pass between a sweep and its workers: a run, the common setup, and an outcome.

A run has everything that makes it differ from other runs. Its `id` is a digest of all inputs of its figures, so that
existing results can be reused, and results for changed inputs are not.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import msgspec

from kubesched_lab.sweep.spec import Common

# a value of a field that a sweep sets, in the form of the results: a number, or a text
Setting = int | float | str


class RunLabel(msgspec.Struct, frozen=True):
    """The name of a run, and its place in the sweep."""

    id: str
    name: str
    trace: str
    config: str
    nodes: str
    seed: int
    # the values that the sweep sets in the Workload and in the configuration, by short names of fields
    fields: dict[str, Setting] = {}
    config_fields: dict[str, Setting] = {}

    @property
    def scenario(self) -> dict[str, Setting]:
        """Return the simulated scenario: trace, size and fields, without configuration and seed."""
        return {"trace": self.trace, "nodes": self.nodes, **self.fields}

    @property
    def columns(self) -> dict[str, Setting]:
        """Return the columns that are written beside the figures of the run."""
        named = {"id": self.id, "run": self.name, "trace": self.trace, "config": self.config, "nodes": self.nodes}
        fields = {f"set.{name}": value for name, value in self.fields.items()}
        return {
            **named,
            "seed": self.seed,
            **fields,
            **{f"config.{n}": value for n, value in self.config_fields.items()},
        }


class SweepRun(msgspec.Struct, frozen=True):
    """One simulation of a sweep."""

    label: RunLabel
    # the text of the configuration, None for the default one
    config_text: bytes | None = None
    # a factor, or counts of pools; None for the cluster as it is
    size: int | float | dict[str, int] | None = None
    # fields of the Workload, by path
    fields: dict[str, Any] = {}
    speed: float = 1

    @property
    def id(self) -> str:
        """Return the digest of all inputs of the figures."""
        return self.label.id

    @property
    def name(self) -> str:
        """Return the name of the run."""
        return self.label.name


class SweepSetup(msgspec.Struct, frozen=True):
    """The data that workers need once: files by purpose, and settings common to all runs."""

    version: str
    traces: dict[str, list[str]]
    common: Common = Common()
    mapping: str = ""
    plugins: list[str] = []


class RunOutcome(msgspec.Struct, frozen=True):
    """The outcome of a run: a row of figures, or the reason of its failure."""

    id: str
    row: dict[str, Any] = {}
    timeline: dict[str, list[float]] = {}
    error: str = ""
    notes: list[str] = []


class Workers(Protocol):
    """Workers that carry out runs: this process, other processes, or other machines."""

    def outcomes(self, runs: Sequence[SweepRun]) -> Iterator[RunOutcome]:
        """Yield an outcome for each run, in the order in which they end."""

    def close(self) -> None:
        """Stop at once; runs under way are lost."""


Tell = Callable[[str], None]

"""The target of a benchmark: the engine alone, or a cluster behind an API server.

A target carries out operations, and reports the state of pods to a `PodBook`.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Protocol

import msgspec

from kubesched_lab.bench.figures import Spread, Usage
from kubesched_lab.bench.pod_book import PodBook
from kubesched_lab.simulate.traces.perf.made_object import MadeObject


class AttemptFigures(msgspec.Struct, frozen=True):
    """Attempts between two moments: their number by result, and their durations, in milliseconds."""

    results: dict[str, int]
    durations: Spread | None = None


class AttemptMeter(Protocol):
    """Measures attempts from a moment on."""

    async def read(self) -> AttemptFigures | None:
        """Return the attempts since the meter was created; None if they are unknown."""


class PreparedObjects(Protocol):
    """Objects that are ready to be created, so that their preparation takes no measured time."""

    async def create(self) -> None:
        """Create all objects."""


class BenchTarget(Protocol):
    """A cluster with a scheduler."""

    book: PodBook

    def prepared(self, objects: Iterable[list[MadeObject]]) -> PreparedObjects:
        """Prepare objects for creation; the objects of one list are created in their order."""

    async def update(self, made: MadeObject, subresources: list[str]) -> None:
        """Update an object."""

    async def delete(self, made: MadeObject) -> None:
        """Delete an object; ignore a missing one."""

    async def delete_pods(self, namespace: str, names: list[str], *, at_once: bool = False) -> None:
        """Delete pods; `at_once` without their grace period."""

    def usage(self) -> Usage | None:
        """Return the resource usage of the scheduler's process so far; None if it is unknown."""

    async def meter(self) -> AttemptMeter:
        """Start to measure attempts."""

    def check(self) -> None:
        """Raise KubeschedError if the scheduler has ended."""


class TargetFactory(Protocol):
    """Starts targets, a new one for each run."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[BenchTarget]:
        """Run a target until the block ends; then delete its objects."""
        yield  # type: ignore[misc]

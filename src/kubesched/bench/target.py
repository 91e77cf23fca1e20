"""Where a benchmark runs: the engine alone, or a cluster behind an API server.

A target carries out what operations say, and tells a `PodBook` what becomes of pods.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Protocol

import msgspec

from kubesched.bench.figures import Spread, Usage
from kubesched.bench.pod_book import PodBook
from kubesched.simulate.traces.perf.made_object import MadeObject


class AttemptFigures(msgspec.Struct, frozen=True):
    """Attempts between two moments: how many by result, and how long they took, in milliseconds."""

    results: dict[str, int]
    durations: Spread | None = None


class AttemptMeter(Protocol):
    """Measures attempts from a moment on."""

    async def read(self) -> AttemptFigures | None:
        """Return what happened since the meter was made; None if that cannot be known."""


class PreparedObjects(Protocol):
    """Objects that are ready to be created, so that making them takes no measured time."""

    async def create(self) -> None:
        """Create them all."""


class BenchTarget(Protocol):
    """A cluster with a scheduler."""

    book: PodBook

    def prepared(self, objects: Iterable[list[MadeObject]]) -> PreparedObjects:
        """Make objects ready to be created; those of one list in their order."""

    async def update(self, made: MadeObject, subresources: list[str]) -> None:
        """Update an object."""

    async def delete(self, made: MadeObject) -> None:
        """Delete an object; it is no error if it is gone."""

    async def delete_pods(self, namespace: str, names: list[str], *, at_once: bool = False) -> None:
        """Delete pods; `at_once` without the time that they have to end."""

    def usage(self) -> Usage | None:
        """Return what the scheduler's process has taken so far; None if that is not known."""

    async def meter(self) -> AttemptMeter:
        """Begin to measure attempts."""

    def check(self) -> None:
        """Raise KubeschedError if the scheduler has ended."""


class TargetFactory(Protocol):
    """Starts targets, a new one for each run."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[BenchTarget]:
        """Run a target until the block ends; what it made is deleted then."""
        yield  # type: ignore[misc]

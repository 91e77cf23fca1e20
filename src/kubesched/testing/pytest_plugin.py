"""Fixtures for tests of plugins; pytest loads this module in every run of an environment with kubesched.

`engine` decides about pods, `scheduler` is the whole scheduling loop, `cluster` a whole cluster; the last two are in
virtual time. Everything else is imported when a fixture is first used.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kubesched.testing import ClusterFactory, EmbeddedCluster, EngineFactory, SchedulerFactory, VirtualScheduler


@pytest.fixture
def engine() -> "EngineFactory":
    """Return a function from nodes, pods and plugins to an engine: `engine(nodes, plugins=[Mine]).decide(pod)`."""
    from kubesched.testing.deciding import decider

    return decider


@pytest.fixture
def scheduler() -> "Iterator[SchedulerFactory]":
    """Return what makes a scheduler with plugins, in virtual time: then `put` objects and `run` for some seconds."""
    from kubesched.testing.virtual_scheduler import VirtualScheduler

    with ExitStack() as stack:

        def make(*plugins: Any, **options: Any) -> "VirtualScheduler":
            return stack.enter_context(VirtualScheduler(*plugins, **options))

        yield make


@pytest.fixture
def cluster() -> "Iterator[ClusterFactory]":
    """Return what makes an embedded cluster with plugins, in virtual time: then `put` objects and `settle`."""
    from kubesched.testing.embedded_cluster import EmbeddedCluster

    with ExitStack() as stack:

        def make(*plugins: Any, **options: Any) -> "EmbeddedCluster":
            return stack.enter_context(EmbeddedCluster(*plugins, **options))

        yield make

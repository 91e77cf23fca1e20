"""Fixtures for tests of plugins; pytest loads this module in every run of an environment with kubesched.

`engine` decides about pods, `scheduler` is the whole scheduling loop in virtual time. All other modules are imported
when a fixture is first used. kubesched-controlplane has the fixtures of clusters.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kubesched.testing import EngineFactory, SchedulerFactory, VirtualScheduler


@pytest.fixture
def engine() -> "EngineFactory":
    """Return a function from nodes, pods and plugins to an engine: `engine(nodes, plugins=[Mine]).decide(pod)`."""
    from kubesched.testing.deciding import decider

    return decider


@pytest.fixture
def scheduler() -> "Iterator[SchedulerFactory]":
    """Return a factory of schedulers with plugins, in virtual time: then `put` objects and `run` for some seconds."""
    from kubesched.testing.virtual_scheduler import VirtualScheduler

    with ExitStack() as stack:

        def make(*plugins: Any, **options: Any) -> "VirtualScheduler":
            return stack.enter_context(VirtualScheduler(*plugins, **options))

        yield make

"""Fixtures for tests of plugins; pytest loads this module in every run of an environment with kubesched.

`engine` makes an engine of nodes, pods and plugins that decides about pods. Everything else is imported when a fixture
is first used.
"""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from kubesched.testing.deciding import EngineFactory


@pytest.fixture
def engine() -> "EngineFactory":
    """Return a function from nodes, pods and plugins to an engine: `engine(nodes, plugins=[Mine]).decide(pod)`."""
    from kubesched.testing.deciding import decider

    return decider

"""Decisions for tests of plugins: an engine over some objects, with the test's plugins.

From objects, plugin classes and their arguments to decisions, without an API server and without a loop.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.core.assembly import build_engine
from kubesched.core.scheduling.decision import Decision, decide
from kubesched.core.scheduling.engine import Engine
from kubesched.testing.plugin_config import Declared, config_of, registry_of


class Decider:
    """An engine that decides about pods; among equally good nodes it chooses the first."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def add(self, *objects: ApiObject) -> None:
        """Add objects to the cluster, or replace them."""
        for obj in objects:
            self.engine.cluster.add(obj)

    def remove(self, obj: ApiObject) -> None:
        """Remove an object."""
        self.engine.cluster.remove(obj)

    def decide(self, pod: Pod) -> Decision:
        """Return the decision about a pod: `node_name`, or the reason why there is none in `message`."""
        return decide(self.engine.evaluation_of(self.engine.cluster.reader.read(pod)), lambda count: 0)


def decider(
    objects: Iterable[ApiObject] = (),
    *,
    plugins: Iterable[Declared] = (),
    args: Mapping[str, Any] | None = None,
    config: str | None = None,
) -> Decider:
    """Return an engine over objects in which plugins are enabled in addition to the default ones.

    `args` are the plugins' arguments by name; with a `config`, that configuration decides which plugins are enabled.
    """
    plugins = list(plugins)
    made = Decider(build_engine(config or config_of(plugins, args), registry=registry_of(plugins)))
    made.add(*objects)
    return made


class EngineFactory(Protocol):
    """Makes engines that decide about pods: the fixture `engine`."""

    def __call__(
        self,
        objects: Iterable[ApiObject] = (),
        *,
        plugins: Iterable[Declared] = (),
        args: Mapping[str, Any] | None = None,
        config: str | None = None,
    ) -> Decider:
        """Return an engine over objects in which plugins are enabled in addition to the default ones."""

"""The whole scheduling loop in virtual time, over an API in memory.

From plugins, their configuration and objects to the resulting pods: queue, cycles, preemption, Permit, binding and
backoff are those of `kubesched run`. There are no controllers and no kubelets (see `embedded_cluster`).
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from kubesched.api.pods import Pod
from kubesched.common.virtual_time import VirtualTime
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import build_scheduler
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.observing.observer import NOBODY, Observer, Observers
from kubesched.core.framework.plugin import Plugin
from kubesched.core.framework.services.http_client import HttpClient
from kubesched.core.loop.extender_client import ExtenderClient
from kubesched.core.loop.loop_events import Recorded
from kubesched.core.loop.loop_waits import LoopServices
from kubesched.core.loop.scheduler import LoopOptions
from kubesched.run.plugin_failures import PluginFailures
from kubesched.testing.fake_api import FakeApi
from kubesched.testing.plugin_config import Declared, config_of, registry_of
from kubesched.testing.settled import assert_settled

logger = logging.getLogger("kubesched.testing")


class VirtualScheduler(FakeApi, VirtualTime):
    """A scheduler at an API in memory, in virtual time.

        with VirtualScheduler(MyPlugin, args={"MyPlugin": {"most": 3}}) as world:
            world.put(a_node("n"), a_pod("p"))
            world.run(seconds=30)
            assert world.node_of("p") == "n"

    The plugins are enabled in addition to the default ones, unless a `config` is given. `gates` are feature gates as
    on the command line, `http` is the client for plugins with the parameter `http`. The same script takes the same
    steps every time; `seed` decides between equally good nodes.
    """

    def __init__(
        self,
        *plugins: Declared,
        args: Mapping[str, Any] | None = None,
        config: str | None = None,
        gates: str | FeatureGates | None = None,
        seed: int = 0,
        http: HttpClient | None = None,
        registry: Registry | None = None,
        extender_client: Callable[[FakeApi], ExtenderClient] | None = None,
        observers: Collection[Observer] | None = None,
        record: list[Recorded] | None = None,
    ) -> None:
        FakeApi.__init__(self, seed)
        VirtualTime.__init__(self)
        clock = self.loop.time
        if observers is None:
            observers = [PluginFailures(_log_failure, clock)]
        self._running: asyncio.Task[None] | None = None

        async def start() -> None:
            self.scheduler = scheduler = build_scheduler(
                self,
                config_of(plugins, args) if config is None and plugins else config,
                FeatureGates.parse(gates) if isinstance(gates, str) else gates,
                registry or registry_of(plugins),
                options=LoopOptions(seed=seed),
                extender_client=extender_client(self) if extender_client else None,
                services=LoopServices(
                    self.notes.append,
                    lambda: self.date,
                    lambda event: record.append((clock(), event)) if record is not None else None,
                ),
                observers=Observers(observers, clock=clock, note=self.notes.append, sampled=lambda: True)
                if observers
                else NOBODY,
                http=http,
            )
            self._running = self.loop.create_task(scheduler.run())

        try:
            self.wait_for(start())
        except BaseException:
            VirtualTime.close(self)
            raise

    def _timers(self) -> asyncio.AbstractEventLoop:
        return self.loop

    def run(self, seconds: float = 30.0) -> None:
        """Let time pass and the scheduler run; raises the scheduler's error if it ended with one."""
        super().run(seconds)
        if self._running is not None and self._running.done():
            self._running.result()

    def plugin(self, name: str) -> Plugin:
        """Return the plugin of a name in the first profile, to inspect its state."""
        return next(iter(self._scheduler().engine.profiles.values())).plugins[name]

    def read(self, pod: Pod) -> PodInfo:
        """Return a pod in the form for hooks of plugins."""
        return self._scheduler().cluster.reader.read(pod)

    @property
    def waiting_in_permit(self) -> list[str]:
        """Return the names of the pods that wait in Permit, in alphabetical order."""
        return sorted(waiting.pod.name for waiting in self._scheduler().waiting_pods)

    def assert_settled(self, within: float = 30.0) -> None:
        """Let time pass until nothing is under way; check that no pod is lost, no node overcommitted, and nothing
        left over.
        """
        latest = self.seconds + within
        while self._scheduler().busy and self.seconds < latest:
            self.run(0.1)
        assert_settled(self, self._scheduler())

    def close(self) -> None:
        """Stop the scheduler, and end all work under way."""
        if self._running is not None and not self._running.done():
            self._scheduler().stop()
            self.wait_for(_wait(self._running))
        super().close()


class SchedulerFactory(Protocol):
    """Makes schedulers; the fixture `scheduler` closes them when the test ends. See `VirtualScheduler`."""

    def __call__(
        self,
        *plugins: Declared,
        args: Mapping[str, Any] | None = None,
        config: str | None = None,
        gates: str | None = None,
        seed: int = 0,
        http: HttpClient | None = None,
    ) -> VirtualScheduler:
        """Return a scheduler with some plugins."""


async def _wait(task: "asyncio.Task[None]") -> None:
    # pods that wait in Permit or PreBind are not waited for
    await asyncio.wait([task], timeout=1.0)


def _log_failure(plugin: str, hook: str, text: str) -> None:
    logger.error("plugin %s failed in %s: %s", plugin, hook, text)

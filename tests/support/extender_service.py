"""An extender on a real port, and a living scheduler that asks it.

From replies per verb to a story played over sockets. Sockets need real time, so the loop's clock runs faster than the
wall's, and whatever is waited for is polled.
"""

import asyncio
import json
import selectors
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aiohttp import web
from tests.support.processes import SECONDS
from tests.support.world import World

from kubesched.client.extenders import HttpExtenderClient
from kubesched.core.assembly import build_scheduler
from kubesched.core.loop.loop_waits import LoopServices
from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.queue.queued_pod import Place
from kubesched.testing.settled import assert_settled

# how much faster the loop's clock runs
HASTE = 20.0
Body = dict[str, Any]
Reply = Callable[[Body], Any]


class _HastySelector(selectors.DefaultSelector):
    """Waits for input less long than it is told."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(None if timeout is None else timeout / HASTE)


class HastyLoop(asyncio.SelectorEventLoop):
    """A loop with real sockets and a clock that runs faster."""

    def __init__(self) -> None:
        super().__init__(_HastySelector())

    def time(self) -> float:
        """Return the hasty time."""
        return super().time() * HASTE


class Cut:
    """An answer whose connection breaks half way."""


class Service:
    """What is served on a port: a reply per verb, which a story may exchange at any time."""

    def __init__(self, replies: Mapping[str, Reply]) -> None:
        self.replies = dict(replies)
        self.asked: list[tuple[str, Body]] = []
        # any that is free, until it is open for the first time
        self.port = 0
        self._runner: web.AppRunner | None = None

    @property
    def verbs(self) -> list[str]:
        """Return the verbs of all questions so far."""
        return [verb for verb, _ in self.asked]

    async def open(self) -> None:
        """Begin to answer, always on the same port."""
        app = web.Application()
        app.router.add_post("/{verb}", self._serve)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Refuse connections from now on."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        verb, body = request.match_info["verb"], await request.json()
        self.asked.append((verb, body))
        answer = self.replies[verb](body)
        if isinstance(answer, Awaitable):
            answer = await answer
        if isinstance(answer, web.StreamResponse):
            return answer
        if isinstance(answer, Cut):
            response = web.StreamResponse(headers={"Content-Length": "1000"})
            await response.prepare(request)
            await response.write(b'{"NodeNames": ["n1"')
            assert request.transport is not None
            request.transport.close()
            return response
        return web.json_response(answer)


@contextmanager
def serving(service: Service) -> Iterator[None]:
    """Serve an extender on a real port, in a thread with a loop of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(service.open(), loop).result(SECONDS)
        yield
        asyncio.run_coroutine_threadsafe(service.close(), loop).result(SECONDS)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


Story = Callable[[World, Scheduler, Service], Awaitable[None]]


def extended(story: Story, replies: Mapping[str, Reply], **settings: Any) -> World:
    """Play a story with an extender that is served on a real port; hold what must hold in the end.

    The extender has the verbs that there are replies for; `settings` are further fields of its configuration.
    """

    async def play() -> World:
        world, service = World(), Service(replies)
        await service.open()
        extender_client = HttpExtenderClient([], lambda name: world.objects.get(("Node", name)))
        config = configuration(service, settings)
        scheduler = world.scheduler = build_scheduler(
            world, config, extender_client=extender_client, services=LoopServices(world.notes.append)
        )
        running = asyncio.get_running_loop().create_task(scheduler.run())
        try:
            await story(world, scheduler, service)
            await until(lambda: not scheduler.busy and not scheduler.queue.counts()[Place.IN_FLIGHT])
            assert_settled(world, scheduler)
        finally:
            scheduler.stop()
            await running
            await extender_client.close()
            await service.close()
        return world

    with asyncio.Runner(loop_factory=HastyLoop) as runner:
        return runner.run(play())


def configuration(service: Service, settings: Mapping[str, Any]) -> str:
    """Return a configuration with the service as its only extender."""
    extender = {
        "urlPrefix": f"http://127.0.0.1:{service.port}",
        "nodeCacheCapable": True,
        "httpTimeout": "600s",
        **({"weight": 1} if "prioritize" in service.replies else {}),
        **{f"{verb}Verb": verb for verb in service.replies},
        **settings,
    }
    api_version = "kubescheduler.config.k8s.io/v1"
    return json.dumps({"apiVersion": api_version, "kind": "KubeSchedulerConfiguration", "extenders": [extender]})


async def until(holds: Callable[[], object], seconds: float = 200) -> None:
    """Return when something holds."""
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.1)

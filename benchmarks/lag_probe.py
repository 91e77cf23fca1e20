"""A plugin that measures how late the event loop of the scheduler comes back, and lets many bindings begin at once.

From inside the process to a file of figures (KUBESCHED_LAG_FILE): how late each of many short sleeps ended, while
objects were listed and while bindings were outstanding. Pods are held right before they are bound until
KUBESCHED_LAG_PODS of them are there.
"""

import asyncio
import os
import time
from array import array
from pathlib import Path

import msgspec

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import PostBindPlugin, PreBindPlugin
from kubesched.core.framework.values.cycle import CycleState

PERIOD_SECONDS = 0.005


class LagProbe(PreBindPlugin, PostBindPlugin):
    """Measures from the beginning until the last of the pods is bound."""

    name = "LagProbe"

    def __init__(self) -> None:
        self._expected = int(os.environ["KUBESCHED_LAG_PODS"])
        self._file = Path(os.environ["KUBESCHED_LAG_FILE"])
        self._began = time.monotonic()
        self._seconds = {"listing": 0.0, "binding": 0.0}
        self._phase = "listing"
        self._late = {"listing": array("d"), "binding": array("d")}
        self._busy = {"listing": array("d"), "binding": array("d")}
        self._here = self._done = 0
        self._all_here = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._measure())

    async def _measure(self) -> None:
        while True:
            used, asked = time.thread_time(), time.monotonic() + PERIOD_SECONDS
            await asyncio.sleep(PERIOD_SECONDS)
            self._late[self._phase].append(time.monotonic() - asked)
            self._busy[self._phase].append(time.thread_time() - used)

    async def pre_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
        """Wait until everybody is here."""
        if self._phase == "listing":
            self._phase, self._seconds["listing"] = "binding", time.monotonic() - self._began
        self._here += 1
        if self._here == self._expected:
            self._all_here.set()
        await self._all_here.wait()

    async def post_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
        """Write the figures after the last one."""
        self._done += 1
        if self._done == self._expected:
            self._seconds["binding"] = time.monotonic() - self._began - self._seconds["listing"]
            draft = self._file.with_suffix(".draft")
            figures = {phase: self._figures(phase) for phase in self._late}
            draft.write_bytes(msgspec.json.encode(figures))
            draft.rename(self._file)

    def _figures(self, phase: str) -> dict[str, float]:
        late, busy = sorted(self._late[phase]), max(self._busy[phase])

        def at(share: float) -> float:
            return 1000 * late[min(len(late) - 1, int(share * len(late)))]

        return {
            "seconds": self._seconds[phase],
            "p50 ms": at(0.5),
            "p99 ms": at(0.99),
            "max ms": at(1.0),
            "max cpu ms": 1000 * busy,
        }

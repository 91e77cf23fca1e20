"""Carrying out a plan: the gang's pods are nominated, the moving pods are evicted one after the other.

From a proved plan to evictions through the API, which respects PodDisruptionBudgets. Nominations come first, and must
be reported: from then on no less important pod takes the freed places. The gang waits until all of them are free,
since a partial attempt would release its places. Evictions stop when one is refused, a pod of the gang disappears, or
time is up; the nominations are then removed.
"""

import asyncio
from collections.abc import Callable

from kubesched import Background, ClusterView, ObjectWriter, Waits
from kubesched_contrib.gang_defragmentation.plan import DefragmentationPlan, PlannedPlace

LOOK_SECONDS = 1.0
NOMINATED_WITHIN_SECONDS = 10.0


class Executor:
    """Carries plans out, one at a time."""

    def __init__(
        self, cluster: ClusterView, waits: Waits, background: Background, writer: ObjectWriter, seconds: float
    ) -> None:
        self._cluster = cluster
        self._waits = waits
        self._background = background
        self._writer = writer
        self._seconds = seconds
        # of the current plan: UID of a pod of the gang -> its node
        self.promised: dict[str, str] = {}
        # whether all moving pods have left
        self._has_room = False

    def holds(self, uid: str) -> bool:
        """Return whether a pod must wait: if a gang is tried too early, some pods would lose their places."""
        return uid in self.promised and not self._has_room

    async def carry_out(self, plan: DefragmentationPlan) -> str:
        """Return an empty text when the gang has its nodes, or why the plan was cancelled."""
        self.promised = {place.pod.uid: place.node_name for place in plan.places}
        self._has_room = False
        try:
            problem = await self._move(plan)
        finally:
            self.promised = {}
            self._background.activate([place.pod.uid for place in plan.places])
        if problem:
            for place in plan.places:
                if place.pod.uid in self._cluster.pending:
                    self._writer.status(place.pod, {"nominatedNodeName": None})
        return problem

    async def _move(self, plan: DefragmentationPlan) -> str:
        end = self._waits.now() + self._seconds
        self._nominate(plan)
        nominated_until = min(end, self._waits.now() + NOMINATED_WITHIN_SECONDS)
        if not await self._until(lambda: all(map(self._is_nominated, plan.places)), nominated_until):
            return "the pods of the gang could not be nominated"
        for move in plan.moves:
            if not all(self._is_there(place) for place in plan.places):
                return "pods of the gang were deleted"
            refusal = await self._writer.evict(move.pod)
            if refusal:
                return f"pod {move.pod.full_name} was not evicted: {refusal}"
        moved = {move.pod.uid for move in plan.moves}
        if not await self._until(lambda: moved.isdisjoint(self._cluster.pods), end):
            return "evicted pods did not end in time"
        self._has_room = True
        while self._waits.now() < end:
            if not any(place.pod.uid in self._cluster.pending for place in plan.places):
                return ""
            self._background.activate([place.pod.uid for place in plan.places])
            await asyncio.sleep(LOOK_SECONDS)
        return "the gang did not get its nodes in time"

    def _nominate(self, plan: DefragmentationPlan) -> None:
        for place in plan.places:
            if place.pod.uid in self._cluster.pending and not self._is_nominated(place):
                self._writer.status(place.pod, {"nominatedNodeName": place.node_name})

    def _is_nominated(self, place: PlannedPlace) -> bool:
        waiting = self._cluster.pending.get(place.pod.uid)
        return waiting is None or waiting.status.nominated_node_name == place.node_name

    def _is_there(self, place: PlannedPlace) -> bool:
        return place.pod.uid in self._cluster.pending or place.pod.uid in self._cluster.pods

    async def _until(self, condition: Callable[[], bool], end: float) -> bool:
        while not condition():
            if self._waits.now() >= end:
                return False
            await asyncio.sleep(LOOK_SECONDS)
        return True

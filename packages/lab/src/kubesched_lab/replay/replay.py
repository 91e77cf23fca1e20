"""Traces in real time: nodes and pods appear on the cluster of `kubesched up` when the trace says.

    events at 0 ──▶ loaded before the cluster starts;  later events ──▶ written at their times, divided by the speed

From a trace to requests to the API server. Simulated nodes run pods for as long as the trace says and end them.
Requests that the server rejects are printed, and the replay continues.
"""

import asyncio
from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from kubesched.api.kinds import API_VERSIONS
from kubesched.api.pods import Pod
from kubesched.common.notes import Note
from kubesched.manifests import Manifest
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.loading.loader import create
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.local_client import LocalClient
from kubesched_lab.replay.replayed_objects import ReplayedObjects
from kubesched_lab.simulate.traces.reading import read_traces
from kubesched_lab.simulate.traces.trace import (
    ConfigurationChange,
    ObjectDeletion,
    ObjectPut,
    PodArrival,
    Trace,
    TraceEvent,
)

# between lines about the progress
TOLD_SECONDS = 60.0
MOST_TOLD = 20
# events that are written before other tasks have a turn
SLICE = 50


class Replay:
    """A trace, replayed on a server."""

    def __init__(self, trace: Trace, server: ApiServer, speed: float, seed: int, note: Note) -> None:
        self._server = server
        self._client = LocalClient(server, ADMINISTRATOR)
        self._speed = speed
        self._note = note
        self._name = trace.name
        self._events: Iterator[TraceEvent] = iter(trace.events(seed))
        self._objects = ReplayedObjects(server.registry.clock)
        self.count = 0
        self.refused = 0

    def begin(self) -> int:
        """Load the objects at time 0; return their number."""
        manifests: list[Manifest] = []
        for event in self._events:
            if event.at > 0 or isinstance(event, ObjectDeletion | ConfigurationChange):
                self._events = chain([event], self._events)
                break
            self.count += 1
            manifests.append(self._manifest(event))
        report = create(self._server, manifests)
        self._report_refused(report.problems)
        return report.loaded

    async def run(self) -> None:
        """Write the later events at their times."""
        loop = asyncio.get_running_loop()
        began = told = loop.time()
        at = 0.0
        for event in self._events:
            at = event.at
            wait = began + at / self._speed - loop.time()
            if wait > 0 or self.count % SLICE == 0:
                await asyncio.sleep(max(0.0, wait))
            self.count += 1
            self._apply(event)
            if loop.time() - told > TOLD_SECONDS:
                told = loop.time()
                self._note(f"replay: {at:.0f} s of the trace, {self.count} events")
        self._note(
            f"replay: the replay of {self._name} is over: {at:.0f} s of the trace in {loop.time() - began:.0f} s, "
            f"{self.count} events" + (f", {self.refused} of them refused" if self.refused else "")
        )

    # -- events

    def _apply(self, event: TraceEvent) -> None:
        try:
            if isinstance(event, ConfigurationChange):
                self._report_refused([f"at {event.at:g} s: a replay does not change the configuration"])
            elif isinstance(event, ObjectDeletion):
                self._delete(event)
            elif isinstance(event, PodArrival) or not self._change(event):
                self._report_refused(create(self._server, [self._manifest(event)]).problems)
        except ApiError as error:
            self._report_refused([f"event {self.count}, at {event.at:g} s: {error}"])

    def _report_refused(self, problems: Sequence[str]) -> None:
        """Print a rejected request; beyond a limit rejected requests are only counted."""
        for problem in problems:
            self.refused += 1
            if self.refused <= MOST_TOLD:
                self._note(f"replay: {problem}")

    def _delete(self, event: ObjectDeletion) -> None:
        resource = self._resource(event.kind)
        if resource is not None:
            namespace, _, name = event.full_name.rpartition("/")
            self._client.delete(resource, namespace, name, {"gracePeriodSeconds": 0})

    def _change(self, event: ObjectPut) -> bool:
        """Change an existing object; return False if the object must be created."""
        obj = event.obj
        resource = self._resource(type(obj).__name__)
        known = None if resource is None else self._client.get(resource, obj.namespace, obj.name)
        if resource is None or known is None:
            # a pod that has ended is not created again
            return isinstance(obj, Pod)
        changes = self._objects.document(event)
        changed = self._client.update(resource, _changed(known, changes, _OF_PODS if isinstance(obj, Pod) else None))
        status = changes.get("status")
        if status and "status" in resource.subresources and not isinstance(obj, Pod):
            self._client.update(resource, {**changed, "status": {**changed.get("status", {}), **status}}, "status")
        return True

    def _resource(self, kind: str) -> Resource | None:
        return self._server.registry.catalog.of_kind(API_VERSIONS.get(kind, ""), kind)

    def _manifest(self, event: PodArrival | ObjectPut) -> Manifest:
        # each has its own place, for error messages
        return Manifest(f"event {self.count}, at {event.at:g} s", self._objects.document(event), of_export=True)


def replay_of(
    paths: Sequence[str], custom_kinds: Collection[str], server: ApiServer, speed: float, seed: int, note: Note
) -> Replay:
    """Return the replay of the traces in files on a server; raises KubeschedError."""
    return Replay(read_traces(paths, custom_kinds, note=note), server, speed, seed, note)


# the mutable fields of a pod's spec
_OF_PODS = frozenset({"schedulingGates", "tolerations"})
_OF_NODES = frozenset({"taints", "unschedulable"})


def _changed(known: Document, changes: Document, fields: Collection[str] | None) -> Document:
    """Return an object with the labels and the spec of another, or with some fields of it."""
    meta, given = known["metadata"], changes["metadata"]
    annotations = {**(meta.get("annotations") or {}), **given.get("annotations", {})}
    changed = {**known, "metadata": {**meta, "labels": given.get("labels", {}), "annotations": annotations}}
    if known["kind"] == "Node":
        # a missing field has its zero value
        changed["spec"] = {field: each for field, each in known["spec"].items() if field not in _OF_NODES}
    for name, value in changes.items():
        if name == "spec" and fields is not None:
            kept = {field: each for field, each in known["spec"].items() if field not in fields}
            changed["spec"] = {**kept, **{field: each for field, each in value.items() if field in fields}}
        elif name == "spec":
            changed["spec"] = {**changed.get("spec", {}), **value}
        elif name not in ("apiVersion", "kind", "metadata", "status"):
            changed[name] = value
    return changed

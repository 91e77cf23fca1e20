"""A cluster behind an API server: objects are created over HTTP, and pods are followed by a watch.

From objects to requests, 30 at once as in the reference, and from the watch to the `PodBook`. All created objects are
deleted at the end.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress

import msgspec

from kubesched.client.rest import Refused, RestClient
from kubesched_lab.bench.api_paths import ApiPaths
from kubesched_lab.bench.errors import BenchError
from kubesched_lab.bench.figures import Usage
from kubesched_lab.bench.heartbeats import Heartbeats, are_needed
from kubesched_lab.bench.pod_book import PodBook
from kubesched_lab.bench.pod_watch import follow_pods, present
from kubesched_lab.bench.requests import many_at_once
from kubesched_lab.bench.scheduler_process import ProcessMeter, StartedScheduler
from kubesched_lab.simulate.traces.perf.made_object import Document, MadeObject

MERGE = "application/merge-patch+json"
AT_ONCE_OPTIONS = msgspec.json.encode({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})
PRIORITY_CLASS = "kubesched-bench-"
STRICT = {"fieldValidation": "Strict"}
# their status needs a separate request
_WITH_STATUS = frozenset({"PersistentVolume", "PersistentVolumeClaim", "ResourceClaim"})
# their finalizers are removed by controllers that may be missing
_WITH_FINALIZERS = frozenset({"PersistentVolume", "PersistentVolumeClaim", "Pod", "ResourceClaim"})


class _Requests:
    """Objects that are ready to be sent."""

    def __init__(self, groups: Sequence[list[MadeObject]], target: "ClusterTarget") -> None:
        self._groups = groups
        self._target = target

    async def create(self) -> None:
        await many_at_once(self._one(group) for group in self._groups)

    async def _one(self, group: list[MadeObject]) -> None:
        for made in group:
            await self._target.create(made)


class ClusterTarget:
    """A cluster, with a scheduler that is a child process or the cluster's own."""

    def __init__(self, rest: RestClient, process: StartedScheduler | None) -> None:
        self.book = PodBook()
        self._rest = rest
        self._process = process
        self._paths = ApiPaths()
        self._heartbeats: Heartbeats | None = None
        # background tasks: the watch of pods, heartbeats
        self._tasks: list[asyncio.Task[None]] = []
        # paths of the objects to delete, in the order of creation
        self._created: dict[str, str] = {}
        self._classes: set[int] = set()

    async def start(self) -> None:
        """Watch pods, and renew the Leases of nodes on clusters whose controllers taint nodes without one."""
        version = await present(self._rest)
        self._tasks.append(asyncio.create_task(follow_pods(self._rest, self.book, version)))
        if await are_needed(self._rest):
            self._heartbeats = Heartbeats(self._rest)
            self._tasks.append(asyncio.create_task(self._heartbeats.run()))

    def prepared(self, objects: Iterable[list[MadeObject]]) -> _Requests:
        """Prepare requests."""
        return _Requests(list(objects), self)

    async def create(self, made: MadeObject) -> None:
        """Create an object, with its status; raises BenchError if it exists."""
        document = await self._with_priority_class(made.document) if made.kind == "Pod" else made.document
        path = self._paths.collection(made)
        if made.kind == "Pod":
            labels = document["metadata"].get("labels") or {}
            self.book.created(made.namespace, made.name, labels, time.perf_counter())
        try:
            body = await self._rest.send("POST", path, msgspec.json.encode(document), query=STRICT)
        except Refused as refused:
            if refused.code == 409 and refused.reason == "AlreadyExists":
                raise BenchError(
                    f"{made.kind} {made.name} exists already: a benchmark works only with new objects and namespaces"
                ) from None
            raise BenchError(f"{made.where}: {refused}") from None
        self._created[f"{path}/{made.name}"] = made.kind
        if made.kind == "Namespace":
            await self._with_account(made.name)
        elif made.kind == "Node":
            if self._heartbeats is not None:
                self._heartbeats.add(made.name)
            await self._as_in_template(made, body)
        elif made.kind in _WITH_STATUS and "status" in document:
            await self._patch(f"{path}/{made.name}/status", {"status": document["status"]})

    async def update(self, made: MadeObject, subresources: list[str]) -> None:
        """Update an object and, if it has one, its status."""
        path = f"{self._paths.collection(made)}/{made.name}"
        for subresource in subresources or [""]:
            if subresource != "status":
                body = msgspec.json.encode(made.document)
                await self._sent("PUT", f"{path}/{subresource}".rstrip("/"), made.where, body)
        if "status" in made.document:
            await self._patch(f"{path}/status", {"status": made.document["status"]})

    async def delete(self, made: MadeObject) -> None:
        """Delete an object."""
        path = f"{self._paths.collection(made)}/{made.name}"
        self._created.pop(path, None)
        await self._deleted(path)

    async def delete_pods(self, namespace: str, names: list[str], *, at_once: bool = False) -> None:
        """Delete pods."""
        options = AT_ONCE_OPTIONS if at_once else None
        await many_at_once(self._deleted(f"/api/v1/namespaces/{namespace}/pods/{name}", options) for name in names)
        while at_once and any(name in names for name in self.book.names(namespace, {})):
            self.check()
            await asyncio.sleep(0.001)

    def usage(self) -> Usage | None:
        """Return the resource usage of the scheduler's process so far."""
        return self._process.usage() if self._process is not None else None

    async def meter(self) -> ProcessMeter:
        """Start to measure attempts."""
        return ProcessMeter(self._process, await self._process.metrics() if self._process is not None else None)

    def check(self) -> None:
        """Raise BenchError if the scheduler or a background task has ended."""
        if self._process is not None:
            self._process.check()
        for task in self._tasks:
            if task.done():
                task.result()

    async def clean_up(self) -> None:
        """End the background tasks, and delete all created objects, namespaces last."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._heartbeats is not None:
            await self._heartbeats.end()
        created = list(self._created.items())
        for wanted in (lambda kind: kind == "Pod", lambda kind: kind not in ("Pod", "Namespace", "PriorityClass")):
            await many_at_once(self._removed(path, kind) for path, kind in created if wanted(kind))
        namespaces = [path for path, kind in created if kind == "Namespace"]
        await many_at_once(self._emptied(path) for path in namespaces)
        await many_at_once(self._deleted(path) for path, kind in created if kind == "PriorityClass")

    # -- parts of creating

    async def _with_priority_class(self, pod: Document) -> Document:
        """Return a pod with a PriorityClass for its priority, which API servers require."""
        spec = pod.get("spec") or {}
        priority = spec.get("priority")
        if not isinstance(priority, int):
            return pod
        name = f"{PRIORITY_CLASS}{priority}"
        if priority not in self._classes:
            self._classes.add(priority)
            document = {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": priority,
            }
            await self.create(MadeObject(document, "priority"))
        return {**pod, "spec": {**{k: v for k, v in spec.items() if k != "priority"}, "priorityClassName": name}}

    async def _with_account(self, namespace: str) -> None:
        """Create the default service account of a namespace; a controller may have created it already."""
        document = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        with suppress(Refused):
            await self._rest.send(
                "POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", msgspec.json.encode(document)
            )

    async def _as_in_template(self, node: MadeObject, body: bytes) -> None:
        """Remove taints that admission added to a node."""
        wanted = (node.document.get("spec") or {}).get("taints") or []
        found = (msgspec.json.decode(body).get("spec") or {}).get("taints") or []
        if len(found) != len(wanted):
            await self._patch(f"/api/v1/nodes/{node.name}", {"spec": {"taints": wanted or None}})

    # -- requests

    async def _sent(self, method: str, path: str, where: str, body: bytes) -> None:
        try:
            await self._rest.send(method, path, body)
        except Refused as refused:
            raise BenchError(f"{where}: {refused}") from None

    async def _patch(self, path: str, document: Document) -> None:
        try:
            await self._rest.send("PATCH", path, msgspec.json.encode(document), content_type=MERGE)
        except Refused as refused:
            raise BenchError(f"PATCH {path}: {refused}") from None

    async def _deleted(self, path: str, options: bytes | None = None) -> None:
        try:
            await self._rest.send("DELETE", path, options)
        except Refused as refused:
            if refused.code not in (404, 409):
                raise BenchError(f"DELETE {path}: {refused}") from None

    async def _removed(self, path: str, kind: str) -> None:
        """Delete an object; remove its finalizers, too."""
        if kind in _WITH_FINALIZERS:
            with suppress(Refused):
                body = msgspec.json.encode({"metadata": {"finalizers": None}})
                await self._rest.send("PATCH", path, body, content_type=MERGE)
        await self._deleted(path, AT_ONCE_OPTIONS)

    async def _emptied(self, path: str) -> None:
        """Delete a namespace; finalize it if no controller does."""
        for pods in ("pods", "serviceaccounts"):
            await self._deleted(f"{path}/{pods}", AT_ONCE_OPTIONS)
        await self._deleted(path)
        name = path.rpartition("/")[2]
        document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "spec": {"finalizers": []}}
        with suppress(Refused):
            await self._rest.send("PUT", f"{path}/finalize", msgspec.json.encode(document))


async def strangers(rest: RestClient) -> AsyncIterator[str]:
    """Yield the objects of a cluster that no benchmark created, in words."""
    for plural in ("nodes", "pods"):
        found = msgspec.json.decode(await rest.get(f"/api/v1/{plural}", {"limit": "1"}))
        if found["items"]:
            yield plural

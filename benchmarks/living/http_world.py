"""A world behind an API server: writes become requests, which a few workers send in order.

A request costs the benchmark about 0.1 ms of processor time. What is no longer there, or was changed meanwhile by
others, is left alone; any other refusal ends the benchmark.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from benchmarks.living.documents import (
    lease_document,
    node_document,
    node_marks,
    node_status,
    pod_body,
    pod_status,
    resize_document,
)
from benchmarks.living.errors import LivingError
from benchmarks.living.model import DAEMON, STUCK, LiveNode, LivePod
from benchmarks.living.templates import daemon_body, stuck_body
from kubesched.client.rest import Refused, Rest, Unreachable

JSON = "application/json"
STRATEGIC = "application/strategic-merge-patch+json"
MERGE = "application/merge-patch+json"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
AT_ONCE = 32
# not found, and in conflict with another writer
HARMLESS = (404, 409)
MOST_TRIES = 20
DELETE_AT_ONCE = msgspec.json.encode({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})
_encode = msgspec.json.Encoder().encode


class _Write(msgspec.Struct, frozen=True):
    method: str
    path: str
    body: bytes | None = None
    form: str = JSON
    # called right before the request is sent, and with the body of the response
    before: Callable[[], None] | None = None
    then: Callable[[bytes], None] | None = None


class HttpWorld:
    """Sends the writes of a life to an API server until it is closed."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest
        self._queue: deque[_Write] = deque()
        self._wake = asyncio.Event()
        self._drained = asyncio.Event()
        self._under_way = 0
        self._workers = [asyncio.create_task(self._work()) for _ in range(AT_ONCE)]
        # requests so far, and the longest queue since `most_waiting` was set to 0
        self.requests = 0
        self.most_waiting = 0

    def check(self) -> None:
        """Raise LivingError if the API server has refused a request."""
        for worker in self._workers:
            if worker.done():
                worker.result()

    async def flush(self) -> None:
        """Wait until all writes are carried out."""
        while self._queue or self._under_way:
            self.check()
            self._drained.clear()
            waiter = asyncio.create_task(self._drained.wait())
            await asyncio.wait([waiter, *self._workers], return_when=asyncio.FIRST_COMPLETED)
            waiter.cancel()
        self.check()

    async def close(self) -> None:
        """Drop what is not sent yet."""
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)

    # -- requests

    def _add(self, write: _Write) -> None:
        self._queue.append(write)
        self.most_waiting = max(self.most_waiting, len(self._queue))
        self._wake.set()

    async def _work(self) -> None:
        while True:
            while not self._queue:
                self._wake.clear()
                await self._wake.wait()
            write = self._queue.popleft()
            self._under_way += 1
            try:
                await self._send(write)
            finally:
                self._under_way -= 1
                if not self._queue and not self._under_way:
                    self._drained.set()

    async def _send(self, write: _Write) -> None:
        """Send a request; again, if the server asks for patience."""
        if write.before is not None:
            write.before()
        for _ in range(MOST_TRIES):
            self.requests += 1
            try:
                body = await self._rest.send(write.method, write.path, write.body, content_type=write.form)
            except Refused as refused:
                if refused.code in HARMLESS:
                    return
                if refused.code != 429:
                    raise LivingError(f"{write.method} {write.path}: {refused}") from None
                await asyncio.sleep(refused.retry_after_seconds or 0.1)
            except Unreachable as error:
                raise LivingError(f"{write.method} {write.path}: {error}") from None
            else:
                if write.then is not None:
                    write.then(body)
                return
        raise LivingError(f"{write.method} {write.path}: the API server asks for patience again and again")

    # -- what a life writes

    def date(self) -> float:
        """Return the seconds since the epoch."""
        return time.time()

    def create_pod(self, pod: LivePod) -> None:
        """Create a pod; one with a node is created on its node."""
        template, owner = pod.owner.template, pod.owner
        if pod.reason == DAEMON:
            body = daemon_body(template, pod.name, owner.name, owner.uid, pod.target)
        elif pod.reason == STUCK:
            body = stuck_body(template, pod.name, owner.name, owner.uid)
        else:
            body = pod_body(pod)
        if pod.node is not None:
            body = body.replace(b'"spec":{', b'"spec":{"nodeName":"%b",' % pod.node.name.encode(), 1)

        def before() -> None:
            pod.created_at = time.monotonic()

        self._add(_Write("POST", _pods(pod.namespace), body, before=before))

    def report_pod(self, pod: LivePod) -> None:
        """Write the status of a pod, as its kubelet does."""
        status = pod_status(pod)
        if not pod.resizing:
            status["conditions"].append({"type": "PodResizeInProgress", "$patch": "delete"})
        self._add(_Write("PATCH", f"{_path(pod)}/status", _encode({"status": status}), STRATEGIC))

    def resize_pod(self, pod: LivePod) -> None:
        """Write the new CPU request of a pod."""
        self._add(_Write("PATCH", f"{_path(pod)}/resize", _encode(resize_document(pod)), STRATEGIC))

    def delete_pod(self, pod: LivePod, *, at_once: bool) -> None:
        """Delete a pod: with its grace, or at once."""
        self._add(_Write("DELETE", _path(pod), DELETE_AT_ONCE if at_once else None))

    def create_node(self, node: LiveNode) -> None:
        """Create a node; a taint that admission adds is removed."""
        wanted = len(node_marks(node)["taints"])

        def then(body: bytes) -> None:
            if len(msgspec.json.decode(body)["spec"].get("taints") or ()) > wanted:
                self.mark_node(node)

        body = _encode(node_document(node, self.date()))
        self._add(_Write("POST", "/api/v1/nodes", body, then=then))

    def report_node(self, node: LiveNode) -> None:
        """Write the status of a node."""
        body = _encode({"status": node_status(node, self.date())})
        self._add(_Write("PATCH", f"/api/v1/nodes/{node.name}/status", body, STRATEGIC))

    def mark_node(self, node: LiveNode) -> None:
        """Write the taints of a node, and whether it is cordoned."""
        body = _encode({"spec": node_marks(node)})
        self._add(_Write("PATCH", f"/api/v1/nodes/{node.name}", body, MERGE))

    def delete_node(self, node: LiveNode) -> None:
        """Delete a node and its Lease."""
        self._add(_Write("DELETE", f"/api/v1/nodes/{node.name}"))
        if node.has_lease:
            self._add(_Write("DELETE", f"{LEASES}/{node.name}"))

    def renew_lease(self, node: LiveNode) -> None:
        """Renew the Lease of a node."""
        document = lease_document(node, self.date())
        if node.has_lease:
            self._add(_Write("PATCH", f"{LEASES}/{node.name}", _encode({"spec": document["spec"]}), MERGE))
        else:
            node.has_lease = True
            self._add(_Write("POST", LEASES, _encode(document)))

    def create_object(self, path: str, document: Mapping[str, Any]) -> None:
        """Create an object of another kind."""
        self._add(_Write("POST", path, _encode(document)))

    def delete_object(self, path: str, name: str) -> None:
        """Delete an object of another kind."""
        self._add(_Write("DELETE", f"{path}/{name}"))


def _pods(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods"


def _path(pod: LivePod) -> str:
    return f"{_pods(pod.namespace)}/{pod.name}"

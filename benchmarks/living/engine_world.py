"""A world in the memory of this process: writes become objects that are reported to a scheduler at once.

It carries out what the scheduler does, and calls the life with the pods that are bound. Whatever runs here is not the
scheduler: `seconds` is the processor time that it took.
"""

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from benchmarks.living.documents import node_document, node_status, pod_body, pod_status
from benchmarks.living.life import Life
from benchmarks.living.model import DAEMON, ENDED, STUCK, LiveNode, LivePod
from benchmarks.living.templates import daemon_body, stuck_body
from benchmarks.living.timers import Timers
from kubesched.api.codec import decode
from kubesched.api.meta import ApiObject, Condition
from kubesched.api.nodes import Node, NodeStatus
from kubesched.api.patching import patched
from kubesched.api.pods import Pod, PodStatus
from kubesched.api.sharing import SharedPods
from kubesched.common.virtual_time import BEGINNING
from kubesched.core.framework.values.effects import Bind, Effect, EffectError, Emit, NotFoundError, Patch
from kubesched.core.loop.inbox import Inbox
from kubesched.core.loop.loop_events import Dropped, Put

# how long the API server takes to carry out a write
WRITE_SECONDS = 0.003
replace = msgspec.structs.replace
_decode_pod = msgspec.json.Decoder(Pod).decode


class EngineWorld:
    """Objects in memory, a life, and the inbox of a scheduler."""

    def __init__(self, inbox: Inbox, timers: Timers) -> None:
        self._inbox = inbox
        self._timers = timers
        self._loop = asyncio.get_running_loop()
        self._began = BEGINNING.timestamp()
        self._version = 0
        self._share = SharedPods().share
        self._pods: dict[str, Pod] = {}
        self._nodes: dict[str, Node] = {}
        self._objects: dict[tuple[str, str], ApiObject] = {}
        # when this world is called next
        self._armed = math.inf
        self.life: Life | None = None
        # what is written later, all at once; None while everything is written at once
        self._later: list[tuple[Callable[[LivePod], None], LivePod]] | None = None
        self.seconds = 0.0
        self.reports = 0
        self.events = 0
        self.bound = 0

    # -- time

    def date(self) -> float:
        """Return the seconds since the epoch."""
        return self._began + self._timers.now

    def arm(self) -> None:
        """Have the life go on when its next step is due."""
        due = self._timers.next_time
        if due < self._armed:
            self._armed = due
            self._loop.call_at(due, self._step, due)

    def _step(self, due: float) -> None:
        if due != self._armed:
            # an earlier step has taken its place
            return
        began = time.thread_time()
        self._armed = math.inf
        self._timers.run(self._loop.time())
        self.arm()
        self.seconds += time.thread_time() - began

    # -- what the scheduler does

    async def perform(self, effect: Effect) -> ApiObject | None:
        """Carry out an effect; raises EffectError if it is refused."""
        if isinstance(effect, Emit):
            self.events += 1
            return None
        await asyncio.sleep(WRITE_SECONDS)
        began = time.thread_time()
        try:
            return self._carry_out(effect)
        finally:
            self.seconds += time.thread_time() - began

    def submit(self, *effects: Effect) -> None:
        """Carry out effects in the background."""
        for effect in effects:
            if isinstance(effect, Emit):
                self.events += 1
            else:
                self._loop.call_later(WRITE_SECONDS, self._carry_out_quietly, effect)

    def _carry_out_quietly(self, effect: Effect) -> None:
        try:
            self._carry_out(effect)
        except NotFoundError:
            # the pod has ended meanwhile
            return

    def _carry_out(self, effect: Effect) -> ApiObject | None:
        if not isinstance(effect, Bind | Patch):
            raise EffectError(f"{type(effect).__name__} is no part of this benchmark", final=True)
        pod = self._pods.get(f"{effect.namespace}/{effect.name}")
        if pod is None:
            raise NotFoundError(f'pods "{effect.name}" not found')
        if isinstance(effect, Bind):
            self._bind(pod, effect.node_name)
            return None
        body = {key: value for key, value in effect.body.items() if key != "metadata"}
        changed = patched(pod, body)
        assert isinstance(changed, Pod)
        return self._put_pod(changed)

    def _bind(self, pod: Pod, node_name: str) -> None:
        assert self.life is not None
        date = msgspec.convert(self.date(), type(BEGINNING), strict=False)
        scheduled = Condition(type="PodScheduled", status="True", last_transition_time=date)
        status = replace(pod.status, conditions=(scheduled,))
        self._put_pod(replace(pod, spec=replace(pod.spec, node_name=node_name), status=status))
        self.bound += 1
        self._timers.now = self._loop.time()
        self.life.bound(self.life.pods[pod.full_name], node_name)
        self.arm()

    # -- reports

    def _put(self, obj: ApiObject) -> None:
        self.reports += 1
        self._inbox.post(Put(obj))

    def _drop(self, obj: ApiObject) -> None:
        self.reports += 1
        self._inbox.post(Dropped(obj))

    def _put_pod(self, pod: Pod) -> Pod:
        self._version += 1
        stored = replace(pod, metadata=replace(pod.metadata, resource_version=str(self._version)))
        self._pods[pod.full_name] = stored
        self._put(stored)
        return stored

    # -- what a life writes

    def keep_back(self) -> None:
        """Keep pods and their statuses back until `flush` is called."""
        self._later = []

    def flush(self) -> None:
        """Write the pods and statuses that were kept back."""
        kept, self._later = self._later or (), None
        for write, pod in kept:
            write(pod)

    def create_pod(self, pod: LivePod) -> None:
        """Create a pod; one with a node is created on its node."""
        if self._later is not None:
            self._later.append((self.create_pod, pod))
            return
        pod.created_at = self._timers.now
        owner = pod.owner
        if pod.reason == DAEMON:
            body = daemon_body(owner.template, pod.name, owner.name, owner.uid, pod.target)
            model = self._share(_decode_pod(body))
        else:
            model = owner.model
            if model is None:
                body = pod_body(pod)
                if pod.reason == STUCK:
                    body = stuck_body(owner.template, pod.name, owner.name, owner.uid)
                model = owner.model = self._share(_decode_pod(body))
        date = msgspec.convert(self.date(), type(BEGINNING), strict=False)
        uid = f"00000000-0000-4000-9000-{pod.number:012x}"
        metadata = replace(model.metadata, name=pod.name, uid=uid, creation_timestamp=date)
        spec = model.spec if pod.node is None else replace(model.spec, node_name=pod.node.name)
        self._put_pod(replace(model, metadata=metadata, spec=spec, status=PodStatus(phase="Pending")))

    def report_pod(self, pod: LivePod) -> None:
        """Report the status of a pod; schedulers do not see pods that have ended."""
        if self._later is not None:
            self._later.append((self.report_pod, pod))
            return
        known = self._pods[pod.full_name]
        if pod.state == ENDED:
            self._forget(pod)
            return
        status = msgspec.convert(pod_status(pod), PodStatus)
        scheduled = tuple(each for each in known.status.conditions if each.type == "PodScheduled")
        self._put_pod(replace(known, status=replace(status, conditions=status.conditions + scheduled)))

    def _forget(self, pod: LivePod) -> None:
        gone = self._pods.pop(pod.full_name, None)
        if gone is not None:
            self._drop(gone)

    def resize_pod(self, pod: LivePod) -> None:
        """Change the CPU request of a pod."""
        known = self._pods[pod.full_name]
        container = known.spec.containers[0]
        requests = {**container.resources.requests, "cpu": f"{pod.milli_cpu}m"}
        resized = replace(container, resources=replace(container.resources, requests=requests))
        self._put_pod(replace(known, spec=replace(known.spec, containers=(resized,))))

    def delete_pod(self, pod: LivePod, *, at_once: bool) -> None:
        """Delete a pod: one on a node ends first, unless `at_once`."""
        known = self._pods.get(pod.full_name)
        if known is None:
            return
        if at_once or pod.node is None:
            self._forget(pod)
        else:
            date = msgspec.convert(self.date(), type(BEGINNING), strict=False)
            self._put_pod(replace(known, metadata=replace(known.metadata, deletion_timestamp=date)))

    def create_node(self, node: LiveNode) -> None:
        """Create a node."""
        self._nodes[node.name] = msgspec.convert(node_document(node, self.date()), Node)
        self._put(self._nodes[node.name])

    def report_node(self, node: LiveNode) -> None:
        """Report the status of a node."""
        status = msgspec.convert(node_status(node, self.date()), NodeStatus)
        self._nodes[node.name] = replace(self._nodes[node.name], status=status)
        self._put(self._nodes[node.name])

    def mark_node(self, node: LiveNode) -> None:
        """Report the taints of a node, and whether it is cordoned."""
        spec = msgspec.convert(node_document(node, self.date()), Node).spec
        self._nodes[node.name] = replace(self._nodes[node.name], spec=spec)
        self._put(self._nodes[node.name])

    def delete_node(self, node: LiveNode) -> None:
        """Delete a node."""
        self._drop(self._nodes.pop(node.name))

    def renew_lease(self, node: LiveNode) -> None:
        """Do nothing: schedulers do not see the Leases of nodes."""

    def create_object(self, path: str, document: Mapping[str, Any]) -> None:
        """Create an object of another kind."""
        obj = self._objects[path, document["metadata"]["name"]] = decode(document)
        self._put(obj)

    def delete_object(self, path: str, name: str) -> None:
        """Delete an object of another kind."""
        self._drop(self._objects.pop((path, name)))

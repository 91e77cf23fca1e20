"""Pods on simulated nodes: taken in or refused, started, ready, finished, terminated.

    bound ──take──▶ starting ──▶ running ──▶ ready ──▶ over
      └──refuse──▶ failed            deletion: terminating ──▶ gone

Probes' initial delays, sleeping preStop hooks and active deadlines take the time that the pod's spec says.

Annotations decide how long a pod that is not to run for ever does: `kubesched.io/run-seconds` and, if it is to fail,
`kubesched.io/exit-code`. They count for pods whose restart policy lets them end; pods of jobs, and those that nobody
controls, end anyway after a while.
"""

# upstream: pkg/kubelet/{kubelet.go,status/status_manager.go} (v1.36)

import msgspec

from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.controlplane.api.documents import Document
from kubesched.controlplane.api.stores import NODES, PODS
from kubesched.controlplane.controllers.framework.controller import Controller, Key, Tools
from kubesched.controlplane.controllers.framework.pod_index import Placement
from kubesched.controlplane.kinds.pod.phases import RUNNING, TERMINAL
from kubesched.controlplane.nodes import pod_status
from kubesched.controlplane.nodes.addresses import OF_PODS, Addresses
from kubesched.controlplane.nodes.admission import Room
from kubesched.controlplane.nodes.nodes import is_simulated
from kubesched.controlplane.nodes.pod_times import (
    seconds_before_stop,
    seconds_until_deadline,
    seconds_until_ready,
)
from kubesched.controlplane.nodes.resizing import DEFERRED, INFEASIBLE, is_resized, postpone, resized
from kubesched.controlplane.storage.store import ADDED, DELETED, Change, Changed, Stored

RUN_SECONDS = "kubesched.io/run-seconds"
EXIT_CODE = "kubesched.io/exit-code"
# what a program exits with that a signal has ended
_TERMINATED = 143
_decode_pod = msgspec.json.Decoder(Pod).decode
_decode_node = msgspec.json.Decoder(Node).decode


class _Run(msgspec.Struct):
    """A pod on its node; times are the loop's."""

    uid: str
    node: str
    # the next steps, and when they may happen; None: not at all, or done
    start_at: float | None = None
    ready_at: float | None = None
    finish_at: float | None = None
    fail_at: float | None = None
    delete_at: float | None = None

    def next_step(self) -> float | None:
        """Return when the next step is due."""
        if self.delete_at is not None:
            return self.delete_at
        times = [at for at in (self.start_at, self.ready_at, self.finish_at, self.fail_at) if at is not None]
        return min(times, default=None)

    def stop(self) -> None:
        """Plan nothing more for a pod that is over."""
        self.start_at = self.ready_at = self.finish_at = self.fail_at = None


class Kubelets(Controller):
    """Runs pods on all simulated nodes."""

    def __init__(self, tools: Tools, placement: Placement) -> None:
        super().__init__(tools)
        self._placement = placement
        self._runs: dict[Key, _Run] = {}
        self._rooms: dict[str, Room] = {}
        # pods to be resized when there is room, by node
        self._deferred: dict[str, set[Key]] = {}
        self._addresses = Addresses(*OF_PODS)

    def watches(self) -> dict[str, Changed]:
        """Return who is told of changes, by set."""
        return {NODES: self._node_changed, PODS: self._pod_changed}

    def _node_changed(self, change: Change) -> None:
        if change.type == ADDED:
            for key in self._placement.on(change.new.name):
                self.agenda.add(key)
        elif change.type == DELETED:
            # its pods stay as they are, until somebody notices
            self._rooms.pop(change.new.name, None)
            for key in self._placement.on(change.new.name):
                self._forget(key)

    def _pod_changed(self, change: Change) -> None:
        if not change.new.fields.get("spec.nodeName"):
            return
        if change.type == ADDED and change.new.fields.get("status.podIP"):
            # it has been running since before we began
            self._addresses.taken(change.new.fields["status.podIP"])
        key = (change.new.namespace, change.new.name)
        if change.type == DELETED:
            self._forget(key)
        else:
            self.agenda.add(key)

    def look_at(self, key: Key) -> None:
        """Take the next step with a pod."""
        stored = self.tools.get(PODS, *key)
        if stored is None:
            self._forget(key)
            return
        run = self._runs.get(key)
        if run is not None and run.uid != stored.uid:
            self._forget(key)
            run = None
        pod = stored.document()
        if run is None:
            run = self._meet(key, stored, pod)
            if run is None:
                return
        self._step(key, run, stored, pod)
        due = run.next_step()
        if due is not None and key in self._runs:
            self.agenda.add_after(key, due - self.tools.loop.time())

    def _forget(self, key: Key) -> None:
        run = self._runs.pop(key, None)
        self.agenda.forget(key)
        if run is not None:
            self._leave(run)

    # -- a pod comes

    def _meet(self, key: Key, stored: Stored, pod: Document) -> _Run | None:
        """Take in a pod that is new here; return None if there is nothing to do with it."""
        name = stored.fields["spec.nodeName"]
        node = self.tools.get(NODES, "", name)
        going = "deletionTimestamp" in pod["metadata"]
        over = pod["status"].get("phase") in TERMINAL
        if node is None or not is_simulated(node.document()) or (over and not going):
            return None
        room = self._rooms.setdefault(name, Room())
        running = pod["status"].get("phase") == RUNNING
        refusal = room.take(_decode_pod(stored.body), None if running or going else _decode_node(node.body))
        if refusal is not None:
            pod_status.refuse(pod, refusal.reason, refusal.message, self.tools.now())
            self.tools.update(PODS, pod, "status")
            return None
        run = self._runs[key] = _Run(stored.uid, name)
        now, options = self.tools.loop.time(), self.tools.options
        if not running:
            run.start_at = now + options.pod_start_seconds
        else:
            began = now - pod_status.seconds_running(pod, self.tools.now())
            run.ready_at = max(now + options.ready_seconds, self._ready_at(pod, began))
            self._plan_end(run, pod, began, is_new=False)
        return run

    def _ready_at(self, pod: Document, began: float) -> float:
        """Return when a pod whose containers began to run then is ready."""
        options = self.tools.options
        return began + max(options.ready_seconds, seconds_until_ready(pod["spec"]) / options.speed)

    def _plan_end(self, run: _Run, pod: Document, now: float, *, is_new: bool) -> None:
        """Note when a pod ends that is to end.

        A pod that nobody controls and that does not say ends as those of jobs do; one that ran before it came here,
        from another cluster, goes on.
        """
        given = (pod["metadata"].get("annotations") or {}).get(RUN_SECONDS)
        said, options = _number(given), self.tools.options
        seconds = None if said is None else said / options.speed
        owners = [each for each in pod["metadata"].get("ownerReferences") or () if each.get("controller")]
        is_of_job = any(owner.get("kind") == "Job" for owner in owners)
        if seconds is None and (is_of_job or (is_new and not owners and given is None)):
            seconds = options.job_seconds
        if seconds is not None and pod["spec"].get("restartPolicy") in ("Never", "OnFailure"):
            run.finish_at = now + seconds

    # -- a pod goes on

    def _step(self, key: Key, run: _Run, stored: Stored, pod: Document) -> None:
        """Take the steps that are due."""
        now = self.tools.loop.time()
        if "deletionTimestamp" in pod["metadata"]:
            self._terminate(key, run, stored, pod)
            return
        if pod["status"].get("phase") in TERMINAL:
            self._leave(run)
            run.stop()
            return
        changed = False
        if run.start_at is not None and now >= run.start_at:
            run.start_at = None
            self._start(run, pod)
            run.ready_at = self._ready_at(pod, now)
            self._plan_end(run, pod, now, is_new=True)
            changed = True
        if run.ready_at is not None and now >= run.ready_at:
            run.ready_at = None
            pod_status.make_ready(pod, self.tools.now())
            changed = True
        elif run.start_at is None and run.ready_at is None and pod_status.needs_readiness(pod):
            pod_status.make_ready(pod, self.tools.now())
            changed = True
        if run.start_at is None:
            changed = pod_status.starts_ephemeral_containers(pod, self.tools.now()) or changed
            changed = (is_resized(pod) and self._resize(key, run, pod)) or changed
        if run.finish_at is not None and now >= run.finish_at:
            self._finish(run, pod, now)
            changed = True
        if self._is_past_deadline(run, pod, now):
            pod_status.exceed_deadline(pod, self.tools.now())
            changed = True
        if changed:
            self.tools.update(PODS, pod, "status")

    def _start(self, run: _Run, pod: Document) -> None:
        node = self.tools.find(NODES, "", run.node) or {}
        addresses = (node.get("status") or {}).get("addresses") or ()
        host = next((each["address"] for each in addresses if each.get("type") == "InternalIP"), "10.0.0.0")
        address = host
        if not pod["spec"].get("hostNetwork"):
            address = self._addresses.new()
        pod_status.start(pod, host, address, self.tools.now())

    def _finish(self, run: _Run, pod: Document, now: float) -> None:
        code = int(_number((pod["metadata"].get("annotations") or {}).get(EXIT_CODE)) or 0)
        run.finish_at = None
        if code and pod["spec"].get("restartPolicy") == "OnFailure":
            pod_status.restart(pod, code, self.tools.now())
            self._plan_end(run, pod, now, is_new=True)
        else:
            run.ready_at = None
            pod_status.finish(pod, code, self.tools.now())

    def _resize(self, key: Key, run: _Run, pod: Document) -> bool:
        """Give a pod the resources that its spec says, if its node has them; return whether its status is another."""
        node = self.tools.get(NODES, "", run.node)
        if node is None:
            return False
        wanted = resized(pod, self.tools.now())
        refusal = self._rooms[run.node].resize(msgspec.convert(wanted, Pod), _decode_node(node.body))
        if refusal is None:
            pod["status"] = wanted["status"]
            return True
        if not refusal.beyond_capacity:
            self._deferred.setdefault(run.node, set()).add(key)
        reason = INFEASIBLE if refusal.beyond_capacity else DEFERRED
        return postpone(pod, reason, refusal.message, self.tools.now())

    def _leave(self, run: _Run) -> None:
        """Free what a pod took on its node; those that wait for room to be resized are looked at again."""
        if run.node in self._rooms:
            self._rooms[run.node].leave(run.uid)
        for key in self._deferred.pop(run.node, ()):
            self.agenda.add(key)

    def _is_past_deadline(self, run: _Run, pod: Document, now: float) -> bool:
        """Return whether a pod has been active for too long; plan a look at it for when it will have been."""
        left = seconds_until_deadline(pod, self.tools.now(), self.tools.options.speed)
        if left is None or pod["status"]["phase"] in TERMINAL:
            run.fail_at = None
            return False
        run.fail_at = now + max(left, 0.0)
        return left <= 0

    # -- a pod goes

    def _terminate(self, key: Key, run: _Run, stored: Stored, pod: Document) -> None:
        """Let a pod go that is being deleted, once its time is over."""
        now = self.tools.loop.time()
        started = run.start_at is None and pod["status"].get("phase") not in TERMINAL
        grace = pod["metadata"].get("deletionGracePeriodSeconds") or 0
        options = self.tools.options
        stopping = seconds_before_stop(pod["spec"]) / options.speed + options.termination_seconds
        seconds = min(grace / options.speed, stopping) if started else 0.0
        if run.delete_at is None or now + seconds < run.delete_at:
            run.delete_at = now + seconds
        if now < run.delete_at:
            return
        if pod["metadata"].get("finalizers") and pod["status"].get("phase") not in TERMINAL:
            # it stays for a while, but runs no more; what should have ended by itself was cut short
            lasts = pod["spec"].get("restartPolicy") == "Always"
            pod_status.finish(pod, 0 if lasts else _TERMINATED, self.tools.now())
            self.tools.update(PODS, pod, "status")
        self._leave(run)
        if grace or not pod["metadata"].get("finalizers"):
            self.tools.delete(PODS, stored, grace_seconds=0)
        run.stop()
        run.delete_at = None if key in self._runs else run.delete_at


def _number(text: str | None) -> float | None:
    """Return the number that an annotation is, None if it is none."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None

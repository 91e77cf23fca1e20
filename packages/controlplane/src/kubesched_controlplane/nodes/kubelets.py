"""Pods on simulated nodes: admitted or refused, started, ready, finished, terminated.

    bound ──admit──▶ starting ──▶ running ──▶ ready ──▶ terminal
      └──refuse──▶ failed            deletion: terminating ──▶ deleted

Initial delays of probes, sleeping preStop hooks and active deadlines take the time in the pod's spec.

A pod with the annotation `kubesched.io/run-seconds` ends after that time, with the exit code that the annotation
`kubesched.io/exit-code` gives or 0, unless its restart policy is Always. Without the first annotation, pods of jobs and
pods without a controller end after a default time.
"""

# upstream: pkg/kubelet/{kubelet.go,status/status_manager.go} (v1.36)

import msgspec

from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.prefixes import NODES, PODS
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.controllers.framework.pod_index import PodIndex
from kubesched_controlplane.kinds.pod.phases import RUNNING, TERMINAL
from kubesched_controlplane.nodes import pod_status
from kubesched_controlplane.nodes.addresses import OF_PODS, Addresses
from kubesched_controlplane.nodes.admission import NodeAdmission
from kubesched_controlplane.nodes.nodes import is_simulated
from kubesched_controlplane.nodes.pod_times import (
    seconds_before_stop,
    seconds_until_deadline,
    seconds_until_ready,
)
from kubesched_controlplane.nodes.resizing import DEFERRED, INFEASIBLE, is_resized, postpone, resized
from kubesched_controlplane.storage.store import ADDED, DELETED, Change, Changed, Stored

RUN_SECONDS = "kubesched.io/run-seconds"
EXIT_CODE = "kubesched.io/exit-code"
# the exit code of a process that SIGTERM has ended
_TERMINATED = 143
_decode_pod = msgspec.json.Decoder(Pod).decode
_decode_node = msgspec.json.Decoder(Node).decode


class _Run(msgspec.Struct):
    """A pod on its node; times are of the event loop's clock."""

    uid: str
    node: str
    # when each of the next steps is due; None if it is done or will not happen
    start_at: float | None = None
    ready_at: float | None = None
    finish_at: float | None = None
    fail_at: float | None = None
    delete_at: float | None = None

    def next_step(self) -> float | None:
        """Return when the next step is due, None if there is none."""
        if self.delete_at is not None:
            return self.delete_at
        times = [at for at in (self.start_at, self.ready_at, self.finish_at, self.fail_at) if at is not None]
        return min(times, default=None)

    def stop(self) -> None:
        """Cancel the next steps of a terminal pod."""
        self.start_at = self.ready_at = self.finish_at = self.fail_at = None


class Kubelets(Controller):
    """Runs pods on all simulated nodes."""

    def __init__(self, context: ControllerContext, pod_index: PodIndex) -> None:
        super().__init__(context)
        self._pod_index = pod_index
        self._runs: dict[Key, _Run] = {}
        self._admissions: dict[str, NodeAdmission] = {}
        # by node: pods whose resize is deferred until resources are free
        self._deferred: dict[str, set[Key]] = {}
        self._addresses = Addresses(*OF_PODS)

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {NODES: self._node_changed, PODS: self._pod_changed}

    def _node_changed(self, change: Change) -> None:
        if change.type == ADDED:
            for key in self._pod_index.on(change.new.name):
                self.workqueue.add(key)
        elif change.type == DELETED:
            # the pods of the node stay unchanged until the pod garbage collector deletes them
            self._admissions.pop(change.new.name, None)
            for key in self._pod_index.on(change.new.name):
                self._forget(key)

    def _pod_changed(self, change: Change) -> None:
        if not change.new.fields.get("spec.nodeName"):
            return
        if change.type == ADDED and change.new.fields.get("status.podIP"):
            # the pod ran before this controller started
            self._addresses.taken(change.new.fields["status.podIP"])
        key = (change.new.namespace, change.new.name)
        if change.type == DELETED:
            self._forget(key)
        else:
            self.workqueue.add(key)

    def reconcile(self, key: Key) -> None:
        """Take the steps of a pod that are due, and queue it for the next one."""
        stored = self.context.get(PODS, *key)
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
            self.workqueue.add_after(key, due - self.context.loop.time())

    def _forget(self, key: Key) -> None:
        run = self._runs.pop(key, None)
        self.workqueue.forget(key)
        if run is not None:
            self._leave(run)

    # -- admission

    def _meet(self, key: Key, stored: Stored, pod: Document) -> _Run | None:
        """Admit a pod and plan its steps; return None if it is refused, terminal, or not on a simulated node."""
        name = stored.fields["spec.nodeName"]
        node = self.context.get(NODES, "", name)
        terminating = "deletionTimestamp" in pod["metadata"]
        terminal = pod["status"].get("phase") in TERMINAL
        if node is None or not is_simulated(node.document()) or (terminal and not terminating):
            return None
        admission = self._admissions.setdefault(name, NodeAdmission())
        running = pod["status"].get("phase") == RUNNING
        refusal = admission.take(_decode_pod(stored.body), None if running or terminating else _decode_node(node.body))
        if refusal is not None:
            pod_status.refuse(pod, refusal.reason, refusal.message, self.context.now())
            self.context.update(PODS, pod, "status")
            return None
        run = self._runs[key] = _Run(stored.uid, name)
        now, options = self.context.loop.time(), self.context.options
        if not running:
            run.start_at = now + options.pod_start_seconds
        else:
            began = now - pod_status.seconds_running(pod, self.context.now())
            run.ready_at = max(now + options.ready_seconds, self._ready_at(pod, began))
            self._plan_end(run, pod, began, is_new=False)
        return run

    def _ready_at(self, pod: Document, began: float) -> float:
        """Return when a pod is ready whose containers started at a time."""
        options = self.context.options
        return began + max(options.ready_seconds, seconds_until_ready(pod["spec"]) / options.speed)

    def _plan_end(self, run: _Run, pod: Document, now: float, *, is_new: bool) -> None:
        """Plan the end of a pod that does not run for ever.

        A pod without a controller and without the annotation ends like pods of jobs, unless it ran already when it was
        imported.
        """
        given = (pod["metadata"].get("annotations") or {}).get(RUN_SECONDS)
        said, options = _number(given), self.context.options
        seconds = None if said is None else said / options.speed
        owners = [each for each in pod["metadata"].get("ownerReferences") or () if each.get("controller")]
        is_of_job = any(owner.get("kind") == "Job" for owner in owners)
        if seconds is None and (is_of_job or (is_new and not owners and given is None)):
            seconds = options.job_seconds
        if seconds is not None and pod["spec"].get("restartPolicy") in ("Never", "OnFailure"):
            run.finish_at = now + seconds

    # -- running

    def _step(self, key: Key, run: _Run, stored: Stored, pod: Document) -> None:
        """Take the steps that are due."""
        now = self.context.loop.time()
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
            pod_status.make_ready(pod, self.context.now())
            changed = True
        elif run.start_at is None and run.ready_at is None and pod_status.needs_readiness(pod):
            pod_status.make_ready(pod, self.context.now())
            changed = True
        if run.start_at is None:
            changed = pod_status.starts_ephemeral_containers(pod, self.context.now()) or changed
            changed = (is_resized(pod) and self._resize(key, run, pod)) or changed
        if run.finish_at is not None and now >= run.finish_at:
            self._finish(run, pod, now)
            changed = True
        if self._is_past_deadline(run, pod, now):
            pod_status.exceed_deadline(pod, self.context.now())
            changed = True
        if changed:
            self.context.update(PODS, pod, "status")

    def _start(self, run: _Run, pod: Document) -> None:
        node = self.context.find(NODES, "", run.node) or {}
        addresses = (node.get("status") or {}).get("addresses") or ()
        host = next((each["address"] for each in addresses if each.get("type") == "InternalIP"), "10.0.0.0")
        address = host
        if not pod["spec"].get("hostNetwork"):
            address = self._addresses.new()
        pod_status.start(pod, host, address, self.context.now())

    def _finish(self, run: _Run, pod: Document, now: float) -> None:
        code = int(_number((pod["metadata"].get("annotations") or {}).get(EXIT_CODE)) or 0)
        run.finish_at = None
        if code and pod["spec"].get("restartPolicy") == "OnFailure":
            pod_status.restart(pod, code, self.context.now())
            self._plan_end(run, pod, now, is_new=True)
        else:
            run.ready_at = None
            pod_status.finish(pod, code, self.context.now())

    def _resize(self, key: Key, run: _Run, pod: Document) -> bool:
        """Resize a pod to its spec, or set the condition why it is pending; return whether its status changed."""
        node = self.context.get(NODES, "", run.node)
        if node is None:
            return False
        wanted = resized(pod, self.context.now())
        refusal = self._admissions[run.node].resize(msgspec.convert(wanted, Pod), _decode_node(node.body))
        if refusal is None:
            pod["status"] = wanted["status"]
            return True
        if not refusal.beyond_capacity:
            self._deferred.setdefault(run.node, set()).add(key)
        reason = INFEASIBLE if refusal.beyond_capacity else DEFERRED
        return postpone(pod, reason, refusal.message, self.context.now())

    def _leave(self, run: _Run) -> None:
        """Free a pod's resources on its node, and queue the pods there whose resize is deferred."""
        if run.node in self._admissions:
            self._admissions[run.node].leave(run.uid)
        for key in self._deferred.pop(run.node, ()):
            self.workqueue.add(key)

    def _is_past_deadline(self, run: _Run, pod: Document, now: float) -> bool:
        """Return whether a pod is past its active deadline; otherwise plan the step for its deadline."""
        left = seconds_until_deadline(pod, self.context.now(), self.context.options.speed)
        if left is None or pod["status"]["phase"] in TERMINAL:
            run.fail_at = None
            return False
        run.fail_at = now + max(left, 0.0)
        return left <= 0

    # -- termination

    def _terminate(self, key: Key, run: _Run, stored: Stored, pod: Document) -> None:
        """Delete a terminating pod after its grace period; one with finalizers becomes terminal."""
        now = self.context.loop.time()
        started = run.start_at is None and pod["status"].get("phase") not in TERMINAL
        grace = pod["metadata"].get("deletionGracePeriodSeconds") or 0
        options = self.context.options
        stopping = seconds_before_stop(pod["spec"]) / options.speed + options.termination_seconds
        seconds = min(grace / options.speed, stopping) if started else 0.0
        if run.delete_at is None or now + seconds < run.delete_at:
            run.delete_at = now + seconds
        if now < run.delete_at:
            return
        if pod["metadata"].get("finalizers") and pod["status"].get("phase") not in TERMINAL:
            # finalizers keep the pod, but it no longer runs; a pod that should have ended by itself has failed
            lasts = pod["spec"].get("restartPolicy") == "Always"
            pod_status.finish(pod, 0 if lasts else _TERMINATED, self.context.now())
            self.context.update(PODS, pod, "status")
        self._leave(run)
        if grace or not pod["metadata"].get("finalizers"):
            self.context.delete(PODS, stored, grace_seconds=0)
        run.stop()
        run.delete_at = None if key in self._runs else run.delete_at


def _number(text: str | None) -> float | None:
    """Return an annotation as a number that is not negative, None if it is not one."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None

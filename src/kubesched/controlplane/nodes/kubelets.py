"""Pods on simulated nodes: taken in or refused, started, ready, finished, terminated.

    bound ──admit──▶ starting ──▶ running ──▶ ready ──▶ terminal
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
from kubesched.controlplane.api.prefixes import NODES, PODS
from kubesched.controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched.controlplane.controllers.framework.pod_index import PodIndex
from kubesched.controlplane.kinds.pod.phases import RUNNING, TERMINAL
from kubesched.controlplane.nodes import pod_status
from kubesched.controlplane.nodes.addresses import OF_PODS, Addresses
from kubesched.controlplane.nodes.admission import NodeAdmission
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
        """Cancel the plans of a terminal pod."""
        self.start_at = self.ready_at = self.finish_at = self.fail_at = None


class Kubelets(Controller):
    """Runs pods on all simulated nodes."""

    def __init__(self, context: ControllerContext, pod_index: PodIndex) -> None:
        super().__init__(context)
        self._pod_index = pod_index
        self._runs: dict[Key, _Run] = {}
        self._admissions: dict[str, NodeAdmission] = {}
        # pods to be resized when there is room, by node
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
            # its pods stay as they are until the pod garbage collector runs
            self._admissions.pop(change.new.name, None)
            for key in self._pod_index.on(change.new.name):
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
            self.workqueue.add(key)

    def reconcile(self, key: Key) -> None:
        """Take the next step with a pod."""
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

    # -- a pod comes

    def _meet(self, key: Key, stored: Stored, pod: Document) -> _Run | None:
        """Take in a pod that is new here; return None if there is nothing to do with it."""
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
        """Return when a pod whose containers began to run then is ready."""
        options = self.context.options
        return began + max(options.ready_seconds, seconds_until_ready(pod["spec"]) / options.speed)

    def _plan_end(self, run: _Run, pod: Document, now: float, *, is_new: bool) -> None:
        """Note when a pod ends that is to end.

        A pod without a controller and without annotation ends like pods of jobs; one that ran before it came here,
        from another cluster, goes on.
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

    # -- a pod goes on

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
        """Give a pod the resources that its spec says, if its node has them; return whether its status is another."""
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
        """Free a pod's resources on its node, and reconcile the pods there that wait to be resized."""
        if run.node in self._admissions:
            self._admissions[run.node].leave(run.uid)
        for key in self._deferred.pop(run.node, ()):
            self.workqueue.add(key)

    def _is_past_deadline(self, run: _Run, pod: Document, now: float) -> bool:
        """Return whether a pod is past its active deadline; otherwise queue it for then."""
        left = seconds_until_deadline(pod, self.context.now(), self.context.options.speed)
        if left is None or pod["status"]["phase"] in TERMINAL:
            run.fail_at = None
            return False
        run.fail_at = now + max(left, 0.0)
        return left <= 0

    # -- a pod goes

    def _terminate(self, key: Key, run: _Run, stored: Stored, pod: Document) -> None:
        """Remove a terminating pod once its grace period is over."""
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
            # it stays for a while, but runs no more; what should have ended by itself was cut short
            lasts = pod["spec"].get("restartPolicy") == "Always"
            pod_status.finish(pod, 0 if lasts else _TERMINATED, self.context.now())
            self.context.update(PODS, pod, "status")
        self._leave(run)
        if grace or not pod["metadata"].get("finalizers"):
            self.context.delete(PODS, stored, grace_seconds=0)
        run.stop()
        run.delete_at = None if key in self._runs else run.delete_at


def _number(text: str | None) -> float | None:
    """Return the number that an annotation is, None if it is none."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None

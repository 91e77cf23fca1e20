"""The controller of HorizontalPodAutoscalers, which reads the usage of pods every 15 seconds and scales their target.

From autoscalers and pods to the replicas of scale targets. Nothing runs in pods, so their usage is a guess unless
annotations give it (`usage`): an autoscaler reports a guess in its status, but does not scale by it.
"""

# upstream: pkg/controller/podautoscaler/horizontal.go (v1.36)

from math import inf

import msgspec

from kubesched.api.labels import Selector, from_label_selector, selector_from_set
from kubesched.api.meta import LabelSelector
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.controllers.framework.recorder import ControllerEventRecorder
from kubesched_controlplane.controllers.workloads.scaling_metrics import Measurement, MetricError, measured
from kubesched_controlplane.controllers.workloads.scaling_rates import History, bounds_of, rated
from kubesched_controlplane.kinds.checks import part
from kubesched_controlplane.kinds.pod.status import condition_of, set_condition
from kubesched_controlplane.server.subresources.scale import SCALABLE
from kubesched_controlplane.storage.store import DELETED, Change, Changed, Stored

AUTOSCALERS, PODS = "horizontalpodautoscalers.autoscaling", "pods"
PERIOD_SECONDS = 15.0
_GUESS = "nothing says what pods use: annotate them with kubesched.io/cpu-usage or kubesched.io/memory-usage"


class HorizontalController(Controller):
    """Scales the targets of HorizontalPodAutoscalers."""

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._recorder = ControllerEventRecorder(context, "horizontal-pod-autoscaler")
        self._histories: dict[str, History] = {}
        # running pods, by namespace and name
        self._pods: dict[str, dict[str, Stored]] = {}

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {PODS: self._pod_changed, AUTOSCALERS: self._changed}

    def seconds_left(self) -> float:
        """Return infinity: waiting for a cluster to settle does not include its autoscalers."""
        return inf

    def _pod_changed(self, change: Change) -> None:
        pods = self._pods.setdefault(change.new.namespace, {})
        if change.type == DELETED or change.new.fields.get("status.phase") != "Running":
            pods.pop(change.new.name, None)
        else:
            pods[change.new.name] = change.new

    def _changed(self, change: Change) -> None:
        key = (change.new.namespace, change.new.name)
        if change.type == DELETED:
            self._histories.pop(change.new.uid, None)
            self.workqueue.forget(key)
        else:
            self.workqueue.add_after(key, PERIOD_SECONDS / self.context.options.speed)

    def reconcile(self, key: Key) -> None:
        """Compute the wanted replicas from the usage of pods, scale the target, and write the status; requeue."""
        stored = self.context.get(AUTOSCALERS, *key)
        if stored is None:
            return
        self.workqueue.add_after(key, PERIOD_SECONDS / self.context.options.speed)
        scaler = stored.document()
        before = msgspec.json.encode(part(scaler, "status"))
        scaler["status"]["observedGeneration"] = scaler["metadata"].get("generation", 1)
        self._see_to(scaler)
        if msgspec.json.encode(scaler["status"]) != before:
            self.context.update(AUTOSCALERS, scaler, "status")

    def _see_to(self, scaler: Document) -> None:
        found = self._target(scaler)
        if found is None:
            return
        prefix, owner = found
        words = "the HPA controller was able to get the target's current scale"
        self._tell(scaler, "AbleToScale", True, "SucceededGetScale", words)
        status, bounds = scaler["status"], bounds_of(scaler["spec"])
        current = (owner.get("spec") or {}).get("replicas")
        current = 1 if current is None else current
        status["currentReplicas"] = current
        reason = ""
        if current == 0 and bounds.least != 0:
            status["desiredReplicas"] = 0
            words = "scaling is disabled since the replica count of the target is zero"
            self._tell(scaler, "ScalingActive", False, "ScalingDisabled", words)
            return
        if current > bounds.most:
            wanted, reason = bounds.most, "Current number of replicas above Spec.MaxReplicas"
        elif current < bounds.least:
            wanted, reason = bounds.least, "Current number of replicas below Spec.MinReplicas"
        else:
            asked = self._measure(scaler, owner, current)
            if asked is None:
                status["desiredReplicas"] = current
                return
            wanted, reason = self._rate(scaler, asked, current)
        status["desiredReplicas"] = wanted
        if wanted != current:
            self._scale(scaler, prefix, owner, current, reason)

    def _target(self, scaler: Document) -> tuple[str, Document] | None:
        """Return the scale target of an autoscaler and its prefix; None, and a condition, if it does not exist."""
        meta, reference = scaler["metadata"], scaler["spec"]["scaleTargetRef"]
        resource = self.context.catalog.of_kind(reference.get("apiVersion") or "v1", reference["kind"])
        if resource is None or resource.prefix not in SCALABLE:
            why = f"no kind {reference['kind']} in {reference.get('apiVersion') or 'v1'} can be scaled"
        else:
            owner = self.context.find(resource.prefix, meta["namespace"], reference["name"])
            if owner is not None:
                return resource.prefix, owner
            why = f'{resource.qualified} "{reference["name"]}" not found'
        words = f"the HPA controller was unable to get the target's current scale: {why}"
        self._tell(scaler, "AbleToScale", False, "FailedGetScale", words)
        self._recorder.warning(scaler, "FailedGetScale", why)
        return None

    def _measure(self, scaler: Document, owner: Document, current: int) -> Measurement | None:
        """Return the metric with the most wanted replicas; None, and a condition, if no metric may be used to scale."""
        pods = self._ready_pods(owner)
        found: list[Measurement] = []
        error: MetricError | None = None
        for metric in scaler["spec"].get("metrics") or ():
            try:
                found.append(measured(metric, pods, current))
            except MetricError as failure:
                error = error or failure
        scaler["status"]["currentMetrics"] = [each.status for each in found] or None
        if error is not None and (not found or max(each.replicas for each in found) < current):
            words = f"the HPA was unable to compute the replica count: {error}"
            self._tell(scaler, "ScalingActive", False, error.reason, words)
            return None
        told = [each for each in found if each.told]
        if not told:
            self._tell(scaler, "ScalingActive", False, "UsageNotTold", _GUESS)
            return None
        most = max(told, key=lambda each: each.replicas)
        words = f"the HPA was able to successfully calculate a replica count from {most.name}"
        self._tell(scaler, "ScalingActive", True, "ValidMetricFound", words)
        return most

    def _ready_pods(self, owner: Document) -> list[Document]:
        selector = _selector(owner)
        pods = self._pods.get(owner["metadata"]["namespace"], {})
        chosen = (stored.document() for stored in pods.values() if selector.matches(stored.labels))
        return [pod for pod in chosen if (condition_of(pod, "Ready") or {}).get("status") == "True"]

    def _rate(self, scaler: Document, asked: Measurement, current: int) -> tuple[int, str]:
        history = self._histories.setdefault(scaler["metadata"]["uid"], History())
        outcome = rated(asked.replicas, current, bounds_of(scaler["spec"]), history, self.context.loop.time())
        self._tell(scaler, "AbleToScale", True, *outcome.able)
        self._tell(scaler, "ScalingLimited", *outcome.limited)
        return (
            outcome.replicas,
            f"{asked.name} above target" if asked.replicas > current else "All metrics below target",
        )

    def _scale(self, scaler: Document, prefix: str, owner: Document, current: int, reason: str) -> None:
        wanted = scaler["status"]["desiredReplicas"]
        owner["spec"]["replicas"] = wanted
        try:
            self.context.update(prefix, owner)
        except ApiError as error:
            words = f"New size: {wanted}; reason: {reason}; error: {error.message}"
            self._recorder.warning(scaler, "FailedRescale", words)
            words = f"the HPA controller was unable to update the target scale: {error.message}"
            self._tell(scaler, "AbleToScale", False, "FailedUpdateScale", words)
            return
        scaler["status"]["lastScaleTime"] = self.context.time()
        history = self._histories.setdefault(scaler["metadata"]["uid"], History())
        history.changes.append((self.context.loop.time(), wanted - current))
        self._recorder.normal(scaler, "SuccessfulRescale", f"New size: {wanted}; reason: {reason}")
        words = f"the HPA controller was able to update the target scale to {wanted}"
        self._tell(scaler, "AbleToScale", True, "SucceededRescale", words)

    def _tell(self, scaler: Document, kind: str, is_so: bool, reason: str, message: str) -> None:
        condition = {"type": kind, "status": "True" if is_so else "False", "reason": reason, "message": message}
        set_condition(scaler["status"], condition, self.context.now())


def _selector(owner: Document) -> Selector:
    """Return the pod selector of a scale target; that of replication controllers is a map of labels."""
    selector = owner["spec"].get("selector") or {}
    if "matchLabels" in selector or "matchExpressions" in selector:
        return from_label_selector(msgspec.convert(selector, LabelSelector))
    return selector_from_set(selector)

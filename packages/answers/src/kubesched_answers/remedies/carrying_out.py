"""How a remedy is carried out: the requests to the API server, all of which it accepts.

    steps ──▶ changes of objects ──the API server's rules──▶ in place, or recreated ──their owner──▶ requests

From the steps of a remedy to a `Plan`, or None if there is none: the API server refuses a change, or a controller
reverts it. For a pod with a controller the request changes the controller's template; for a claim for devices made
from a template, that template. Reports of kubelets, drivers and provisioners are no requests.
"""

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kubesched.api.codec import to_builtins
from kubesched.api.devices import ResourceClaim
from kubesched.api.pods import Pod
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.errors import KubeschedError
from kubesched.json_patch import json_patched
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.owners import Owners
from kubesched.reports.answers import ObjectChange, ObjectName
from kubesched_answers.remedies.patches import Operation, patch_of, pointer
from kubesched_answers.remedies.steps import Document, Rank, Step, Steps

if TYPE_CHECKING:
    from kubesched_answers.api_rules import ApiRules

# pending pods and claims without an allocation lose nothing when they are deleted and created again
_RECREATED: Final = ("Pod", "ResourceClaim")
_TEMPLATE: Final = ("spec", "template")
# path to the pod template, for kinds with another path
_TEMPLATES: Final = {"CronJob": ("spec", "jobTemplate", "spec", "template")}
# controllers of these kinds keep a pending pod when the template changes
_PODS_STAY: Final = ("ReplicaSet", "ReplicationController", "StatefulSet")
# fields that a Job gets when it is created, besides its selector
_GENERATED_LABELS: Final = ("controller-uid", "batch.kubernetes.io/controller-uid")
# fields that admission derives from a pod's priority class
_OF_ADMISSION: Final = ("priority", "preemptionPolicy")


class Plan(NamedTuple):
    """How a remedy is carried out.

    `changes` affect the objects that the scheduler reads; `requests` are the requests to the API server for them, in
    order. `recreates_pod`: the pod is deleted and created again, by its controller if it has one, the `owner`.
    """

    changes: tuple[ObjectChange, ...]
    requests: tuple[ObjectChange, ...]
    recreates_pod: bool
    owner: ObjectName | None


class _RefusedError(KubeschedError):
    """The API server refuses a change, or a controller reverts it."""


class Planner:
    """Plans how the steps of remedies for one pod are carried out."""

    def __init__(self, model: ClusterModel, pod: PodInfo, own: ObjectName, *, in_cluster: bool) -> None:
        self._model = model
        self._pod = pod
        self._own = own
        self._in_cluster = in_cluster
        self._rules: ApiRules | None = None

    @property
    def rules(self) -> "ApiRules":
        """Return the rules of the API server."""
        if self._rules is None:
            # imported here: an API server, which pods that fit do not need
            from kubesched_answers.api_rules import ApiRules

            self._rules = ApiRules(self._model)
        return self._rules

    def plan(self, steps: Steps, changes: Sequence[ObjectChange]) -> Plan | None:
        """Return how steps with some changes are carried out, None if they cannot be."""
        try:
            checked = tuple(map(self._checked, changes))
            of_object: dict[ObjectName, list[Step]] = {}
            for step in steps:
                of_object.setdefault(step.object, []).append(step)
            requests: dict[ObjectName, ObjectChange] = {}
            for change in checked:
                for request in self._requests(change, of_object[change.object]):
                    requests.setdefault(request.object, request)
        except _RefusedError:
            return None
        own = next((change for change in checked if change.object == self._own), None)
        recreates = self._in_cluster and own is not None and own.object not in self._kept_in_place(requests)
        owner = Owners(self._model).of(self._pod) if recreates else None
        return Plan(checked, tuple(requests.values()), recreates, owner)

    def _kept_in_place(self, requests: dict[ObjectName, ObjectChange]) -> set[ObjectName]:
        return {name for name, request in requests.items() if request.patch is not None and not request.recreate}

    def _checked(self, change: ObjectChange) -> ObjectChange:
        """Return a change as the verb with which the API server accepts it; raises _RefusedError."""
        if change.object == self._own and not self._in_cluster and change.patch is not None:
            # a pod outside the cluster is created
            old = to_builtins(self._pod.pod)
            _accept(self.rules.refusal_of_recreation(old, json_patched(old, list(change.patch))))
            return change
        if change.create is not None and change.object.kind == Pod.__name__:
            # a copy of the waiting pod, of which the model does not know all fields
            _accept(self.rules.refusal_of_recreation(to_builtins(self._pod.pod), change.create))
            return change
        refusal = self.rules.refusal(change)
        if refusal and change.patch is not None and change.object.kind in _RECREATED:
            change = replace(change, recreate=True)
            refusal = self.rules.refusal(change)
        _accept(refusal)
        return change

    # -- requests

    def _requests(self, change: ObjectChange, steps: Sequence[Step]) -> Iterator[ObjectChange]:
        """Yield the requests for a change; none if the change is not made by a request."""
        if change.object == self._own and not self._in_cluster:
            return
        if all(step.outside for step in steps):
            return
        if change.create is not None:
            yield replace(change, create=steps[0].sent or change.create)
        elif change.object.kind == Pod.__name__ and change.patch is not None:
            yield from self._of_pod(change, steps)
        elif change.object.kind == ResourceClaim.__name__:
            yield from self._of_claim(change)
        else:
            yield change

    def _of_pod(self, change: ObjectChange, steps: Sequence[Step]) -> Iterator[ObjectChange]:
        """Yield the change of a pod, or of the controller's template for it."""
        pod = self._model.pods[f"{change.object.namespace}/{change.object.name}"]
        reference = pod.metadata.controller
        in_place = not change.recreate
        if reference is None or (in_place and all(step.rank is Rank.FREE_GATE for step in steps)):
            # the controller of the gate removes it from the pod, not from its template
            yield change
            return
        owner = Owners(self._model).of(pod)
        document = self.rules.document_of(owner) if owner is not None else None
        if owner is None or document is None or _part(document, _path(owner.kind)) is None:
            # a third-party controller, or one that could not be read
            if in_place:
                yield change
            return
        yield from self._of_controller(owner, document, steps, change.object)
        if owner.kind == "CronJob":
            # for the waiting pod; the CronJob creates later ones
            job = ObjectName(reference.api_version, reference.kind, pod.namespace, reference.name)
            made = self.rules.document_of(job)
            if made is not None:
                yield from self._of_controller(job, made, steps, change.object)

    def _of_controller(
        self, owner: ObjectName, document: Document, steps: Sequence[Step], pod: ObjectName
    ) -> Iterator[ObjectChange]:
        """Yield the change of a controller's template, and the requests that make the controller recreate the pod."""
        owner = replace(owner, api_version=document["apiVersion"])
        patch = patch_of(document, _with_template(document, _path(owner.kind), steps))
        request = ObjectChange(owner, patch=patch)
        refusal = self.rules.refusal(request)
        if refusal and owner.kind == "Job":
            request = ObjectChange(owner, patch=[*_ungenerated(document), *patch], recreate=True)
            refusal = self.rules.refusal(request)
        _accept(refusal)
        yield request
        on_delete = document["spec"].get("updateStrategy", {}).get("type") == "OnDelete"
        if owner.kind in _PODS_STAY or on_delete:
            yield ObjectChange(pod, delete=True)

    def _of_claim(self, change: ObjectChange) -> Iterator[ObjectChange]:
        """Yield the change of a claim for devices or of its template, or the deletion of the pods that use it."""
        claim = self._model.find(change.object)
        assert isinstance(claim, ResourceClaim), "the step is about a claim of the model"
        namespace, owner = change.object.namespace, claim.metadata.controller
        if change.delete:
            users = [ObjectName("v1", Pod.__name__, namespace, user.name) for user in claim.status.reserved_for]
            yield from (ObjectChange(user, delete=True) for user in users)
            if owner is None or owner.name not in [user.name for user in users]:
                yield change
            return
        template = self._claim_template(claim) if change.recreate else None
        if template is None:
            yield change
            return
        # the claim is created from the template again
        spec = [_moved(operation) for operation in change.patch or ()]
        yield ObjectChange(
            replace(change.object, kind="ResourceClaimTemplate", name=template), patch=spec, recreate=True
        )
        yield ObjectChange(change.object, delete=True)

    def _claim_template(self, claim: ResourceClaim) -> str | None:
        """Return the name of the template of a pod's claim."""
        owner = claim.metadata.controller
        pod = self._model.pods.get(f"{claim.namespace}/{owner.name}") if owner is not None else None
        if pod is None:
            return None
        made = {each.resource_claim_name: each.name for each in pod.pod.status.resource_claim_statuses}
        return next(
            (
                each.resource_claim_template_name
                for each in pod.spec.resource_claims
                if each.name == made.get(claim.name)
            ),
            None,
        )


def _accept(refusal: str) -> None:
    if refusal:
        raise _RefusedError(refusal)


def _path(kind: str) -> tuple[str, ...]:
    return _TEMPLATES.get(kind, _TEMPLATE)


def _part(document: Document, path: Iterable[str]) -> Document | None:
    found: Any = document
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


def _with_template(document: Document, path: Sequence[str], steps: Sequence[Step]) -> Document:
    """Return a controller with the steps of its pod made in its template; raises _RefusedError if one has no
    effect.
    """
    new = copy.deepcopy(document)
    template = _part(new, path)
    assert template is not None, "the controller has a template"
    for step in steps:
        before = copy.deepcopy(template)
        try:
            if step.edit is not None:
                step.edit(template)
        except (KeyError, IndexError) as error:
            raise _RefusedError(f"the template has no {error}") from None
        for field in _OF_ADMISSION:
            if field not in before.get("spec", {}):
                template["spec"].pop(field, None)
        _accept("" if template != before else "the changed field does not come from the template")
    return new


def _ungenerated(job: Document) -> Iterator[Operation]:
    """Yield the operations that remove the fields that a Job got at creation."""
    if not job["spec"].get("manualSelector") and job["spec"].get("selector"):
        yield {"op": "remove", "path": pointer("spec", "selector")}
        labels = (job["spec"]["template"].get("metadata") or {}).get("labels") or {}
        for label in _GENERATED_LABELS:
            if label in labels:
                yield {"op": "remove", "path": pointer("spec", "template", "metadata", "labels", label)}


def _moved(operation: Operation) -> Operation:
    """Return an operation on a claim's spec as one on the claim's template."""
    return {**operation, "path": f"/spec{operation['path']}"}

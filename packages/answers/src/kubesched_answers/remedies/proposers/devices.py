"""DynamicResources: claims to devices that are missing, elsewhere or held by other pods.

From a pod's resource claims to steps: create a class, deallocate an idle claim, free devices, remove a claim.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from kubesched.api.devices import ResourceClaim, ResourceSlice
from kubesched.core.cluster.devices.resource_claims import EXTENDED_RESOURCE_CLAIM
from kubesched.core.plugins.dynamic_resources.filtering import STALE_CLAIM
from kubesched.core.plugins.dynamic_resources.pod_claims import used_claim_names
from kubesched.model.cluster_model import name_of_object
from kubesched_answers.remedies.proposers.obstacles import Obstacle, creation, object_step, pod_step
from kubesched_answers.remedies.steps import Document, Edit, Rank, Scope, Step, Steps
from kubesched_answers.remedies.trials import Trial

MISSING_CLASS = re.compile(r"device class (\S+) does not exist")
MOST_FREED = 6


def devices(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield steps for the pod's claims."""
    missing = MISSING_CLASS.search(obstacle.status.message)
    if missing is not None:
        yield (_created_class(missing[1]),)
    objects = trial.model.cluster.objects
    if obstacle.status.reasons == STALE_CLAIM.reasons:
        yield tuple(_deleted(claim) for claim in objects.of(ResourceClaim) if _is_of_earlier_attempt(trial, claim))
    names = used_claim_names(trial.pod)
    own = [claim for name in names if (claim := objects.get(ResourceClaim, name)) is not None]
    idle = [claim for claim in own if claim.status.allocation is not None and not claim.status.reserved_for]
    if idle:
        yield tuple(_deallocated(claim) for claim in idle)
    waiting = [claim for claim in own if claim.status.allocation is None]
    yield tuple(step for claim in waiting for step in _fewer_devices(claim))
    yield tuple(step for claim in waiting for step in _any_devices(claim))
    if obstacle.row is not None:
        freed = [_freed(trial, claim) for claim in _held(trial, obstacle.row) if claim.full_name not in names]
        yield from ((step,) for step in freed[:MOST_FREED])
        if 1 < len(freed) <= MOST_FREED:
            yield tuple(freed)
    yield tuple(_given_up(trial, entry.name) for entry in trial.pod.spec.resource_claims)


def _created_class(name: str) -> Step:
    document = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": {}}
    return creation(document, "device class", f"create device class {name}")


def _is_of_earlier_attempt(trial: Trial, claim: ResourceClaim) -> bool:
    """Return whether the scheduler made a claim for extended resources of the pod in an earlier attempt."""
    owner = claim.metadata.controller
    return EXTENDED_RESOURCE_CLAIM in claim.metadata.annotations and owner is not None and owner.uid == trial.pod.uid


def _deleted(claim: ResourceClaim) -> Step:
    text = f"delete resource claim {claim.full_name}, which is left from an earlier attempt"
    return Step(name_of_object(claim), text, Scope.CLUSTER, "earlier claim", delete=True, rank=Rank.FIX_CLAIM)


def _deallocated(claim: ResourceClaim) -> Step:
    def edit(document: Document) -> None:
        document.get("status", {}).pop("allocation", None)

    text = f"deallocate resource claim {claim.full_name}, which no pod uses"
    return object_step(claim, "deallocate", text, edit, rank=Rank.FIX_CLAIM)


def _fewer_devices(claim: ResourceClaim) -> Iterator[Step]:
    """Yield lower numbers of devices, one step each at first."""
    for request in claim.spec.devices.requests:
        if request.exactly is not None and request.exactly.count > 1:
            yield _counted(claim, request.name, request.exactly.count, request.exactly.count - 1)


def _counted(claim: ResourceClaim, request: str, old: int, less: int) -> Step:
    def edit(document: Document) -> None:
        for each in _requests(document, request):
            each["exactly"]["count"] = old - less

    text = f"lower the devices of request {request} of resource claim {claim.full_name} from {old} to {old - less}"
    step = object_step(claim, "device count", text, edit, less / old, Rank.CHANGE_POD)
    return replace(step, tuned=lambda number: _counted(claim, request, old, number), number=less)


def _any_devices(claim: ResourceClaim) -> Iterator[Step]:
    """Yield the removal of selectors, so that requests demand only the class of a device."""
    for request in claim.spec.devices.requests:
        if request.exactly is not None and request.exactly.selectors:
            text = f"remove the selectors of request {request.name} of resource claim {claim.full_name}"
            yield object_step(claim, "device selector", text, _unselective(request.name), 1.0, Rank.CHANGE_POD)


def _unselective(request: str) -> Edit:
    def edit(document: Document) -> None:
        for each in _requests(document, request):
            each["exactly"].pop("selectors", None)

    return edit


def _requests(document: Document, name: str) -> list[Document]:
    requests = document.get("spec", {}).get("devices", {}).get("requests", ())
    return [each for each in requests if each.get("name") == name]


def _held(trial: Trial, row: int) -> list[ResourceClaim]:
    """Return the claims that hold devices of a node."""
    objects, name = trial.model.cluster.objects, trial.node(row).name
    slices = [each.spec for each in objects.of(ResourceSlice) if each.spec.node_name in (name, "", None)]
    pools = {(spec.driver, spec.pool.name) for spec in slices}
    return [
        claim
        for claim in objects.of(ResourceClaim)
        if claim.status.allocation is not None
        and any((each.driver, each.pool) in pools for each in claim.status.allocation.devices.results)
    ]


def _freed(trial: Trial, claim: ResourceClaim) -> Step:
    users = [user.name for user in claim.status.reserved_for]
    if not users:
        return _deallocated(claim)
    text = f"delete resource claim {claim.full_name} with pod {', '.join(users)}, which uses its devices"
    name = name_of_object(claim)
    return Step(name, text, Scope.OTHERS, "free devices", 1.0, delete=True, rank=Rank.DISTURB_OTHERS)


def _given_up(trial: Trial, name: str) -> Step:
    step = pod_step(trial, "device claim", f"remove resource claim {name} from the pod", _without(name), 2.0)
    return replace(step, rank=Rank.GIVE_UP_CLAIM)


def _without(name: str) -> Edit:
    def edit(document: Document) -> None:
        spec = document.get("spec", {})
        _drop_named(spec, "resourceClaims", name)
        for container in (*spec.get("containers", ()), *spec.get("initContainers", ())):
            _drop_named(container.get("resources", {}), "claims", name)

    return edit


def _drop_named(owner: Document, key: str, name: str) -> None:
    """Remove the entries with a name from a list, and the list if it is then empty."""
    left = [each for each in owner.get(key, ()) if each.get("name") != name]
    if left:
        owner[key] = left
    else:
        owner.pop(key, None)

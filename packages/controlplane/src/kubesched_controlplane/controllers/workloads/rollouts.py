"""The arithmetic of rollouts: the replicas of each replica set of a deployment, and the rollout's progress.

From a deployment and its replica sets, all documents, to numbers. Nothing is written to the server.
"""

# upstream: pkg/controller/deployment/{rolling,sync}.go, pkg/controller/deployment/util/deployment_util.go (v1.36)

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from math import floor
from typing import Final

from kubesched.api.labels import parse_int64
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.times import moment
from kubesched_controlplane.controllers.workloads.conditions import find_condition
from kubesched_controlplane.kinds.workload.rollouts import ROLLING_UPDATE
from kubesched_controlplane.kinds.workload.templates import share_of

REVISION: Final = "deployment.kubernetes.io/revision"
REVISION_HISTORY: Final = "deployment.kubernetes.io/revision-history"
DESIRED_REPLICAS: Final = "deployment.kubernetes.io/desired-replicas"
MOST_REPLICAS: Final = "deployment.kubernetes.io/max-replicas"
TEMPLATE_HASH: Final = "pod-template-hash"
AVAILABLE, PROGRESSING, REPLICA_FAILURE = "Available", "Progressing", "ReplicaFailure"
NEW_SET_AVAILABLE, TIMED_OUT, PAUSED = "NewReplicaSetAvailable", "ProgressDeadlineExceeded", "DeploymentPaused"
FOR_EVER: Final = 2**31 - 1


def annotation(document: Document, name: str) -> str:
    """Return an annotation, an empty text if it is missing."""
    found: str = (document["metadata"].get("annotations") or {}).get(name, "")
    return found


def wanted(document: Document) -> int:
    """Return the wanted replicas of a deployment or replica set."""
    return document["spec"].get("replicas") or 0


def total_wanted(sets: Iterable[Document]) -> int:
    """Return the sum of the sets' wanted replicas."""
    return sum(map(wanted, sets))


def total(sets: Iterable[Document], field: str) -> int:
    """Return the sum of a count in the sets' status."""
    return sum((each.get("status") or {}).get(field) or 0 for each in sets)


def active(sets: Iterable[Document]) -> list[Document]:
    """Return the sets with wanted replicas."""
    return [each for each in sets if wanted(each) > 0]


def revision_of(replicas: Document) -> int | None:
    """Return the revision annotation of a set as a number: 0 if it is missing, None if it is not a number."""
    text = annotation(replicas, REVISION)
    return parse_int64(text) if text else 0


def by_age(sets: Iterable[Document]) -> list[Document]:
    """Return the sets sorted by age, the oldest first."""
    return sorted(sets, key=lambda each: (each["metadata"]["creationTimestamp"], each["metadata"]["name"]))


# -- which set is the new one


def template_of(document: Document) -> Document:
    """Return the template of a deployment or of one of its sets, without the label pod-template-hash."""
    template: Document = document["spec"]["template"]
    meta = template.get("metadata") or {}
    labels = {key: value for key, value in (meta.get("labels") or {}).items() if key != TEMPLATE_HASH}
    rest = {field: value for field, value in meta.items() if field != "labels"}
    return {"metadata": {**rest, "labels": labels}, "spec": template["spec"]}


def new_set(deployment: Document, sets: Iterable[Document]) -> Document | None:
    """Return the set with a deployment's template, the oldest if there are several."""
    template = template_of(deployment)
    return next((each for each in by_age(sets) if template_of(each) == template), None)


# -- sizes


def is_rolling(deployment: Document) -> bool:
    """Return whether the strategy of a deployment is RollingUpdate."""
    kind: str = deployment["spec"]["strategy"]["type"]
    return kind == ROLLING_UPDATE


def surge_and_shortage(deployment: Document) -> tuple[int, int]:
    """Return maxSurge and maxUnavailable as numbers of pods, not both 0; both 0 without replicas to roll."""
    if not is_rolling(deployment) or not wanted(deployment):
        return 0, 0
    rolling = deployment["spec"]["strategy"]["rollingUpdate"]
    surge = share_of(rolling["maxSurge"], wanted(deployment), round_up=True)
    shortage = share_of(rolling["maxUnavailable"], wanted(deployment), round_up=False)
    if not surge and not shortage:
        shortage = 1
    return surge, min(shortage, wanted(deployment))


def most_surge(deployment: Document) -> int:
    """Return maxSurge as a number of pods, 0 unless the deployment is rolling."""
    if not is_rolling(deployment):
        return 0
    return share_of(deployment["spec"]["strategy"]["rollingUpdate"]["maxSurge"], wanted(deployment), round_up=True)


def most_replicas(deployment: Document) -> int:
    """Return the most pods that a deployment may have during a rollout."""
    return wanted(deployment) + most_surge(deployment)


def new_set_size(deployment: Document, sets: Iterable[Document], replicas: Document) -> int:
    """Return the replicas that the new set may have now; `sets` are all sets, the new one among them."""
    if not is_rolling(deployment):
        return wanted(deployment)
    room = most_replicas(deployment) - total_wanted(sets)
    if room <= 0:
        return wanted(replicas)
    return wanted(replicas) + min(room, wanted(deployment) - wanted(replicas))


def old_set_sizes(deployment: Document, old: Sequence[Document], new: Document) -> list[tuple[Document, int]]:
    """Return the old sets that can be scaled down now, with their new size: unavailable pods first."""
    everything = [*old, new]
    least = wanted(deployment) - surge_and_shortage(deployment)[1]
    available = (new.get("status") or {}).get("availableReplicas") or 0
    most = total_wanted(everything) - least - (wanted(new) - available)
    if total_wanted(old) == 0 or most <= 0:
        return []
    sizes = {each["metadata"]["name"]: wanted(each) for each in old}
    cleaned = 0
    for each in by_age(old):
        useless = wanted(each) - ((each.get("status") or {}).get("availableReplicas") or 0)
        if cleaned < most and wanted(each) and useless > 0:
            count = min(most - cleaned, useless)
            sizes[each["metadata"]["name"]] -= count
            cleaned += count
    spare = total(everything, "availableReplicas") - least
    for each in by_age(old):
        name = each["metadata"]["name"]
        if spare > 0 and sizes[name]:
            count = min(sizes[name], spare)
            sizes[name] -= count
            spare -= count
    return [(each, sizes[each["metadata"]["name"]]) for each in old if sizes[each["metadata"]["name"]] != wanted(each)]


def proportional_sizes(deployment: Document, sets: Sequence[Document]) -> list[tuple[Document, int]]:
    """Return the new size of each set when a deployment is scaled during a rollout, in proportion to its size."""
    allowed = most_replicas(deployment) if wanted(deployment) > 0 else 0
    to_add = allowed - total_wanted(sets)
    ages = {each["metadata"]["name"]: number for number, each in enumerate(by_age(sets))}
    # the largest set first; of equal sets the newest is scaled up first, the oldest scaled down first
    direction = -1 if to_add > 0 else 1
    ordered = sorted(sets, key=lambda each: (-wanted(each), direction * ages[each["metadata"]["name"]]))
    if not to_add:
        return [(each, wanted(each)) for each in ordered]
    sizes, added = [], 0
    for each in ordered:
        share = _proportion(deployment, each, to_add, added)
        sizes.append(wanted(each) + share)
        added += share
    if sizes:
        sizes[0] = max(0, sizes[0] + to_add - added)
    return list(zip(ordered, sizes, strict=True))


def _proportion(deployment: Document, replicas: Document, to_add: int, added: int) -> int:
    allowed = to_add - added
    if not wanted(replicas) or not to_add or not allowed:
        return 0
    fraction = _fraction(deployment, replicas)
    return min(fraction, allowed) if to_add > 0 else max(fraction, allowed)


def _fraction(deployment: Document, replicas: Document) -> int:
    """Return the change of a set's replicas that keeps its share of the deployment."""
    if not wanted(deployment):
        return -wanted(replicas)
    before = whole_annotation(replicas, MOST_REPLICAS) or (deployment.get("status") or {}).get("replicas") or 0
    if not before:
        return 0
    return floor(wanted(replicas) * most_replicas(deployment) / before + 0.5) - wanted(replicas)


def whole_annotation(document: Document, name: str) -> int | None:
    """Return an annotation as a number from 0 to the largest int32, None if it is not one."""
    number = parse_int64(annotation(document, name))
    return number if number is not None and 0 <= number <= FOR_EVER else None


def is_saturated(deployment: Document, replicas: Document) -> bool:
    """Return whether a set has all replicas of its deployment, and all are available."""
    count = wanted(deployment)
    available = (replicas.get("status") or {}).get("availableReplicas") or 0
    return wanted(replicas) == count == available and whole_annotation(replicas, DESIRED_REPLICAS) == count


def active_or_latest(new: Document | None, old: Sequence[Document]) -> Document | None:
    """Return the only set with wanted replicas, or the newest set if none has any; None if several have."""
    everything = [*reversed(by_age(old)), *([new] if new is not None else ())]
    found = active(everything)
    if len(found) == 1:
        return found[0]
    if found or not everything:
        return None
    return new if new is not None else everything[0]


# -- progress


def is_complete(deployment: Document, status: Document) -> bool:
    """Return whether a rollout is complete: all pods are updated and available, and no old pods are left."""
    fields = ("updatedReplicas", "replicas", "availableReplicas")
    return all((status.get(field) or 0) == wanted(deployment) for field in fields) and (
        status.get("observedGeneration") or 0
    ) >= (deployment["metadata"].get("generation") or 0)


def gets_on(before: Document, status: Document) -> bool:
    """Return whether a rollout progressed: fewer old pods, or more updated, ready or available ones than before."""

    def count(of: Document, field: str) -> int:
        return of.get(field) or 0

    old = count(status, "replicas") - count(status, "updatedReplicas")
    old_before = count(before, "replicas") - count(before, "updatedReplicas")
    return old < old_before or any(
        count(status, field) > count(before, field)
        for field in ("updatedReplicas", "readyReplicas", "availableReplicas")
    )


def has_deadline(deployment: Document) -> bool:
    """Return whether a deployment has a progress deadline."""
    return deployment["spec"].get("progressDeadlineSeconds") not in (None, FOR_EVER)


def deadline(deployment: Document, condition: Document) -> datetime:
    """Return the progress deadline of a deployment, counted from the last update of its Progressing condition."""
    seconds = timedelta(seconds=deployment["spec"]["progressDeadlineSeconds"])
    return moment(condition.get("lastUpdateTime") or deployment["metadata"]["creationTimestamp"]) + seconds


def has_timed_out(deployment: Document, status: Document, now: datetime) -> bool:
    """Return whether a deployment has exceeded its progress deadline."""
    condition = find_condition(status, PROGRESSING)
    if condition is None or condition.get("reason") == NEW_SET_AVAILABLE:
        return False
    return condition.get("reason") == TIMED_OUT or deadline(deployment, condition) < now

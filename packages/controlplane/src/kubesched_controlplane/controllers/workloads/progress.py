"""The status of deployments: replicas, availability and progress.

From a deployment and its replica sets to the deployment's status, which is changed in place.
"""

# upstream: pkg/controller/deployment/{progress,sync}.go (v1.36)

from collections.abc import Sequence
from datetime import datetime

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.controllers.workloads import rollouts
from kubesched_controlplane.controllers.workloads.conditions import drop_condition, find_condition, set_condition
from kubesched_controlplane.controllers.workloads.owning import counts
from kubesched_controlplane.controllers.workloads.rollouts import (
    AVAILABLE,
    PAUSED,
    PROGRESSING,
    REPLICA_FAILURE,
    wanted,
)


def note_progress(deployment: Document, now: datetime, state: str, reason: str, message: str) -> None:
    """Set the Progressing condition of a deployment."""
    set_condition(deployment["status"], _condition(PROGRESSING, now, state, reason, message))


def _condition(kind: str, now: datetime, state: str, reason: str, message: str) -> Document:
    times = {"lastUpdateTime": timestamp(now), "lastTransitionTime": timestamp(now)}
    return {"type": kind, "status": state, **times, "reason": reason, "message": message}


def note_pause(deployment: Document, now: datetime) -> None:
    """Set the Progressing condition of a paused or resumed deployment, so that its progress deadline starts anew."""
    condition = find_condition(deployment["status"], PROGRESSING) or {}
    if not rollouts.has_deadline(deployment) or condition.get("reason") == rollouts.TIMED_OUT:
        return
    paused = bool(deployment["spec"].get("paused"))
    if paused and condition.get("reason") != PAUSED:
        note_progress(deployment, now, "Unknown", PAUSED, "Deployment is paused")
    elif not paused and condition.get("reason") == PAUSED:
        note_progress(deployment, now, "Unknown", "DeploymentResumed", "Deployment is resumed")


def count_pods(deployment: Document, new: Document | None, old: Sequence[Document], now: datetime) -> None:
    """Set the replica counts and the Available condition of a deployment."""
    news = [new] if new is not None else []
    sets = [*old, *news]
    available = rollouts.total(sets, "availableReplicas")
    status: Document = {
        **counts(
            observedGeneration=deployment["metadata"].get("generation") or 0,
            replicas=rollouts.total(sets, "replicas"),
            updatedReplicas=rollouts.total(news, "replicas"),
            readyReplicas=rollouts.total(sets, "readyReplicas"),
            availableReplicas=available,
            unavailableReplicas=max(0, rollouts.total_wanted(sets) - available),
        ),
        "terminatingReplicas": rollouts.total(sets, "terminatingReplicas"),
    }
    for field in ("collisionCount", "conditions"):
        if deployment["status"].get(field) is not None:
            status[field] = deployment["status"][field]
    if available >= wanted(deployment) - rollouts.surge_and_shortage(deployment)[1]:
        words = ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    else:
        words = ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    set_condition(status, _condition(AVAILABLE, now, *words))
    deployment["status"] = status


def report(deployment: Document, new: Document | None, old: Sequence[Document], now: datetime) -> None:
    """Set the counts and the conditions Available, Progressing and ReplicaFailure of a deployment."""
    before = deployment["status"]
    count_pods(deployment, new, old, now)
    _report_progress(deployment, before, new, now)
    status = deployment["status"]
    news = [new] if new is not None else []
    failures = [find_condition(each.get("status") or {}, REPLICA_FAILURE) for each in (*news, *old)]
    failure = next((each for each in failures if each is not None), None)
    if failure is None:
        drop_condition(status, REPLICA_FAILURE)
    else:
        set_condition(status, {**failure, "lastUpdateTime": failure.get("lastTransitionTime")})


def _report_progress(deployment: Document, before: Document, new: Document | None, now: datetime) -> None:
    status, current = deployment["status"], find_condition(before, PROGRESSING) or {}
    if not rollouts.has_deadline(deployment):
        drop_condition(status, PROGRESSING)
        return
    if current.get("reason") == rollouts.NEW_SET_AVAILABLE and status.get("replicas") == status.get("updatedReplicas"):
        # no rollout is in progress
        return
    name = f'ReplicaSet "{new["metadata"]["name"]}"' if new else f'Deployment "{deployment["metadata"]["name"]}"'
    if rollouts.is_complete(deployment, status):
        words = ("True", rollouts.NEW_SET_AVAILABLE, f"{name} has successfully progressed.")
        note_progress(deployment, now, *words)
    elif rollouts.gets_on(before, status):
        condition = _condition(PROGRESSING, now, "True", "ReplicaSetUpdated", f"{name} is progressing.")
        if current.get("status") == "True":
            condition["lastTransitionTime"] = current.get("lastTransitionTime")
        # removed first, so that lastUpdateTime is set even if status and reason are unchanged
        drop_condition(status, PROGRESSING)
        set_condition(status, condition)
    elif rollouts.has_timed_out(deployment, status, now):
        note_progress(deployment, now, "False", rollouts.TIMED_OUT, f"{name} has timed out progressing.")


def seconds_to_deadline(deployment: Document, now: datetime) -> float | None:
    """Return the seconds until the progress deadline of a deployment, None if no deadline applies."""
    status = deployment["status"]
    condition = find_condition(status, PROGRESSING)
    if condition is None or not rollouts.has_deadline(deployment) or condition.get("reason") == rollouts.TIMED_OUT:
        return None
    if rollouts.is_complete(deployment, status):
        return None
    left = (rollouts.deadline(deployment, condition) - now).total_seconds()
    # a second more, since timestamps have no fractions
    return max(left, 0.0) + 1.0

"""Why pods of a workload are pending, and where its other pods are.

From a model and the name of a workload to a `WorkloadAnswer`. Pending pods are grouped by cause as in a triage,
together with all other pending pods. For a workload without pods, the answer is about its next pod.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.model.cluster_model import ClusterModel
from kubesched.reports.plain_words import number
from kubesched_answers.explain.explain_template import explain_next
from kubesched_answers.explain.triage import NOT_PLACED, pending_groups
from kubesched_answers.templates.workload_template import WorkloadTemplate
from kubesched_answers.whatif.trial import WhatIfTrial
from kubesched_answers.whatif.workloads import NamedObject, Workloads
from kubesched_answers.workloads.workload_answer import PodsOnNode, WorkloadAnswer

DAEMON_SET: Final = "DaemonSet"
ZONE: Final = "topology.kubernetes.io/zone"
# kinds whose documents have a wanted number of pods
_REPLICATED: Final = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")


def explain_workload(model: ClusterModel, named: NamedObject, now: datetime | None = None) -> WorkloadAnswer:
    """Return the answer about a workload; raises UnknownObjectError."""
    workloads = Workloads(WhatIfTrial(model))
    workload = workloads.find(named)
    pods = workloads.pods(workload)
    on_nodes = _on_nodes(model, pods)
    placed = sum(len(each.pods) for each in on_nodes)
    waiting = [pod.full_name for pod in pods if not pod.spec.node_name]
    groups = pending_groups(model, waiting, now) if waiting else []
    template = None
    if not pods or workload.kind == DAEMON_SET:
        template = workloads.template(workload, pods)
    matched = _matched(model, template) if template is not None and template.per_node else None
    covered = {each.node for each in on_nodes}
    answer = WorkloadAnswer(
        str(workload),
        "",
        wanted=len(matched) if matched is not None else _wanted(workloads, workload),
        pods=len(pods),
        placed=placed,
        groups=tuple(group for group in groups if group.verdict in NOT_PLACED),
        others=tuple(group for group in groups if group.verdict not in NOT_PLACED),
        nodes=on_nodes,
        missing_on=tuple(name for name in matched or () if name not in covered),
        template=explain_next(model, template, matched or ()) if template is not None and not pods else None,
        gaps=model.gaps,
    )
    return replace(answer, summary=_summary(answer))


def _on_nodes(model: ClusterModel, pods: Iterable[PodInfo]) -> tuple[PodsOnNode, ...]:
    """Return the nodes with pods, those with most first."""
    by_node: dict[str, list[str]] = {}
    for pod in pods:
        if pod.spec.node_name:
            by_node.setdefault(pod.spec.node_name, []).append(pod.full_name)
    found = [PodsOnNode(node, _zone(model, node), tuple(names)) for node, names in by_node.items()]
    return tuple(sorted(found, key=lambda each: (-len(each.pods), each.node)))


def _zone(model: ClusterModel, name: str) -> str:
    row = model.cluster.table.row_of.get(name)
    node = model.cluster.table.nodes[row] if row is not None else None
    return node.metadata.labels.get(ZONE, "") if node is not None else ""


def _wanted(workloads: Workloads, workload: NamedObject) -> int | None:
    document = workloads.documents.get(workload)
    if document is None or workload.kind not in _REPLICATED:
        return None
    replicas = document["spec"].get("replicas", 1)
    return replicas if isinstance(replicas, int) else None


def _matched(model: ClusterModel, template: WorkloadTemplate) -> list[str]:
    """Return the nodes that a DaemonSet runs on, by name."""
    return sorted(node.name for node in model.cluster.table.nodes if node is not None and template.wants(node))


# -- sentences


def _summary(answer: WorkloadAnswer) -> str:
    sentences = [_has(answer), *_missing(answer)]
    if answer.groups:
        count = sum(group.pods for group in answer.groups)
        why = answer.groups[0].cause if len(answer.groups) == 1 else f"for {len(answer.groups)} causes"
        fit = "does not fit" if count == 1 else "do not fit"
        sentences.append(f"{count:,} {fit}{':' if len(answer.groups) == 1 else ','} {why}.")
    if answer.template is not None:
        sentences.append(f"Its next pod: {answer.template.summary}")
    return " ".join(sentences)


def _has(answer: WorkloadAnswer) -> str:
    if not answer.pods:
        return f"{answer.workload} has no pods."
    pending = answer.pods - answer.placed
    placed = f"{answer.placed:,} on {number(len(answer.nodes), 'node')}" if answer.placed else ""
    waiting = f"{pending:,} pending" if pending else ""
    return f"{answer.workload} has {number(answer.pods, 'pod')}: {', '.join(filter(None, (placed, waiting)))}."


def _missing(answer: WorkloadAnswer) -> Sequence[str]:
    """Return how many pods its controller has not created."""
    missing = (answer.wanted or 0) - answer.pods
    if missing <= 0:
        return ()
    wants = f"It wants {number(answer.wanted or 0, 'pod')}"
    return (f"{wants}; {missing:,} {'has' if missing == 1 else 'have'} not been created.",)

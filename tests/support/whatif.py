"""Clusters to ask `whatif` about, and what a trial must not break.

From a few numbers to clusters with budgets, zones and pods of several owners, for Hypothesis.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from kubesched.api.meta import ApiObject
from kubesched.api.policy import PodDisruptionBudget, PodDisruptionBudgetSpec
from kubesched.core.cluster.comparison import content
from kubesched.model.cluster_model import ClusterModel
from kubesched.testing import a_budget, a_node, a_pod, a_spread, an_affinity
from kubesched_answers.whatif.whatif_answer import NEW, NEW_PENDING, PodChange, WhatIfAnswer

APPS = ("red", "green", "blue")


@st.composite
def clusters(draw: st.DrawFn) -> list[ApiObject]:
    """Draw nodes, pods with and without nodes, and budgets."""
    nodes = [
        a_node(
            f"n{number}",
            cpu=draw(st.sampled_from(["2", "4"])),
            memory="8Gi",
            zone="ab"[number % 2],
            taints=["spot=yes:NoSchedule"] if draw(st.integers(0, 9)) == 0 else [],
        )
        for number in range(draw(st.integers(2, 5)))
    ]
    free = {node.name: 1000 * int(node.status.allocatable["cpu"]) for node in nodes}
    pods = []
    for number in range(draw(st.integers(0, 12))):
        cpu = draw(st.sampled_from([250, 500, 1000, 1500]))
        node = draw(st.sampled_from(["", *free]))
        if node and free[node] < cpu:
            node = ""
        if node:
            free[node] -= cpu
        pods.append(_a_pod(draw, number, cpu, node))
    budgets = [a_budget(app, f"app={app}", allowed=draw(st.integers(0, 2))) for app in APPS if draw(st.booleans())]
    return [*nodes, *pods, *budgets]


def _a_pod(draw: st.DrawFn, number: int, cpu: int, node: str) -> ApiObject:
    app = draw(st.sampled_from(APPS))
    kind = draw(st.sampled_from(["ReplicaSet", "ReplicaSet", "ReplicaSet", "DaemonSet", ""]))
    extra: dict[str, Any] = draw(
        st.sampled_from(
            [
                {},
                {},
                {"spread": a_spread("zone", f"app={app}")},
                {"affinity": an_affinity(apart=f"app={app}@host")},
                {"ports": [8080]},
                {"tolerations": ["spot=yes:NoSchedule"]},
            ]
        )
    )
    return a_pod(
        f"p{number:02}",
        cpu=f"{cpu}m",
        labels={"app": app},
        owner=f"{kind}/{app}" if kind else None,
        node=node,
        priority=draw(st.sampled_from([0, 0, 0, 10])),
        created=f"2026-01-01T00:00:{number:02}+00:00",
        **extra,
    )


def state_of(model: ClusterModel) -> dict[str, Any]:
    """Return what a model holds: columns, pods, budgets, and the verdict on each pending pod."""
    for label in ("topology.kubernetes.io/zone", "kubernetes.io/hostname"):
        # columns of labels are made when they are asked for
        model.cluster.table.label(label)
    verdicts = {}
    for pod in model.cluster.pending.values():
        evaluation = model.engine.evaluation_of(pod)
        verdicts[pod.full_name] = sorted(
            (model.cluster.table.names[row], str(evaluation.verdicts().status(row)))
            for row in model.cluster.table.present_rows().tolist()
        )
    return {
        **content(model.cluster),
        "rows": dict(model.cluster.table.row_of),
        "known pods": {name: (pod.uid, pod.spec.node_name) for name, pod in model.pods.items()},
        "objects": {
            kind: sorted(map(repr, model.cluster.objects.named(kind))) for kind in model.cluster.objects.kinds()
        },
        "verdicts": verdicts,
    }


def of_pods(changes: Iterable[PodChange]) -> dict[str, str]:
    """Return what becomes of each pod, in a few words; new pods are numbered by owner, since their names are drawn."""
    found: dict[str, str] = {}
    numbers: Counter[str] = Counter()
    for change in sorted(changes, key=lambda each: (each.change, each.to_node or "", each.pod)):
        name = change.pod.partition("/")[2]
        kind, _, base = (change.owner or "").partition(" ")
        base = base.rpartition("/")[2]
        if change.change in (NEW, NEW_PENDING) and kind not in ("", "StatefulSet"):
            name = f"new {base} {numbers[base]}"
            numbers[base] += 1
        where = [change.change, change.from_node, change.to_node and f"to {change.to_node}"]
        found[name] = " ".join(filter(None, where))
    return found


def a_kept_budget(name: str, selector: str, **spec: int | str) -> PodDisruptionBudget:
    """Return a budget with `min_available` or `max_unavailable`, as its controller counts it."""
    made = a_budget(name, selector)
    return replace(made, spec=PodDisruptionBudgetSpec(selector=made.spec.selector, **spec))  # type: ignore[arg-type]


def by_pod(answer: WhatIfAnswer) -> dict[str, PodChange]:
    """Return the changes by the pods' names, without their namespace."""
    return {change.pod.partition("/")[2]: change for change in answer.changes}

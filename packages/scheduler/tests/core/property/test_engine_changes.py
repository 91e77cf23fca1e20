"""Columns that were caught up equal columns made from scratch: everything that can change, at uneven times.

Beyond `test_engine`: two profiles with other arguments on one cluster, pods that are asked about only now and then (so
that questions fall behind by different amounts), a log that forgets early, more rows changed at once than are caught
up one by one, a table that outgrows its arrays, namespaces and owners that change, pods that move between pending,
nominated, assumed and placed.
"""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.pod_templates import TEMPLATES as COMMON_TEMPLATES

from kubesched.api.meta import ApiObject, LabelSelector, LabelSelectorRequirement
from kubesched.api.pods import Pod, PodAffinityTerm
from kubesched.conformance.results import Judge
from kubesched.core.assembly import build_engine
from kubesched.core.cluster import changes, table
from kubesched.core.cluster.comparison import content, differences, rebuilt, refill
from kubesched.core.framework.values.status import Status
from kubesched.core.scheduling.engine import Engine
from kubesched.testing import (
    a_budget,
    a_namespace,
    a_node,
    a_pod,
    a_replica_set,
    a_service,
    a_spread,
    a_term,
    an_affinity,
)

PROFILES = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: packing
  plugins:
    multiPoint:
      disabled: [{name: ImageLocality}]
    score:
      enabled: [{name: ImageLocality, weight: 7}]
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources: [{name: cpu, weight: 3}, {name: example.com/gpu, weight: 2}]
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 40, ignorePreferredTermsOfExistingPods: true}
  - name: NodeAffinity
    args:
      addedAffinity:
        preferredDuringSchedulingIgnoredDuringExecution:
        - {weight: 3, preference: {matchExpressions: [{key: disk, operator: Exists}]}}
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
      - {maxSkew: 2, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}
"""
SCHEDULERS = ("default-scheduler", "packing")

NODES: list[dict[str, Any]] = [
    {"cpu": "2", "memory": "4Gi", "zone": "a"},
    {"cpu": "2", "memory": "4Gi", "zone": "b", "labels": {"disk": "ssd"}},
    {"cpu": "4", "memory": "2Gi", "zone": "a", "taints": ["dedicated=batch:NoSchedule"]},
    {"cpu": "1", "memory": "8Gi", "zone": "c", "taints": ["spot=yes:PreferNoSchedule"], "pods": 2},
    {"cpu": "8", "memory": "16Gi", "unschedulable": True, "zone": "b"},
    {"cpu": "4", "memory": "8Gi", "allocatable": {"example.com/gpu": "2"}, "images": {"web:1": 400_000_000}},
    {"cpu": "4", "memory": "8Gi", "zone": "", "hostname": False, "images": {"web:1": 600_000_000, "db:2": 90_000_000}},
    {"cpu": "4", "memory": "8Gi", "zone": "a", "features": ["RestartAllContainersOnContainerExits"]},
    {"cpu": "4", "memory": "8Gi", "zone": "a", "labels": {"disk": "hdd", "cores": "8"}},
]
# a selector that does not parse
BAD = LabelSelector(match_expressions=(LabelSelectorRequirement(key="a", operator="Nope"),))
TEMPLATES: list[dict[str, Any]] = [
    *COMMON_TEMPLATES,
    {
        "labels": {"app": "web", "v": "2"},
        "spread": a_spread("zone", "app=web", match_label_keys=["v"], min_domains=2, taints_policy="Honor"),
        "node_selector": {},
        "priority": 5,
    },
    {
        "labels": {"app": "db", "v": "1"},
        "spread": (
            a_spread("zone", "app=db", soft=True, affinity_policy="Ignore"),
            a_spread("hostname", "app in (db,web)", max_skew=2),
        ),
        "affinity": an_affinity(nodes="disk"),
    },
    {
        "labels": {"team": "x"},
        "namespace": "other",
        "affinity": an_affinity(apart=a_term("app=web", "zone", namespace_selector="team=core")),
    },
    {
        "labels": {"app": "web"},
        "namespace": "other",
        "affinity": an_affinity(
            prefer_near=(7, a_term("app", "zone", namespace_selector="!old")),
            near=a_term("app=web", "zone", namespaces=["default"], namespace_selector="team=core"),
        ),
    },
    {"affinity": an_affinity(nodes=["metadata.name=n1", "metadata.name=n2"]), "cpu": "500m", "image": "db:2"},
    {"affinity": an_affinity(apart=PodAffinityTerm(label_selector=BAD, topology_key="zone")), "cpu": "500m"},
    {"priority": -5, "cpu": "1", "labels": {"app": "web"}, "ports": ["10.0.0.1:8081"]},
    {
        "labels": {"app": "db"},
        "spread": (a_spread("zone", "app=db"), a_spread("hostname", "app=db")),
        "host_network": True,
        "host_users": False,
    },
]

index = st.integers(0, 5)
template = st.integers(0, len(TEMPLATES) - 1)
pod_number = st.integers(0, 9)
CHANGES = st.one_of(
    st.tuples(st.just("node"), index, st.integers(0, len(NODES) - 1)),
    st.tuples(st.just("node"), index, st.integers(0, len(NODES) - 1)),
    st.tuples(st.just("no node"), index),
    st.tuples(st.just("pod"), pod_number, template, index, st.booleans()),
    st.tuples(st.just("pod"), pod_number, template, index, st.just(False)),
    st.tuples(st.just("no pod"), pod_number),
    st.tuples(st.just("finished"), pod_number, template, index),
    st.tuples(st.just("nominated"), pod_number, template, index),
    st.tuples(st.just("pending"), pod_number, template),
    st.tuples(st.just("service"), st.integers(0, 2)),
    st.tuples(st.just("replica set"), st.integers(0, 3)),
    st.tuples(st.just("namespace"), st.sampled_from(["default", "other"]), st.integers(0, 3)),
    st.tuples(st.just("budget"), st.integers(0, 1), st.integers(0, 3)),
    st.tuples(st.just("assume"), pod_number, template, index, st.booleans()),
    st.tuples(st.just("passing"), st.integers(0, 40), st.integers(0, len(NODES) - 1)),
    st.tuples(st.just("crowd"), st.integers(0, 2), st.sampled_from([5, 30, 70])),
    st.tuples(st.just("many pods"), template, st.sampled_from([3, 30])),
)
ASK = st.tuples(st.just("ask"), template, st.integers(0, 1))
SCRIPTS = st.lists(st.one_of(CHANGES, CHANGES, ASK), min_size=1, max_size=30)


def the_pod(number: int, kind: int, **more: Any) -> Pod:
    """Return one of the pods that come and go; it keeps its UID whatever becomes of it."""
    words = {**TEMPLATES[kind], **more}
    if "ports" in words:
        # two pods of one node cannot have one port: the first to go would free it, as in the reference
        words["ports"] = [8080 + number]
    return a_pod(f"b{number}", uid=f"u{number}", **words)


def apply(engine: Engine, change: tuple[Any, ...]) -> None:
    """Carry out one change of a script."""
    cluster = engine.cluster
    match change:
        case "node", number, variant:
            cluster.add(a_node(f"n{number}", **NODES[variant]))
        case "no node", number:
            cluster.table.remove_node(f"n{number}")
        case "pod", number, kind, node, terminating:
            start = f"2024-01-0{number % 4 + 1}T00:00:00+00:00"
            cluster.add(the_pod(number, kind, node=f"n{node}", terminating=terminating, start=start))
        case "no pod", number:
            cluster.remove_pod(f"u{number}")
        case "finished", number, kind, node:
            cluster.add(the_pod(number, kind, node=f"n{node}", phase="Succeeded"))
        case "nominated", number, kind, node:
            cluster.add(the_pod(number, kind, nominated=f"n{node}"))
        case "pending", number, kind:
            cluster.add(the_pod(number, kind))
        case "service", which:
            obj: ApiObject = a_service("web", {"app": "web"} if which == 1 else {"app": "db"})
            (cluster.add if which else cluster.remove)(obj)
        case "replica set", which:
            obj = a_replica_set("web", [{"app": "web"}, {"app": "web"}, {"app": "db"}, BAD][which])
            (cluster.add if which else cluster.remove)(obj)
        case "namespace", name, which:
            obj = a_namespace(name, labels=[{}, {"team": "core"}, {"old": "yes"}, {}][which])
            (cluster.add if which else cluster.remove)(obj)
        case "budget", number, which:
            obj = a_budget(f"b{number}", [None, "app=web", "app in (web,db)", BAD][which], allowed=number)
            (cluster.add if which else cluster.remove)(obj)
        case "assume", number, kind, node, back:
            uid = f"u{number}"
            cluster.remove_pod(uid)
            cluster.add(the_pod(number, kind))
            placed = cluster.assume(cluster.pending[uid], f"n{node}")
            if back:
                cluster.forget(placed)
        case "passing", number, variant:
            words = {**NODES[variant], "zone": f"z{number}", "taints": [f"t{number}=x:PreferNoSchedule"]}
            for _ in range(2):
                cluster.add(a_node(f"s{number}", **words))
                cluster.table.remove_node(f"s{number}")
        case "crowd", variant, count:
            for number in range(count):
                cluster.add(a_node(f"m{number}", **NODES[(variant + number) % 3]))
        case "many pods", kind, count:
            words = {key: value for key, value in TEMPLATES[kind].items() if key != "ports"}
            for number in range(count):
                cluster.add(a_pod(f"c{number}", node=f"m{number}" if number % 4 else f"n{number % 6}", **words))
        case "ask", kind, scheduler:
            answers(engine, kind, SCHEDULERS[scheduler])


def answers(engine: Engine, kind: int, scheduler: str) -> tuple[Any, dict[str, Any]]:
    """Return the nodes that a scheduling cycle would choose from, and everything else there is to say."""
    pod = engine.cluster.reader.read(a_pod("p", **{**TEMPLATES[kind], "scheduler": scheduler}))
    evaluation = engine.evaluation_of(pod)
    best: Any = None
    if evaluation.pre_filtered.rejection is None and evaluation.feasible().count:
        best = evaluation.best_rows()
        if not isinstance(best, Status):
            best = sorted(engine.cluster.table.names[row] for row in best.tolist())
    return best, Judge(engine.profiles[scheduler], engine.evaluation_of(pod)).judge()


@pytest.fixture(params=[None, 6], ids=["whole log", "short log"])
def log_capacity(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the change log forget early, so that readers fall off its end, and codes be numbered anew all the time."""
    if request.param:
        monkeypatch.setattr(changes, "CAPACITY", request.param)
        monkeypatch.setattr(table, "SPARE_CODES", -20)


@settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
@pytest.mark.usefixtures("log_capacity")
@given(SCRIPTS)
def test_cached_evaluation_equals_evaluation_from_scratch(script: list[tuple[Any, ...]]) -> None:
    engine = build_engine(PROFILES)
    for turn, change in enumerate(script):
        apply(engine, change)
        if turn + 1 < len(script) and turn % 8 != 7:
            continue
        fresh = build_engine(PROFILES)
        refill(fresh.cluster, engine.cluster)
        for kind in range(len(TEMPLATES)):
            for scheduler in SCHEDULERS:
                assert answers(engine, kind, scheduler) == answers(fresh, kind, scheduler), (
                    f"template {kind} of {scheduler} after {script[: turn + 1]}"
                )
    other = rebuilt(engine.cluster)
    for column in engine.cluster.table.label_columns():
        other.table.label(column.key)
    assert list(differences(content(engine.cluster), content(other))) == []

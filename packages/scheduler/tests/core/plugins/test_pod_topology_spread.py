"""PodTopologySpread, rule by rule: a sentence, a cluster, a pod, and what becomes of the nodes."""

from typing import Any

import numpy as np
import pytest
from tests.support.asking import hint

from kubesched.api.labels import InvalidSelectorError
from kubesched.api.meta import ApiObject, LabelSelector, LabelSelectorRequirement
from kubesched.api.nodes import Node
from kubesched.api.owners import (
    ReplicaSet,
    ReplicasStatus,
    ReplicationController,
    ReplicationControllerSpec,
    StatefulSet,
    StatefulSetSpec,
)
from kubesched.api.pods import Pod
from kubesched.config.args import PodTopologySpreadArgs
from kubesched.config.args import TopologySpreadConstraint as DefaultConstraint
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.columns.questions import Feasible
from kubesched.core.framework.values.events import Action, Hint, Resource
from kubesched.core.framework.values.status import Code, Status, StatusTable
from kubesched.core.plugins.pod_topology_spread import PodTopologySpread
from kubesched.testing import (
    a_cluster,
    a_node,
    a_pod,
    a_replica_set,
    a_selector,
    a_service,
    a_spread,
    an_affinity,
)

GATES = FeatureGates({"TaintTolerationComparisonOperators": True})
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
NODES = (a_node("a1", zone="a"), a_node("a2", zone="a"), a_node("b1", zone="b"), a_node("bare"))
WEB = {"app": "web"}
MALFORMED = LabelSelector(match_expressions=(LabelSelectorRequirement(key="app", operator="Bogus"),))
REASON = "node(s) didn't match pod topology spread constraints"
TEXTS = {
    (Code.UNSCHEDULABLE, REASON): "uneven",
    (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, f"{REASON} (missing required label)"): "label",
}
SPREAD = a_spread("zone", "app=web")
NO_DEFAULTS = PodTopologySpreadArgs(defaulting_type="List")


def web(name: str, node: str, **more: Any) -> Pod:
    return a_pod(name, node=node, labels=WEB, **more)


def built(cluster: ClusterState, args: PodTopologySpreadArgs | None = None, **gates: bool) -> PodTopologySpread:
    return PodTopologySpread(args, cluster, FeatureGates(gates) if gates else GATES)


def judged(cluster: ClusterState, pod: Pod, args: PodTopologySpreadArgs | None = None, **gates: bool) -> Any:
    """Return the rule that each rejected node breaks, PreFilter's rejection, or `skip`."""
    statuses = StatusTable()
    question = built(cluster, args, **gates).filter_question(cluster.reader.read(pod), statuses)
    question.begin()
    if question.skip or question.rejection is not None:
        return "skip" if question.skip else question.rejection
    found = [statuses[index] for index in question.judge(cluster.table.present_rows())]
    names = [cluster.table.names[row] for row in cluster.table.present_rows()]
    return {
        name: TEXTS[status.code, status.message] for name, status in zip(names, found, strict=True) if not status.ok
    }


def scored(
    cluster: ClusterState, pod: Pod, args: PodTopologySpreadArgs | None = None, feasible: str = ""
) -> tuple[dict[str, int], dict[str, int]] | Status | str:
    """Return raw and normalised scores of the feasible nodes (all, unless named), an error, or `skip`."""
    question = built(cluster, args).score_question(cluster.reader.read(pod))
    table = cluster.table
    wanted = feasible.split() or [table.names[row] for row in table.present_rows()]
    mask = np.zeros(table.size, np.bool_)
    mask[[table.row_of[name] for name in wanted]] = True
    rows = Feasible(mask, 0)
    question.prepare(rows)
    if question.skip or question.failure is not None:
        return "skip" if question.skip else question.failure or ""
    final = question.scores(rows)
    if isinstance(final, Status):
        return final
    column = np.full(table.size, final) if isinstance(final, int) else final
    raw = {name: int(question.raw[table.row_of[name]]) for name in wanted}
    return raw, {name: int(column[table.row_of[name]]) for name in wanted}


def raw_scores(cluster: ClusterState, pod: Pod) -> dict[str, int]:
    """Return the raw scores of all nodes."""
    found = scored(cluster, pod)
    assert isinstance(found, tuple), found
    return found[0]


FILTER_CASES: list[tuple[str, list[ApiObject], dict[str, Any], Any]] = [
    ("A pod without hard constraints is skipped.", [], {"spread": a_spread("zone", "app=web", soft=True)}, "skip"),
    (
        "A domain may have max_skew more pods than the emptiest; a node without the label is out of the question.",
        [web("x", "a1")],
        {"spread": a_spread("zone", "app=web")},
        {"a1": "uneven", "a2": "uneven", "bare": "label"},
    ),
    (
        "A larger skew lets more pods in.",
        [web("x", "a1")],
        {"spread": a_spread("zone", "app=web", max_skew=2)},
        {"bare": "label"},
    ),
    (
        "A pod that its own selector does not match does not count itself.",
        [web("x", "a1")],
        {"spread": a_spread("zone", "app=web"), "labels": {"app": "other"}},
        {"bare": "label"},
    ),
    (
        "Pods of other namespaces, terminating pods and pods of unknown nodes do not count.",
        [
            web("x", "a1", namespace="other"),
            web("y", "a1", terminating=True),
            web("z", "gone"),
        ],
        {"spread": a_spread("zone", "app=web")},
        {"bare": "label"},
    ),
    (
        "With fewer domains than min_domains the emptiest counts as empty.",
        [web("x", "a1"), web("y", "b1")],
        {"spread": a_spread("zone", "app=web", min_domains=3)},
        {"a1": "uneven", "a2": "uneven", "b1": "uneven", "bare": "label"},
    ),
    (
        "With as many domains as min_domains it makes no difference.",
        [web("x", "a1"), web("y", "b1")],
        {"spread": a_spread("zone", "app=web", min_domains=2)},
        {"bare": "label"},
    ),
    (
        "No domain at all counts as an empty one.",
        [],
        {"spread": a_spread("rack", "app=web")},
        dict.fromkeys(("a1", "a2", "b1", "bare"), "label"),
    ),
    (
        "Only nodes with the keys of all constraints take part: bare counts for no host.",
        [web("x", "a1"), web("y", "a2"), web("z", "b1")],
        {"spread": [a_spread("hostname", "app=web"), a_spread("zone", "app=web", max_skew=9)]},
        {"bare": "label"},
    ),
    (
        "The first constraint that objects gives the reason.",
        [web("x", "a1"), web("y", "bare"), web("z", "bare")],
        {"spread": [a_spread("hostname", "app=web", max_skew=1), a_spread("zone", "app=web")]},
        {"a1": "uneven", "a2": "uneven", "bare": "label"},
    ),
    (
        "An empty selector counts nobody but the pod itself.",
        [web("x", "a1"), web("y", "a1"), web("z", "a1")],
        {"spread": a_spread("zone", "")},
        {"bare": "label"},
    ),
    (
        "No selector matches nobody.",
        [web("x", "a1"), web("y", "a1"), web("z", "a1")],
        {"spread": a_spread("zone")},
        {"bare": "label"},
    ),
    (
        "Nodes that the pod's affinity excludes do not count: b is the only domain, and a is no domain but has room.",
        [web("x", "b1"), web("y", "a1"), web("z", "a2")],
        {"spread": a_spread("zone", "app=web"), "node_selector": {HOSTNAME: "b1"}},
        {"bare": "label"},
    ),
    (
        "Unless affinity is to be ignored.",
        [web("x", "b1")],
        {"spread": a_spread("zone", "app=web", affinity_policy="Ignore"), "node_selector": {HOSTNAME: "b1"}},
        {"b1": "uneven", "bare": "label"},
    ),
    (
        "Affinity terms exclude nodes as well.",
        [web("x", "b1")],
        {"spread": a_spread("zone", "app=web"), "affinity": an_affinity(nodes="kubernetes.io/hostname=b1")},
        {"bare": "label"},
    ),
]


@pytest.mark.parametrize(("objects", "pod", "expected"), [pytest.param(*case[1:], id=case[0]) for case in FILTER_CASES])
def test_filter(objects: list[ApiObject], pod: dict[str, Any], expected: Any) -> None:
    assert judged(a_cluster(*NODES, *objects), a_pod(**{"labels": WEB, **pod})) == expected


@pytest.mark.parametrize(
    ("policy", "tolerations", "expected"),
    [
        pytest.param(None, (), {"a1": "uneven", "a2": "uneven"}, id="taints are ignored by default"),
        pytest.param("Honor", (), {}, id="honoured, a tainted domain is none"),
        pytest.param("Honor", ("t",), {"a1": "uneven", "a2": "uneven"}, id="a tolerated taint excludes nothing"),
        pytest.param("Honor", ("t>3",), {"a1": "uneven", "a2": "uneven"}, id="numbers are compared behind the gate"),
        pytest.param("Honor", ("t>7",), {}, id="and may be too small"),
    ],
)
def test_taints_policy(policy: str | None, tolerations: tuple[str, ...], expected: dict[str, str]) -> None:
    tainted = a_node("b1", zone="b", taints=["t=5:NoSchedule"])
    cluster = a_cluster(*NODES[:2], tainted, web("x", "a1"))
    constraint = a_spread("zone", "app=web", taints_policy=policy)
    assert judged(cluster, a_pod(labels=WEB, spread=constraint, tolerations=tolerations)) == expected


@pytest.mark.parametrize(
    ("enabled", "labels", "expected"),
    [
        pytest.param(True, {"v": "2"}, {}, id="only pods with the same value count"),
        pytest.param(True, {"v": "1"}, {"a1": "uneven", "a2": "uneven"}, id="here the value is the same"),
        pytest.param(True, {}, {"a1": "uneven", "a2": "uneven"}, id="a label that the pod lacks asks nothing"),
        pytest.param(False, {"v": "2"}, {"a1": "uneven", "a2": "uneven"}, id="without the gate nothing is asked"),
    ],
)
def test_match_label_keys(enabled: bool, labels: dict[str, str], expected: dict[str, str]) -> None:
    cluster = a_cluster(*NODES[:3], a_pod("x", node="a1", labels={**WEB, "v": "1"}))
    pod = a_pod(labels={**WEB, **labels}, spread=a_spread("zone", "app=web", match_label_keys=["v"]))
    gates = {
        "MatchLabelKeysInPodTopologySpread": enabled,
        "MatchLabelKeysInPodTopologySpreadSelectorMerge": enabled,
    }
    assert judged(cluster, pod, None, **gates) == expected


def test_a_malformed_selector_fails_the_extension_point_that_reads_it() -> None:
    cluster = a_cluster(*NODES)
    hard, soft = (a_pod(spread=a_spread("zone", MALFORMED, soft=soft)) for soft in (False, True))
    failed = judged(cluster, hard)
    assert failed.code is Code.ERROR
    assert failed.message == (
        "get constraints from pod: obtaining pod's hard topology spread constraints: "
        '"Bogus" is not a valid label selector operator'
    )
    assert judged(cluster, soft) == "skip"
    assert scored(cluster, hard) == "skip"
    failure = scored(cluster, soft)
    assert isinstance(failure, Status)
    assert failure.message.startswith("calculating preScoreState: obtaining pod's soft topology spread constraints: ")


SCORE_CASES: list[tuple[str, list[ApiObject], dict[str, Any], str, Any]] = [
    ("A pod without soft constraints is skipped.", [], {"spread": a_spread("zone", "app=web")}, "", "skip"),
    (
        "The count weighs the logarithm of the number of domains plus two; nodes without the label get nothing.",
        [web("x", "a1"), web("y", "a2"), web("z", "b1")],
        {"spread": a_spread("zone", "app=web", soft=True)},
        "",
        ({"a1": 3, "a2": 3, "b1": 1, "bare": 0}, {"a1": 33, "a2": 33, "b1": 100, "bare": 0}),
    ),
    (
        "Domains without a feasible node do not weigh in, but pods on infeasible nodes count.",
        [web("x", "a1"), web("y", "a2"), web("z", "b1")],
        {"spread": a_spread("zone", "app=web", soft=True)},
        "a1 bare",
        ({"a1": 2, "bare": 0}, {"a1": 100, "bare": 0}),
    ),
    (
        "Hosts are counted one by one.",
        [web("x", "a1"), web("y", "a1"), web("z", "b1")],
        {"spread": a_spread("hostname", "app=web", soft=True)},
        "",
        ({"a1": 4, "a2": 0, "b1": 2, "bare": 0}, {"a1": 0, "a2": 100, "b1": 50, "bare": 100}),
    ),
    (
        "Skew waters the difference down.",
        [web("x", "a1"), web("y", "a1"), web("z", "b1")],
        {"spread": a_spread("hostname", "app=web", soft=True, max_skew=5)},
        "",
        ({"a1": 8, "a2": 4, "b1": 6, "bare": 4}, {"a1": 50, "a2": 100, "b1": 75, "bare": 100}),
    ),
    (
        "Without any pod all nodes are best.",
        [],
        {"spread": a_spread("hostname", "app=web", soft=True)},
        "",
        (dict.fromkeys(("a1", "a2", "b1", "bare"), 0), dict.fromkeys(("a1", "a2", "b1", "bare"), 100)),
    ),
    (
        "Nodes that affinity excludes are not counted in their domain, but count for themselves.",
        [web("x", "a1"), web("y", "a2"), web("z", "a2")],
        {
            "spread": [a_spread("zone", "app=web", soft=True), a_spread("hostname", "app=web", soft=True)],
            "node_selector": {HOSTNAME: "a1"},
        },
        "a1 a2",
        ({"a1": 2, "a2": 4}, {"a1": 100, "a2": 50}),
    ),
    (
        "Where no feasible node has all keys every score is 0.",
        [],
        {"spread": a_spread("rack", "app=web", soft=True)},
        "",
        (dict.fromkeys(("a1", "a2", "b1", "bare"), 0), dict.fromkeys(("a1", "a2", "b1", "bare"), 0)),
    ),
]


@pytest.mark.parametrize(
    ("objects", "pod", "feasible", "expected"), [pytest.param(*case[1:], id=case[0]) for case in SCORE_CASES]
)
def test_score(objects: list[ApiObject], pod: dict[str, Any], feasible: str, expected: Any) -> None:
    assert scored(a_cluster(*NODES, *objects), a_pod(**{"labels": WEB, **pod}), feasible=feasible) == expected


def test_a_skew_that_no_api_server_accepts_can_give_scores_out_of_range() -> None:
    cluster = a_cluster(*NODES[:3], web("x", "a1"), web("y", "a1"), web("z", "a1"))
    failure = scored(cluster, a_pod(labels=WEB, spread=a_spread("hostname", "app=web", soft=True, max_skew=-2)))
    assert isinstance(failure, Status)
    assert "returns an invalid score -150" in failure.message


def test_a_score_of_minus_one_is_taken_for_that_of_a_node_left_out() -> None:
    pod = a_pod(labels=WEB, spread=a_spread("hostname", "app=web", soft=True, max_skew=0))
    names = ("a1", "a2", "b1", "bare")
    assert scored(a_cluster(*NODES), pod) == (dict.fromkeys(names, -1), dict.fromkeys(names, 0))


# -- default constraints

OWNED: dict[str, Any] = {"labels": WEB, "owner": "ReplicaSet/web"}
LIST = PodTopologySpreadArgs(
    defaulting_type="List",
    default_constraints=(
        DefaultConstraint(max_skew=1, topology_key=ZONE, when_unsatisfiable="DoNotSchedule"),
        DefaultConstraint(max_skew=1, topology_key=ZONE, when_unsatisfiable="ScheduleAnyway"),
    ),
)


def test_pods_that_nobody_owns_are_not_spread() -> None:
    cluster = a_cluster(*NODES, a_service("other", {"app": "other"}), a_service("none", {}))
    assert scored(cluster, a_pod(**OWNED)) == "skip"
    assert judged(cluster, a_pod(**OWNED), LIST) == "skip"


def test_system_defaults_spread_over_hosts_and_zones_and_score_nodes_without_a_zone() -> None:
    cluster = a_cluster(*NODES, a_service("web", WEB), web("x", "a1"), web("y", "bare"))
    raw = raw_scores(cluster, a_pod(labels=WEB))
    # a1: 2 + ln 6 for its host, 4 + ln 5 for its zone; a node without a zone is only scored by its host
    assert raw == {"a1": 9, "a2": 8, "b1": 6, "bare": 4}
    assert judged(cluster, a_pod(labels=WEB)) == "skip"


def test_nodes_without_a_label_share_the_domain_of_those_whose_label_is_empty() -> None:
    blank = a_node("blank", labels={ZONE: ""})
    cluster = a_cluster(*NODES, blank, a_service("web", WEB), web("x", "bare"), web("y", "blank"))
    raw = raw_scores(cluster, a_pod(labels=WEB))
    # blank: 2 + ln 7 for its host, 4 + 2 ln 5 for a zone of two nodes; there are three zones, not four
    assert raw == {"a1": 6, "a2": 6, "b1": 6, "bare": 4, "blank": 11}


def test_listed_defaults_replace_the_systems() -> None:
    cluster = a_cluster(*NODES, a_replica_set("web", WEB), web("x", "a1"))
    assert judged(cluster, a_pod(**OWNED), LIST) == {"a1": "uneven", "a2": "uneven", "bare": "label"}
    assert scored(cluster, a_pod(**OWNED), LIST, "a1 b1 bare") == (
        {"a1": 1, "b1": 0, "bare": 0},
        {"a1": 0, "b1": 100, "bare": 0},
    )
    assert scored(cluster, a_pod(**OWNED), NO_DEFAULTS) == "skip"


def test_constraints_of_its_own_keep_the_defaults_from_a_pod() -> None:
    cluster = a_cluster(*NODES, a_replica_set("web", WEB), web("x", "a1"))
    pod = a_pod(**OWNED, spread=a_spread("zone", "app=web", max_skew=5))
    assert judged(cluster, pod, LIST) == {"bare": "label"}
    assert scored(cluster, pod) == "skip"


CONTROLLER = ReplicationController(
    metadata=a_service("web", {}).metadata, spec=ReplicationControllerSpec(selector={"app": "web"})
)
STATEFUL = StatefulSet(metadata=a_service("web", {}).metadata, spec=StatefulSetSpec(selector=a_selector("app=web")))


@pytest.mark.parametrize(
    ("objects", "pod", "spread"),
    [
        pytest.param([a_service("web", WEB)], {}, True, id="a service"),
        pytest.param([a_service("web", WEB, namespace="other")], {}, False, id="a service of another namespace"),
        pytest.param([a_replica_set("web", WEB)], {"owner": "ReplicaSet/web"}, True, id="a replica set"),
        pytest.param([a_replica_set("web", WEB)], {}, False, id="a replica set that does not own the pod"),
        pytest.param([STATEFUL], {"owner": "StatefulSet/web"}, True, id="a stateful set"),
        pytest.param([CONTROLLER], {"owner": "ReplicationController/web"}, True, id="a replication controller"),
        pytest.param([a_replica_set("web", WEB)], {"owner": "Job/web"}, False, id="another kind of owner"),
        pytest.param([], {"owner": "ReplicaSet/web"}, False, id="an owner that is not there"),
        pytest.param([a_replica_set("web", MALFORMED)], {"owner": "ReplicaSet/web"}, False, id="a malformed selector"),
        pytest.param(
            [a_service("web", WEB), a_replica_set("web", "app in (web),tier!=back")],
            {"owner": "ReplicaSet/web"},
            True,
            id="both",
        ),
    ],
)
def test_what_makes_a_pod_one_of_many(objects: list[ApiObject], pod: dict[str, Any], spread: bool) -> None:
    cluster = a_cluster(*NODES, *objects, web("x", "a1"))
    assert (judged(cluster, a_pod(labels=WEB, **pod), LIST) != "skip") == spread


def test_default_selectors_follow_their_owners() -> None:
    cluster = a_cluster(*NODES)
    plugin = built(cluster)
    pod = cluster.reader.read(a_pod(**OWNED))
    assert not plugin.score_key(pod).constraints
    owner = a_replica_set("web", WEB)
    cluster.add(owner)
    first = plugin.score_key(pod)
    assert {str(constraint.selector) for constraint in first.constraints} == {"app=web"}
    cluster.add(ReplicaSet(metadata=owner.metadata, spec=owner.spec, status=ReplicasStatus(ready_replicas=1)))
    assert plugin.score_key(pod) is first, "the number of replicas makes no difference"
    cluster.add(a_service("tier", {"app": "web"}))
    assert plugin.score_key(pod) is first, "a service that selects the same makes none either"
    cluster.add(a_replica_set("web", {"app": "web", "tier": "front"}))
    assert str(plugin.score_key(pod).constraints[0].selector) == "app=web,app=web,tier=front"
    cluster.remove(owner)
    assert plugin.score_key(pod) is first, "the service is left"


# -- catching up


def test_verdicts_follow_the_pods_that_come_and_go() -> None:
    cluster = a_cluster(*NODES[:3])
    statuses = StatusTable()
    question = built(cluster).filter_question(cluster.reader.read(a_pod(labels=WEB, spread=SPREAD)), statuses)
    seen = []
    for name, node in (("", ""), ("x", "a1"), ("y", "b1"), ("z", "b1"), ("-y", ""), ("-z", ""), ("u", "gone")):
        if name.startswith("-"):
            cluster.remove_pod(f"default-{name[1:]}")
        elif name:
            cluster.add(web(name, node))
        ids = question.judge(np.arange(3))
        seen.append("".join("-" if index else "+" for index in ids))
    assert seen == ["+++", "--+", "+++", "++-", "+++", "--+", "--+"]


def test_a_host_follows_its_own_pods_alone() -> None:
    cluster = a_cluster(*NODES, web("x", "a1"))
    pod = a_pod(labels=WEB, spread=a_spread("hostname", "app=web"))
    question = built(cluster).filter_question(cluster.reader.read(pod), StatusTable())
    assert (question.judge(np.arange(4)) != 0).tolist() == [True, False, False, False]
    column, wide = question.ids, question.generation
    cluster.add(web("y", "b1"))
    assert (question.judge(np.arange(4)) != 0).tolist() == [True, False, True, False]
    assert question.ids is column, "no other row was looked at"
    assert question.generation == wide
    cluster.add(web("z", "a2"))
    cluster.add(web("u", "bare"))
    assert not question.judge(np.arange(4)).any(), "every host has a pod now"
    assert question.generation > wide


# -- keys


def test_keys_tell_apart_only_what_matters() -> None:
    cluster = a_cluster(*NODES)
    plugin, read = built(cluster), cluster.reader.read
    spread = a_spread("zone", "app=web", match_label_keys=["v"])
    one = read(a_pod("p", labels={**WEB, "v": "1", "other": "x"}, spread=spread, cpu="1"))
    same = read(a_pod("q", labels={"v": "1", **WEB}, spread=spread, cpu="2", tolerations=["t"]))
    assert plugin.key(one) is plugin.key(same), "neither names, nor requests, nor tolerations, nor other labels"
    for other in (
        a_pod(labels={**WEB, "v": "2"}, spread=spread),
        a_pod(labels={"v": "1"}, spread=spread),
        a_pod(labels={**WEB, "v": "1"}, spread=spread, namespace="other"),
        a_pod(labels={**WEB, "v": "1"}, spread=spread, node_selector={"disk": "ssd"}),
        a_pod(labels={**WEB, "v": "1"}, spread=a_spread("zone", "app=web", match_label_keys=["v"], min_domains=2)),
    ):
        assert plugin.key(read(other)) != plugin.key(one)
    assert plugin.score_key(one) is plugin.score_key(same)


def test_a_template_with_countless_labels_is_still_answered() -> None:
    cluster = a_cluster(*NODES)
    plugin = built(cluster)
    spread = a_spread("zone", "app=web", match_label_keys=["id"])
    for number in range(600):
        pod = cluster.reader.read(a_pod(f"p{number}", labels={**WEB, "id": str(number)}, spread=spread))
        assert str(plugin.key(pod).constraints[0].selector) == f"app=web,id={number}"


# -- what if


@pytest.mark.parametrize(
    ("selector", "removed", "rejected"),
    [
        pytest.param("app=web", ["x"], True, id="one victim is not enough"),
        pytest.param("app=web", ["x", "y"], False, id="two are"),
        pytest.param("app=web", ["x", "other"], True, id="pods that do not match make no difference"),
        pytest.param("app=web", ["x", "leaving"], False, id="a terminating pod did not count, and yet makes room"),
    ],
)
def test_worlds_without_some_pods(selector: str, removed: list[str], rejected: bool) -> None:
    cluster = a_cluster(
        *NODES[:3],
        web("x", "a1"),
        web("y", "a1"),
        web("leaving", "a1", terminating=True),
        a_pod("other", node="a1"),
    )
    pod = cluster.reader.read(a_pod(labels=WEB, spread=a_spread("zone", selector)))
    worlds = built(cluster).filter_question(pod, StatusTable()).worlds(np.array([0]))
    for name in removed:
        slot = cluster.table.pods[f"default-{name}"].slot
        worlds.change(np.array([0]), np.array([slot]), -1)
    copy = worlds.select(np.array([0]))
    assert bool(worlds.verdict().which[0]) == rejected
    worlds.change(np.array([0]), np.array([cluster.table.pods["default-x"].slot]), 1)
    assert bool(copy.verdict().which[0]) == rejected, "a copy has a life of its own"


def test_worlds_of_a_node_that_does_not_count() -> None:
    cluster = a_cluster(*NODES[:3], web("x", "b1"), web("y", "b1"), web("z", "a1"))
    pod = cluster.reader.read(a_pod(labels=WEB, spread=SPREAD, node_selector={HOSTNAME: "b1"}))
    worlds = built(cluster).filter_question(pod, StatusTable()).worlds(np.array([0, 2]))
    worlds.change(np.array([0, 1]), np.array([cluster.table.pods[f"default-{name}"].slot for name in "zx"]), -1)
    # a1 is no part of any domain, whatever is on it; b is the only domain, and so the emptiest
    assert worlds.verdict().which.tolist() == [0, 0]
    worlds.change(np.array([0]), np.array([cluster.table.pods["default-x"].slot]), 1)
    assert worlds.verdict().which.tolist() == [0, 0]


# -- events

POD = a_pod(labels=WEB, spread=a_spread("zone", "app=web"))
HONORING = a_pod(labels=WEB, spread=a_spread("zone", "app=web", taints_policy="Honor"))
ADDED, DELETED = (Resource.ASSIGNED_POD, Action.ADD), (Resource.ASSIGNED_POD, Action.DELETE)
RELABELLED = (Resource.ASSIGNED_POD, Action.UPDATE_POD_LABEL)
TOLERATING = (Resource.UNSCHEDULED_POD, Action.UPDATE_POD_TOLERATION)
NODE_ADDED, NODE_DELETED = (Resource.NODE, Action.ADD), (Resource.NODE, Action.DELETE)
NODE_RELABELLED, NODE_TAINTED = (Resource.NODE, Action.UPDATE_NODE_LABEL), (Resource.NODE, Action.UPDATE_NODE_TAINT)
OTHER = a_pod("other", node="a1", labels={"app": "other"})
YES, NO = Hint.QUEUE, Hint.QUEUE_SKIP


@pytest.mark.parametrize(
    ("pod", "event", "old", "new", "expected"),
    [
        pytest.param(POD, ADDED, None, web("x", "a1"), YES, id="a matching pod came"),
        pytest.param(POD, ADDED, None, OTHER, NO, id="another pod came"),
        pytest.param(POD, ADDED, None, web("x", ""), NO, id="a pod without a node came"),
        pytest.param(POD, ADDED, None, web("x", "", nominated="a1"), YES, id="a pod with the promise of one came"),
        pytest.param(POD, ADDED, None, web("x", "a1", namespace="y"), NO, id="a pod of another namespace came"),
        pytest.param(POD, DELETED, web("x", "a1"), None, YES, id="a matching pod went"),
        pytest.param(POD, DELETED, OTHER, None, NO, id="another pod went"),
        pytest.param(POD, RELABELLED, OTHER, web("other", "a1"), YES, id="a pod matches now"),
        pytest.param(POD, RELABELLED, OTHER, a_pod("other", node="a1"), NO, id="labels that nobody asks about"),
        pytest.param(HONORING, TOLERATING, a_pod(), a_pod(tolerations=["t"]), YES, id="it tolerates more"),
        pytest.param(POD, TOLERATING, a_pod(), a_pod(tolerations=["t"]), NO, id="it does, but taints are ignored"),
        pytest.param(POD, NODE_ADDED, None, NODES[0], YES, id="a node of a zone came"),
        pytest.param(POD, NODE_ADDED, None, NODES[3], NO, id="a node without a zone came"),
        pytest.param(POD, NODE_DELETED, NODES[0], None, YES, id="a node of a zone went"),
        pytest.param(POD, NODE_DELETED, NODES[3], None, NO, id="a node without a zone went"),
        pytest.param(POD, NODE_RELABELLED, NODES[3], a_node("bare", zone="a"), YES, id="a node got a zone"),
        pytest.param(POD, NODE_RELABELLED, NODES[0], a_node("a1", zone="c"), YES, id="a node got another zone"),
        pytest.param(POD, NODE_RELABELLED, NODES[0], NODES[1], NO, id="a node stays in its zone"),
        pytest.param(POD, NODE_TAINTED, NODES[0], a_node("a1", zone="a", taints=["t:NoSchedule"]), YES, id="a taint"),
        pytest.param(POD, NODE_TAINTED, NODES[3], a_node("bare", taints=["t:NoSchedule"]), NO, id="but no zone"),
    ],
)
def test_hints(
    pod: Pod, event: tuple[Resource, Action], old: Pod | Node | None, new: Pod | Node | None, expected: Hint
) -> None:
    cluster = a_cluster()
    assert hint(built(cluster), cluster, pod, event, old, new) is expected


def test_a_hint_about_a_malformed_constraint_fails() -> None:
    cluster = a_cluster()
    with pytest.raises(InvalidSelectorError):
        hint(built(cluster), cluster, a_pod(spread=a_spread("zone", MALFORMED)), NODE_ADDED, None, NODES[0])

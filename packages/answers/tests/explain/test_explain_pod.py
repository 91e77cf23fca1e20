"""The answer about a pod: it says what the scheduler says, and why."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.models import a_model
from tests.support.pod_templates import TEMPLATES

from kubesched.api.pods import Pod, PodSchedulingGroup
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import FilterPlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import Status
from kubesched.core.framework.views.nodes import NodeRow
from kubesched.core.scheduling.decision import decide
from kubesched.core.scheduling.diagnosis import diagnose
from kubesched.core.scheduling.outcomes import Failed, Placed
from kubesched.model.cluster_model import ClusterModel, UnknownObjectError
from kubesched.model.placements import ScoreTable
from kubesched.reports.blocks import Table
from kubesched.testing import a_budget, a_claim, a_node, a_pod, a_spread, a_volume, an_affinity
from kubesched_answers.explain.explain_pod import explain_named_pod, explain_pod
from kubesched_answers.explain.pod_answer import PodAnswer
from kubesched_answers.explain.waking_events import waits_of
from kubesched_answers.placing import Placer
from kubesched_answers.reports.explain_report import pod_report


def explained(*objects: Any, pod: str = "default/pod") -> PodAnswer:
    return explain_named_pod(a_model(*objects), pod)


# -- verdicts

VERDICTS: dict[str, tuple[list[Any], str, str]] = {
    "a pod that fits": ([a_node("n"), a_pod()], "schedulable", "Pod default/pod fits on 1 of 1 node: it goes to n."),
    "equally good nodes are counted": (
        [a_node("b"), a_node("a"), a_pod()],
        "schedulable",
        "Pod default/pod fits on 2 of 2 nodes: it goes to a; 2 tie for best, and one of them is drawn.",
    ),
    "a nominated pod goes where it is nominated": (
        [a_node("a"), a_node("b"), a_pod(nominated="b")],
        "schedulable",
        "Pod default/pod fits on 2 of 2 nodes: it goes to b, the node it is nominated to.",
    ),
    "a pod that fits nowhere": (
        [a_node("a", cpu="1"), a_node("b", cpu="1"), a_node("c", unschedulable=True), a_pod(cpu="2")],
        "unschedulable",
        "Pod default/pod does not fit on any of 3 nodes: 2 lack cpu, 1 is cordoned.",
    ),
    "one node": (
        [a_node("a", cpu="1"), a_pod(cpu="2")],
        "unschedulable",
        "Pod default/pod does not fit on the one node: 1 lacks cpu.",
    ),
    "no nodes": ([a_pod()], "unschedulable", "Pod default/pod fits nowhere: the cluster has no nodes."),
    "PreFilter rejects": (
        [a_node("n"), a_pod(volumes=["data"])],
        "unschedulable",
        'Pod default/pod fits nowhere: persistentvolumeclaim "data" not found.',
    ),
    "a gated pod": (
        [a_node("n"), a_pod(gates=["quota"])],
        "gated",
        "Pod default/pod is held back before scheduling: waiting for scheduling gates: [quota].",
    ),
    "a pod that is being deleted": (
        [a_node("n"), a_pod(terminating=True)],
        "terminating",
        "Pod default/pod is being deleted and is not scheduled any more.",
    ),
    "another scheduler's pod": (
        [a_node("n"), a_pod(scheduler="volcano")],
        "another-schedulers",
        "Pod default/pod is another scheduler's: the pod is for scheduler volcano; "
        "the profiles here are default-scheduler.",
    ),
    "a finished pod": (
        [a_node("n"), a_pod(node="n", phase="Succeeded")],
        "finished",
        "Pod default/pod has finished: its phase is Succeeded.",
    ),
    "a bound pod of another scheduler": (
        [a_node("n"), a_pod(node="n", scheduler="volcano")],
        "bound",
        "Pod default/pod is on n; scheduler volcano put it there, which is not known here.",
    ),
    "the only node": (
        [a_node("n"), a_node("m", cpu="1"), a_pod(node="n", cpu="2")],
        "bound",
        "Pod default/pod is on n. It is the only node that takes it, and it would go there again.",
    ),
    "another node is better today": (
        [a_node("n", cpu="4"), a_node("m", cpu="16", memory="32Gi"), a_pod(node="n", cpu="1", memory="2Gi")],
        "bound",
        "Pod default/pod is on n. It ranks 2 of 2 feasible nodes; today the pod would go to m. "
        "What decides: NodeResourcesFit (-18): 18 points behind m.",
    ),
    "a node that takes it no more": (
        [a_node("n", taints=["gpu=yes:NoSchedule"]), a_node("m"), a_pod(node="n")],
        "bound",
        "Pod default/pod is on n, which would not take it again (has taint gpu=yes:NoSchedule); "
        "today it would go to m.",
    ),
    "nowhere else": (
        [a_node("n", unschedulable=True), a_pod(node="n")],
        "bound",
        "Pod default/pod is on n, which would not take it again (is cordoned); today it would fit nowhere.",
    ),
    "a node that is gone": (
        [a_node("m"), a_pod(node="n")],
        "bound",
        "Pod default/pod is bound to n, which does not exist; today it would go to m.",
    ),
}


@pytest.mark.parametrize(("objects", "verdict", "summary"), VERDICTS.values(), ids=VERDICTS)
def test_verdict(objects: list[Any], verdict: str, summary: str) -> None:
    answer = explained(*objects)
    assert (answer.summary, answer.verdict) == (summary, verdict)


def test_a_wrong_name_is_told_with_the_nearest() -> None:
    with pytest.raises(UnknownObjectError, match=r"there is no pod default/wbe; did you mean default/web\?"):
        explained(a_pod("web"), pod="default/wbe")


def test_a_pod_of_a_group_is_told_so() -> None:
    answer = explained(a_node(), a_pod(scheduling_group=PodSchedulingGroup(pod_group_name="ring")))
    assert answer.pod_group == "ring"
    assert answer.summary.endswith(
        "It belongs to pod group ring, which counts for nothing while feature gate GenericWorkload is off."
    )


# -- nearest misses

LACKS: dict[str, tuple[list[Any], dict[str, Any], list[str]]] = {
    "an amount": (
        [a_node("n", cpu="2"), a_pod("there", cpu="1500m", node="n")],
        {"cpu": "2"},
        ["lacks 1.5 cpu: 2 wanted, 0.5 free"],
    ),
    "bytes are rounded": (
        [a_node("n", memory="8Gi"), a_pod("there", memory="7000Mi", node="n")],
        {"memory": "2Gi"},
        ["lacks 0.8Gi memory: 2Gi wanted, 1.2Gi free"],
    ),
    "a node that is too small when empty": (
        [a_node("n", cpu="2")],
        {"cpu": "3"},
        ["is too small by 1 cpu: 3 wanted, 2 in all"],
    ),
    "a resource that it does not have": (
        [a_node("n")],
        {"requests": {"example.com/gpu": 1}},
        ["has no example.com/gpu: 1 wanted"],
    ),
    "the number of pods": (
        [a_node("n", pods=1), a_pod("there", node="n")],
        {},
        ["has no room for another pod: it takes 1"],
    ),
    "taints, each": (
        [a_node("n", taints=["a=b:NoSchedule", "c:NoExecute", "soft=yes:PreferNoSchedule", "ok=x:NoSchedule"])],
        {"tolerations": ["ok=x:NoSchedule"]},
        ["has taint a=b:NoSchedule", "has taint c:NoExecute"],
    ),
    "a label with another value, and one that is missing": (
        [a_node("n", labels={"disk": "hdd"})],
        {"node_selector": {"disk": "ssd", "gpu": "a100"}},
        ["label disk is hdd, ssd wanted", "label gpu is missing, a100 wanted"],
    ),
    "of alternative terms the nearest": (
        [a_node("n", labels={"disk": "ssd", "arch": "arm"})],
        {"affinity": an_affinity(nodes=["disk=hdd,arch=amd", "disk=ssd,arch=amd"])},
        ["label arch is arm, amd wanted"],
    ),
    "a port and who has it": (
        [a_node("n"), a_pod("there", ports=[8080], node="n")],
        {"ports": [8080]},
        ["host port 8080/TCP is taken by default/there"],
    ),
    "only nominated pods are in the way": (
        [a_node("n", cpu="2"), a_pod("ahead", cpu="1", nominated="n", priority=10)],
        {"cpu": "2"},
        ["lacks cpu, counted with the pods that are nominated to it"],
    ),
    "pods that anti-affinity forbids": (
        [a_node("n"), a_pod("there", node="n", labels={"app": "db"})],
        {"affinity": an_affinity(apart="app=db@hostname")},
        ["has a pod with app=db on it, which its anti-affinity forbids beside it"],
    ),
    "pods that affinity wants": (
        [a_node("n", zone="z")],
        {"affinity": an_affinity(near="app=db@zone")},
        ["has no pod with app=db in its topology.kubernetes.io/zone z, which its pod affinity wants"],
    ),
    "of several terms those that reject": (
        [a_node("n", zone="z"), a_pod("there", node="n", labels={"app": "web"})],
        {"affinity": an_affinity(near=["app=db@zone", "app=web@zone", "app=log@hostname"])},
        [
            "has no pod with app=db in its topology.kubernetes.io/zone z, which its pod affinity wants",
            "has no pod with app=log on it, which its pod affinity wants",
        ],
    ),
    "of several terms of anti-affinity the one that rejects": (
        [a_node("n"), a_pod("there", node="n", labels={"app": "web"})],
        {"affinity": an_affinity(apart=["app=db@hostname", "app=web@hostname"])},
        ["has a pod with app=web on it, which its anti-affinity forbids beside it"],
    ),
    "terms of which none rejects alone": (
        [a_node("n"), a_pod("there", node="n", labels={"app": "web"})],
        {"labels": {"app": "db"}, "affinity": an_affinity(near=["app=db@hostname", "app=web@hostname"])},
        ["does not match its pod affinity"],
    ),
    "pods whose anti-affinity forbids it": (
        [a_node("n"), a_pod("there", node="n", affinity=an_affinity(apart="app=new@hostname"))],
        {"labels": {"app": "new"}},
        ["has pods whose anti-affinity forbids it"],
    ),
    "a label that the pod is spread over": (
        [a_node("n")],
        {"spread": a_spread("zone", "app=web")},
        ["has no label topology.kubernetes.io/zone, over which the pod is spread"],
    ),
    "a volume out of reach": (
        [
            a_node("n", zone="b"),
            a_volume("v", nodes="topology.kubernetes.io/zone=a", claimed_by="default/data", phase="Bound"),
            a_claim("data", bound_to="v", phase="Bound"),
        ],
        {"volumes": ["data"]},
        ["is out of reach of volume v (label topology.kubernetes.io/zone is b, a wanted)"],
    ),
}


@pytest.mark.parametrize(("objects", "pod", "expected"), LACKS.values(), ids=LACKS)
def test_lacks(objects: list[Any], pod: dict[str, Any], expected: list[str]) -> None:
    (miss,) = explained(*objects, a_pod(**pod)).nearest
    assert [lack.message for lack in miss.lacks] == expected


def test_a_spread_that_a_node_would_break() -> None:
    answer = explained(
        a_node("full", zone="a"),
        a_node("small", zone="b", cpu="1"),
        a_pod("there", node="full", labels={"app": "web"}),
        a_pod(cpu="2", labels={"app": "web"}, spread=a_spread("zone", "app=web")),
    )
    lacks = {miss.node: [lack.message for lack in miss.lacks] for miss in answer.nearest}
    assert lacks["full"] == [
        "would break the pod's spread over topology.kubernetes.io/zone (maxSkew 1): "
        "topology.kubernetes.io/zone a has its share"
    ]


def test_of_several_spreads_those_that_a_node_would_break() -> None:
    labels = {"app": "web"}
    answer = explained(
        a_node("a1", zone="a"),
        a_node("a2", zone="a", cpu="1"),
        a_node("b1", zone="b", cpu="1"),
        a_node("c1", cpu="4"),
        a_pod("there", node="a1", labels=labels),
        a_pod("small", node="b1", labels=labels),
        a_pod(cpu="2", labels=labels, spread=[a_spread("zone", labels, max_skew=5), a_spread("hostname", labels)]),
    )
    lacks = {miss.node: [lack.subject for lack in miss.lacks] for miss in answer.nearest}
    assert lacks["a1"] == ["spread over kubernetes.io/hostname"]
    assert lacks["c1"] == ["spread label topology.kubernetes.io/zone"]
    terms = {
        (term.term, term.field): (term.count, term.nodes)
        for reason in answer.reasons
        if reason.plugin == "PodTopologySpread"
        for term in reason.terms
    }
    assert terms == {
        (
            "spread of app=web over kubernetes.io/hostname (maxSkew 1)",
            "spec.topologySpreadConstraints[1]",
        ): (1, ("a1",)),
        (
            "spread of app=web over topology.kubernetes.io/zone (maxSkew 5)",
            "spec.topologySpreadConstraints[0]",
        ): (1, ("c1",)),
    }


def test_of_several_terms_each_has_the_nodes_that_it_rejects() -> None:
    answer = explained(
        a_node("a"),
        a_node("b"),
        a_node("c"),
        *(a_pod(f"web-{node}", node=node, labels={"app": "web"}) for node in "ab"),
        *(a_pod(f"db-{node}", node=node, labels={"app": "db"}) for node in "bc"),
        a_pod(affinity=an_affinity(apart=["app=web@hostname", "app=db@hostname", "app=no@hostname"])),
    )
    (reason,) = answer.reasons
    where = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    assert [term.to_dict() for term in reason.terms] == [
        {
            "term": "pod anti-affinity to app=web in kubernetes.io/hostname",
            "field": f"{where}[0]",
            "count": 2,
            "nodes": ["a", "b"],
        },
        {
            "term": "pod anti-affinity to app=db in kubernetes.io/hostname",
            "field": f"{where}[1]",
            "count": 2,
            "nodes": ["b", "c"],
        },
    ]
    why = pod_report(answer).sections[0].blocks[0]
    assert isinstance(why, Table)
    assert [(row[0], row[1], str(row[-1])) for row in why.rows] == [
        ("3", "node(s) didn't match pod anti-affinity rules", "a, b, c"),
        ("2", "- by pod anti-affinity to app=web in kubernetes.io/hostname", "a, b"),
        ("2", "- by pod anti-affinity to app=db in kubernetes.io/hostname", "b, c"),
    ]


def test_terms_that_reject_a_node_together() -> None:
    answer = explained(
        a_node("n"),
        a_pod("there", node="n", labels={"app": "web"}),
        a_pod(labels={"app": "db"}, affinity=an_affinity(near=["app=db@hostname", "app=web@hostname"])),
    )
    (reason,) = answer.reasons
    assert [(term.term, term.nodes) for term in reason.terms] == [
        ("pod affinity to app=db in kubernetes.io/hostname", ("n",)),
        ("pod affinity to app=web in kubernetes.io/hostname", ("n",)),
    ]


# -- preemption


def test_preemption_names_victims_their_owners_and_budgets() -> None:
    answer = explained(
        a_node("n", cpu="2"),
        a_pod("a", cpu="1", node="n", labels={"app": "web"}, owner="ReplicaSet/web"),
        a_pod("b", cpu="1", node="n", labels={"app": "web"}),
        a_budget("keep", "app=web", allowed=1),
        a_pod(cpu="2", priority=10),
    )
    assert answer.preemption is not None
    assert answer.preemption.to_dict() == {
        "helps": True,
        "message": (
            "evicting 2 pods from n makes room, but evicting 1 of them violates PodDisruptionBudget default/keep"
        ),
        "node": "n",
        "candidates": [
            {
                "node": "n",
                "victims": [
                    {"pod": "default/a", "priority": 0, "owner": "ReplicaSet default/web", "violates": []},
                    {"pod": "default/b", "priority": 0, "violates": ["default/keep"]},
                ],
                "budgetViolations": 1,
            }
        ],
        "candidateCount": 1,
    }


def test_a_pod_that_never_preempts() -> None:
    answer = explained(
        a_node("n", cpu="2"),
        a_pod("a", cpu="2", node="n"),
        a_pod(cpu="2", priority=10, preemption_policy="Never"),
    )
    assert answer.preemption is not None
    assert (answer.preemption.helps, answer.preemption.message) == (
        False,
        "not eligible due to preemptionPolicy=Never.",
    )


# -- what it waits for


def test_waits_are_those_of_the_plugins_that_reject() -> None:
    answer = explained(a_node("n", taints=["a=b:NoSchedule"]), a_pod())
    assert answer.waits is not None
    assert [(event.plugin, event.event, event.meaning) for event in answer.waits.events] == [
        ("TaintToleration", "NodeAdd", "a node is added"),
        ("TaintToleration", "NodeUpdateNodeTaint", "the taints of a node change, or it is uncordoned"),
        ("TaintToleration", "PodUpdatePodToleration", "the tolerations of the pod change"),
    ]


def test_every_registered_event_has_a_meaning() -> None:
    model = a_model()
    (profile,) = model.engine.profiles.values()
    meanings = {event.meaning for event in waits_of(model, profile, set(profile.plugins)).events}
    assert {"a node is added", "a pod is deleted", "a CSINode is changed"} <= meanings
    assert not [meaning for meaning in meanings if "object" in meaning]


# -- properties

NODES: list[dict[str, Any]] = [
    {"cpu": "2", "memory": "4Gi", "zone": "a"},
    {"cpu": "4", "zone": "b", "labels": {"disk": "ssd"}},
    {"cpu": "4", "memory": "2Gi", "zone": "a", "taints": ["dedicated=batch:NoSchedule"]},
    {"cpu": "1", "zone": "c", "pods": 2},
    {"cpu": "8", "unschedulable": True},
    {"allocatable": {"example.com/gpu": "2"}},
]
CLUSTERS = st.tuples(
    st.lists(st.sampled_from(NODES), max_size=5),
    st.lists(st.tuples(st.sampled_from(TEMPLATES), st.integers(0, 4)), max_size=8),
)


def a_random_model(cluster: Any, *pods: Pod) -> ClusterModel:
    nodes, there = cluster
    return a_model(
        *(a_node(f"n{number}", **words) for number, words in enumerate(nodes)),
        *(
            a_pod(f"p{number}", node=f"n{node}", **words)
            for number, (words, node) in enumerate(there)
            if node < len(nodes)
        ),
        a_budget("keep", "app=web"),
        *pods,
    )


@settings(max_examples=80, deadline=None)
@given(CLUSTERS, st.sampled_from(TEMPLATES))
def test_the_answer_is_what_the_scheduler_does(cluster: Any, template: dict[str, Any]) -> None:
    model = a_random_model(cluster, a_pod("new", **template))
    pod = model.pod("default/new")
    answer = explain_pod(model, pod)
    evaluation = model.engine.evaluation_of(pod)
    decision = decide(evaluation, pick=lambda count: 0)
    assert (answer.verdict == "schedulable") == bool(decision.node_name)
    if not decision.node_name and cluster[0]:
        counts: dict[str, int] = {}
        for reason in answer.reasons:
            counts[reason.message] = counts.get(reason.message, 0) + reason.count
            assert len(set(reason.nodes)) == reason.count
        assert counts == diagnose(evaluation, evaluation.verdicts()).reason_counts
    placer = Placer(model)
    outcome = placer.place(pod)
    placer.undo()
    if isinstance(outcome, Failed):
        assert outcome.message == answer.message
        chosen = outcome.preemption.node_name if outcome.preemption is not None else None
        assert answer.preemption is None or answer.preemption.helps == (chosen is not None)
    else:
        assert isinstance(outcome, Placed)
        assert answer.placement is not None
        assert outcome.node_name == answer.placement.node


@settings(max_examples=40, deadline=None)
@given(CLUSTERS, st.sampled_from(TEMPLATES))
def test_scores_by_plugin_add_up_to_the_totals_that_decide(cluster: Any, template: dict[str, Any]) -> None:
    model = a_random_model(cluster)
    evaluation = model.engine.evaluation_of(model.read(a_pod("new", **template)))
    scores = ScoreTable(evaluation)
    if scores.feasible.count:
        rows = np.flatnonzero(scores.feasible.mask).tolist()
        assert [sum(score.scores.values()) for score in scores.scores(rows)] == scores.totals[rows].tolist()
        assert scores.best.tolist() == evaluation.best_rows().tolist()  # type: ignore[union-attr]


@settings(max_examples=40, deadline=None)
@given(CLUSTERS, st.sampled_from(TEMPLATES))
def test_explaining_changes_nothing(cluster: Any, template: dict[str, Any]) -> None:
    model = a_random_model(cluster, a_pod("new", nominated="n0", **template))
    names = sorted(model.pods)
    before = [explain_named_pod(model, name) for name in names]
    assert [explain_named_pod(model, name) for name in names] == before


@settings(max_examples=40, deadline=None)
@given(CLUSTERS, st.sampled_from(TEMPLATES))
def test_what_evicting_all_victims_violates_the_scheduler_counts(cluster: Any, template: dict[str, Any]) -> None:
    answer = explain_named_pod(a_random_model(cluster, a_pod("new", **{**template, "priority": 2000})), "default/new")
    if answer.preemption is not None:
        for candidate in answer.preemption.candidates:
            assert sum(bool(victim.violates) for victim in candidate.victims) <= candidate.budget_violations


# -- what goes wrong


class Failing(FilterPlugin):
    """Fails on every node."""

    name = "Failing"

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        raise ValueError("no such thing")


CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {filter: {enabled: [{name: Failing}]}}
"""


def test_a_plugin_that_fails() -> None:
    registry = Registry()
    registry.register(Failing)
    answer = explain_named_pod(a_model(a_node(), a_pod(), config=CONFIG, registry=registry), "default/pod")
    assert answer.verdict == "error"
    assert answer.message.startswith('running "Failing" filter plugin: ')
    assert answer.summary == (
        f"The scheduler cannot judge pod default/pod: {answer.message}. It tries again after a backoff."
    )


def test_a_scheduler_that_looks_at_a_part_of_the_nodes_is_told() -> None:
    config = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\npercentageOfNodesToScore: 10"
    )
    model = a_model(a_node(), a_pod(), config=config)
    (gap,) = explain_named_pod(model, "default/pod").gaps
    assert (gap.what, gap.uncertain) == ("percentageOfNodesToScore is 10", "it may choose a node of a lower rank")


def test_where_prefilter_rejects_a_pod_preemption_does_not_help_in_plain_words() -> None:
    answer = explained(a_node("n"), a_pod("there", node="n"), a_pod(volumes=["data"], priority=10))
    # the message of the pod's condition is the scheduler's
    assert answer.message.endswith('persistentvolumeclaim "data" not found. not found')
    assert answer.preemption is not None
    assert answer.preemption.message == "evicting pods does not change what is wrong with the pod"

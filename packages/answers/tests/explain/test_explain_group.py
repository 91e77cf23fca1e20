"""The answer about a pod of a pod group: it says what the scheduler says when it tries the group as a whole."""

from typing import Any

import pytest
from tests.support.models import a_model
from tests.support.pod_groups import GANGS, a_group, conditions_after, member
from tests.support.whatif import state_of

from kubesched.api.codec import to_builtins
from kubesched.api.pods import Pod
from kubesched.errors import KubeschedError
from kubesched.manifests import Manifest
from kubesched.reports.markdown import as_markdown
from kubesched.testing import a_node, a_pod
from kubesched_answers.explain.explain_pod import explain_pod
from kubesched_answers.explain.explain_template import explain_manifests
from kubesched_answers.explain.pod_answer import PodAnswer
from kubesched_answers.reports.explain_report import pod_report

ZONE = "topology.kubernetes.io/zone"


def members(names: str, **words: Any) -> list[Any]:
    return [member(name, **words) for name in names.split()]


def answers(objects: list[Any], gates: str = "") -> dict[str, PodAnswer]:
    """Return the answer about each pod of the group; the model is as before."""
    model = a_model(*objects, gates=f"{GANGS} {gates}")
    before = state_of(model)
    found = {pod.name: explain_pod(model, pod) for pod in list(model.pods.values()) if pod.spec.scheduling_group}
    assert state_of(model) == before
    return found


# objects, gates, the pod, its verdict, its summary, what helps
CASES: dict[str, tuple[list[Any], str, str, str, str, list[str]]] = {
    "a gang that fits": (
        [a_node("n", cpu="3"), a_group(min_count=3), *members("a b c")],
        "",
        "b",
        "schedulable",
        "Pod default/b fits with its pod group: it goes to n. "
        "Gang default/g needs 3 pods: 3 of the 3 that wait find a place.",
        [],
    ),
    "too few members": (
        [a_node("n", cpu="3"), a_group(min_count=3), *members("a b")],
        "",
        "a",
        "gated",
        "Pod default/a is held back before scheduling: waiting for minCount pods from a gang to appear in scheduling "
        "queue. Gang default/g needs 3 pods and has 2.",
        ["create 1 more pod of the gang, like default/a"],
    ),
    "a group that does not exist": (
        [a_node("n", cpu="3"), *members("a")],
        "",
        "a",
        "gated",
        'Pod default/a is held back before scheduling: waiting for pods\'s pod group "g" to appear in scheduling '
        "queue. Pod group default/g does not exist.",
        [],
    ),
    "each pod fits alone, the gang does not": (
        [a_node("n", cpu="2"), a_group(min_count=3), *members("a b c")],
        "",
        "a",
        "unschedulable",
        "Pod default/a would fit on n, but waits for its pod group to fit. "
        "The first without a place is default/c: 1 lacks cpu. "
        "Gang default/g needs 3 pods: 2 of the 3 that wait find a place.",
        ["add a node like n"],
    ),
    "the pod that is in the way": (
        [a_node("n", cpu="2"), a_group(min_count=3), *members("a b c")],
        "",
        "c",
        "unschedulable",
        "Pod default/c does not fit beside the others of its pod group: 1 lacks cpu. "
        "Gang default/g needs 3 pods: 2 of the 3 that wait find a place.",
        ["add a node like n"],
    ),
    "a gang that is larger than the cluster": (
        [a_node("n", cpu="1"), a_node("m", cpu="1"), a_group(min_count=9), *members("a b c d e f g h i")],
        "",
        "a",
        "unschedulable",
        "Pod default/a would fit on m, but waits for its pod group to fit. "
        "The first without a place is default/c: 2 lack cpu. "
        "Gang default/g needs 9 pods: 2 of the 9 that wait find a place.",
        ["add 7 nodes like m"],
    ),
    "enough of the gang fit, but not this pod": (
        [a_node("n", cpu="2"), a_group(min_count=2), *members("a b c")],
        "",
        "c",
        "unschedulable",
        "Pod default/c does not fit beside the others of its pod group: 1 lacks cpu. "
        "Gang default/g needs 2 pods: 2 of the 3 that wait find a place.",
        ["add a node like n"],
    ),
    "a part of the gang is on nodes, and evictions help": (
        [
            a_node("n", cpu="3"),
            a_pod("x", cpu="1", node="n", owner="ReplicaSet/x"),
            a_group(min_count=3),
            *members("a", node="n"),
            *members("b c"),
        ],
        "",
        "b",
        "unschedulable",
        "Pod default/b would fit on n, but waits for its pod group to fit. "
        "The first without a place is default/c: 1 lacks cpu. "
        "Gang default/g needs 3 pods: 1 is on nodes, 1 of the 2 that wait find a place.",
        ["add a node like n", "evict pod default/x from node n"],
    ),
    "a gang that waits for a pod with a scheduling gate": (
        [a_node("n", cpu="3"), a_group(min_count=2), *members("a"), *members("b", gates=["later"])],
        "",
        "a",
        "unschedulable",
        "Pod default/a would fit on n, but waits for its pod group to fit. "
        "Gang default/g needs 2 pods: 1 of the 1 that waits find a place, 1 is held back.",
        ["remove scheduling gate later of pod default/b"],
    ),
    "a change of all pods of the gang": (
        [a_node("n", cpu="3"), a_group(min_count=2), *members("a b", node_selector={"disk": "ssd"})],
        "",
        "a",
        "unschedulable",
        "Pod default/a does not fit beside the others of its pod group: 1 does not match its node selector or node "
        "affinity. Gang default/g needs 2 pods: 0 of the 2 that wait find a place.",
        ["remove disk=ssd from the node selector of 2 pods of the group", "add label disk=ssd to node n"],
    ),
    "pods within one zone": (
        [
            a_node("n", cpu="1", zone="a"),
            a_node("m", cpu="1", zone="b"),
            a_group(min_count=2, topology=ZONE),
            *members("a b"),
        ],
        "TopologyAwareWorkloadScheduling",
        "b",
        "unschedulable",
        "Pod default/b does not fit beside the others of its pod group: 1 lacks cpu. "
        "Gang default/g needs 2 pods within one topology.kubernetes.io/zone: 1 of the 2 that wait find a place.",
        ["add a node like m"],
    ),
    "preemption makes room for the whole gang": (
        [a_node("n", cpu="2"), a_pod("low", cpu="2", node="n"), a_group(min_count=2), *members("a b", priority=9)],
        "",
        "a",
        "unschedulable",
        "Pod default/a does not fit beside the others of its pod group: 1 lacks cpu. "
        "Gang default/g needs 2 pods: 0 of the 2 that wait find a place. "
        "Preemption helps: evicting 1 pod from n makes room for the pod group.",
        ["add a node like n", "evict pod default/low from node n"],
    ),
    "no nodes": (
        [a_group(min_count=2), *members("a b")],
        "",
        "a",
        "unschedulable",
        "Pod default/a does not fit beside the others of its pod group: no nodes available to schedule pods. "
        "Gang default/g needs 2 pods: 0 of the 2 that wait find a place.",
        [],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_verdict_in_a_sentence(case: str) -> None:
    objects, gates, name, verdict, summary, remedies = CASES[case]
    answer = answers(objects, gates)[name]
    assert (answer.verdict, answer.summary) == (verdict, summary)
    assert [remedy.summary for remedy in answer.remedies] == remedies


@pytest.mark.parametrize("case", [case for case in CASES if "preemption" not in case])
def test_messages_and_places_are_those_of_the_living_scheduler(case: str) -> None:
    objects, gates, *_ = CASES[case]
    found = answers(objects, gates).values()
    living = [
        (node, said) for name, (node, said) in conditions_after(objects, *gates.split()).items() if "/x" not in name
    ]
    # which of the equal pods of a gang comes first depends on when they came to the scheduler
    messages = [answer.message for answer in found if answer.verdict == "unschedulable"]
    assert sorted(messages) == sorted(said for node, said in living if said and not node)
    placed = [answer for answer in found if answer.verdict in ("schedulable", "bound")]
    assert len(placed) == sum(1 for node, _ in living if node)


def test_a_pod_that_does_not_exist_yet_counts_in_its_group() -> None:
    model = a_model(a_node("n", cpu="2"), a_group(min_count=2), *members("a"), gates=GANGS)
    before = state_of(model)
    answer = explain_pod(model, model.read(member("new")))
    assert answer.verdict == "schedulable"
    assert answer.summary.endswith("Gang default/g needs 2 pods: 2 of the 2 that wait find a place.")
    assert state_of(model) == before


def a_document(pod: Pod) -> dict[str, Any]:
    document = to_builtins(pod)
    del document["metadata"]["uid"]
    document["spec"]["containers"][0]["image"] = "main"
    return document


def gang_manifests(pods: int, cpu: str = "1") -> list[Manifest]:
    """Return the manifests of a gang: its group, and a Job with its pods."""
    container = {"name": "main", "image": "main", "resources": {"requests": {"cpu": cpu}}}
    spec = {"containers": [container], "restartPolicy": "Never", "schedulingGroup": {"podGroupName": "ring"}}
    group = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "ring"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": pods}}},
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "ring"},
        "spec": {"parallelism": pods, "completions": pods, "template": {"spec": spec}},
    }
    return [Manifest("group.yaml", group), Manifest("job.yaml", job)]


def test_a_gang_that_does_not_exist_yet_is_explained_with_all_of_its_pods() -> None:
    model = a_model(a_node("n", cpu="3"), gates=GANGS)
    before = state_of(model)
    fits, does_not = explain_manifests(model, gang_manifests(3)), explain_manifests(model, gang_manifests(4))
    assert fits.summary == (
        "Pod default/ring-0 fits with its pod group: it goes to n. "
        "Gang default/ring needs 3 pods: 3 of the 3 that wait find a place."
    )
    assert does_not.verdict == "unschedulable"
    assert [remedy.summary for remedy in does_not.remedies] == ["add a node like n"]
    assert state_of(model) == before


def test_the_pods_of_a_manifest_may_be_of_one_group_each_by_itself() -> None:
    model = a_model(a_node("n", cpu="2"), gates=GANGS)
    group, *_ = gang_manifests(2)
    pods = [Manifest(f"{name}.yaml", a_document(member(name, "ring"))) for name in "ab"]
    assert explain_manifests(model, [group, *pods]).verdict == "schedulable"
    with pytest.raises(KubeschedError, match="found 2 of them: Pod default/a, Pod default/b"):
        explain_manifests(a_model(a_node("n", cpu="2")), [group, *pods])


def test_a_bound_pod_stays_where_its_group_is() -> None:
    objects = [
        a_node("n", cpu="2", zone="a"),
        a_node("m", cpu="8", zone="b"),
        a_group(min_count=2, topology=ZONE),
        *members("a b", node="n"),
    ]
    alone = answers(objects)["a"]
    together = answers(objects, "TopologyAwareWorkloadScheduling")["a"]
    assert alone.placement is not None
    assert together.placement is not None
    assert (alone.placement.again, together.placement.again) == ("m", "n")
    assert together.group is not None
    assert (together.group.pods, together.group.scheduled, together.group.min_count) == (2, 2, 2)


def test_the_pod_in_the_way_is_explained() -> None:
    answer = answers([a_node("n", cpu="2"), a_group(min_count=3), *members("a b c")])["a"]
    assert answer.group is not None
    blocking = answer.group.blocking
    assert blocking is not None
    assert (blocking.pod, [reason.message for reason in blocking.reasons]) == ("default/c", ["Insufficient cpu"])
    assert [lack.message for miss in blocking.nearest for lack in miss.lacks] == ["lacks 1 cpu: 1 wanted, 0 free"]
    assert answer.waits is not None
    assert {each.plugin for each in answer.waits.events} == {"NodeResourcesFit", "GangScheduling"}


def test_a_placement_is_that_beside_the_pods_before() -> None:
    objects = [a_node("n", cpu="2"), a_node("m", cpu="1"), a_group(min_count=3), *members("a b c")]
    found = answers(objects)
    nodes = [found[name].placement for name in "abc"]
    assert [(each.node, each.feasible) for each in nodes if each is not None] == [("n", 2), ("n", 2), ("m", 1)]


def test_victims_for_a_gang_on_several_nodes_go_together() -> None:
    objects = [
        *(a_node(name, cpu="1") for name in "nm"),
        *(a_pod(f"low-{name}", cpu="1", node=name) for name in "nm"),
        a_group(min_count=2),
        *members("a b", priority=9),
    ]
    answer = answers(objects)["a"]
    assert answer.preemption is not None
    assert answer.preemption.helps
    (candidate,) = answer.preemption.candidates
    assert candidate.node == "m, n"
    assert [victim.pod for victim in candidate.victims] == ["default/low-m", "default/low-n"]


REPORT = """\
# Pod default/a

Pod default/a would fit on n, but waits for its pod group to fit. The first without a place is default/c: 1 lacks cpu. \
Gang default/g needs 3 pods: 2 of the 3 that wait find a place.

pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, one or more plugins asked to wait \
and no plugin rejected pod

- pod group: g

## Pod default/c of the group, the first without a place

0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: \
1 No preemption victims found for incoming pod.

| NODES | REASON | PLUGIN | PREEMPTION | WHICH |
|---:|---|---|---|---|
| 1 | Insufficient cpu | NodeResourcesFit | may help | n |

| NODE | LACKS |
|---|---|
| n | lacks 1 cpu: 1 wanted, 0 free |

## What helps

1. add a node like n
   - then it goes to n

"""


def test_the_report_explains_the_pod_in_the_way() -> None:
    answer = answers([a_node("n", cpu="2"), a_group(min_count=3), *members("a b c")])["a"]
    before, _, after = as_markdown(pod_report(answer)).partition("## Waits for")
    assert before == REPORT
    assert after

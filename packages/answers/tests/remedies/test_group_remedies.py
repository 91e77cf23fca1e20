"""Remedies of pods of random gangs: applied, the gang is placed with the pod; without any one change the pod is not."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tests.support.corpus_models import a_model_of, scenarios
from tests.support.models import a_model
from tests.support.pod_groups import GANGS, a_group, member
from tests.support.remedy_proofs import Document, applied, model_of
from tests.support.whatif import state_of

from kubesched.api.codec import to_builtins
from kubesched.api.kinds import flattened, is_foreign
from kubesched.api.meta import ApiObject
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.load import Loaded
from kubesched.conformance.groups import GroupJudge
from kubesched.core.assembly import load_config
from kubesched.core.cluster.pod_groups import group_of
from kubesched.model.group_attempts import is_in_group
from kubesched.testing import a_budget, a_node, a_pod
from kubesched_answers.remedies.remedy import Remedy
from kubesched_answers.remedies.search import find_remedies

LOADED = load_config(None, FeatureGates(dict.fromkeys(GANGS.split(), True)))


def node_of(documents: Iterable[Document], name: str, group: str = "default/g", loaded: Loaded = LOADED) -> str:
    """Return the node that a new scheduler finds for a pod when it tries its group, empty if there is none."""
    model = model_of(documents, loaded)
    entry = GroupJudge(model.engine, sequence=False).judge(group)
    pod = next(each for each in entry["pods"] if each["pod"] == name)
    return str(pod.get("node", "")) if entry.get("code") == "Success" and "status" not in pod else ""


def check(documents: Sequence[Document], remedy: Remedy, *asked: Any) -> None:
    """Assert that a remedy is sound, and minimal in every change."""
    assert node_of(applied(documents, remedy.changes), *asked), remedy
    for left_out in remedy.changes:
        fewer = [change for change in remedy.changes if change is not left_out]
        assert not node_of(applied(documents, fewer), *asked), (remedy, left_out)


@st.composite
def nodes(draw: st.DrawFn, name: str) -> ApiObject:
    return a_node(
        name,
        cpu=draw(st.sampled_from(["1", "2", "4"])),
        zone=draw(st.sampled_from("ab")),
        labels=draw(st.dictionaries(st.just("disk"), st.sampled_from(["ssd", "hdd"]))),
        taints=draw(st.sampled_from([[], [], ["gpu=true:NoSchedule"]])),
        unschedulable=draw(st.integers(0, 4)) == 0,
    )


@st.composite
def gangs(draw: st.DrawFn) -> list[ApiObject]:
    count = draw(st.integers(1, 5))
    words: dict[str, Any] = {
        "cpu": draw(st.sampled_from(["500m", "1", "3", "6"])),
        "node_selector": draw(st.sampled_from([None, None, {"disk": "ssd"}])),
        "ports": draw(st.sampled_from([[], [], [80]])),
    }
    gated = draw(st.sampled_from([0, 0, 1]))
    pods = [member(f"m{number}", gates=["wait"] if number < gated else [], **words) for number in range(count)]
    return [a_group(min_count=draw(st.integers(1, count + 2))), *pods]


@st.composite
def clusters(draw: st.DrawFn) -> list[ApiObject]:
    count = draw(st.integers(1, 4))
    placed = [
        a_pod(
            f"p{number}",
            node=f"n{draw(st.integers(1, count))}",
            labels={"app": "web"},
            cpu=draw(st.sampled_from(["500m", "1", "2"])),
            owner=draw(st.sampled_from([None, "ReplicaSet/web", "DaemonSet/agent"])),
        )
        for number in range(draw(st.integers(0, 5)))
    ]
    budget = a_budget("budget", "app=web", allowed=draw(st.integers(0, 3)))
    return [*(draw(nodes(f"n{number + 1}")) for number in range(count)), *placed, budget]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(clusters(), gangs())
def test_remedies_of_gangs_are_sound_and_minimal(cluster: list[ApiObject], gang: Sequence[ApiObject]) -> None:
    objects = [*cluster, *gang]
    documents = [to_builtins(obj) for obj in objects]
    model = model_of(documents, LOADED)
    before = state_of(model)
    pod = model.pods[gang[-1].full_name]
    remedies = find_remedies(model, pod)
    event(f"{len(remedies)} remedies")
    if node_of(documents, pod.full_name):
        assert remedies == ()
    for remedy in remedies:
        check(documents, remedy, pod.full_name)
    assert state_of(model) == before


def test_the_pods_that_a_gang_lacks_are_created() -> None:
    objects = [a_node("n1", cpu="4"), a_group(min_count=3), member("m0", cpu="1")]
    documents = [to_builtins(obj) for obj in objects]
    [remedy] = find_remedies(model_of(documents, LOADED), model_of(documents, LOADED).pods["default/m0"])
    assert (remedy.summary, remedy.node) == ("create 2 more pods of the gang, like default/m0", "n1")
    assert [change.create is not None for change in remedy.changes] == [True, True]
    check(documents, remedy, "default/m0")


def test_pods_that_would_not_fit_are_not_created() -> None:
    objects = [a_node("n1", cpu="2"), a_group(min_count=3), member("m0", cpu="1")]
    model = model_of([to_builtins(obj) for obj in objects], LOADED)
    assert find_remedies(model, model.pods["default/m0"]) == ()


def test_remedies_of_the_corpus_are_sound_and_minimal() -> None:
    found = 0
    for line in islice(scenarios("pod-groups"), 0, None, 4):
        model = a_model_of(line)
        documents = [document for document in flattened(line["objects"]) if not is_foreign(document)]
        for pod in list(model.cluster.pending.values()):
            if is_in_group(model, pod):
                for remedy in find_remedies(model, pod):
                    check(documents, remedy, pod.full_name, "/".join(group_of(pod) or ()), model.loaded)
                    found += 1
    assert found


def test_nodes_are_counted_for_a_large_gang() -> None:
    pods = [member(f"m{number:02}") for number in range(40)]
    model = a_model(a_node("n", cpu="3"), a_group(min_count=40), *pods, gates=GANGS)
    (remedy,) = find_remedies(model, model.pods["default/m00"])
    # 37 pods are left, three a node
    assert remedy.summary == "add 13 nodes like n"
    assert len(remedy.changes) == 13
    assert len({change.object.name for change in remedy.changes}) == 13


def test_pods_of_the_group_are_no_victims_for_it() -> None:
    placed = [member(name, node="n", owner="Job/g") for name in "ab"]
    model = a_model(a_node("n", cpu="2"), a_group(min_count=3), *placed, member("c"), gates=GANGS)
    assert [remedy.summary for remedy in find_remedies(model, model.pods["default/c"])] == ["add a node like n"]

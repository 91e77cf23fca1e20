"""TaintToleration: rejections, scores and hints."""

import pytest
from tests.support.asking import hint, normalized, raw_scores, rejections

from kubesched.api.pods import Taint, Toleration
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.framework.values.events import Action, Hint, Resource
from kubesched.core.framework.values.status import unresolvable
from kubesched.core.plugins.taint_toleration import TaintToleration
from kubesched.testing import a_cluster, a_node, a_pod

PLUGIN = TaintToleration(FeatureGates())
COMPARING = TaintToleration(FeatureGates({"TaintTolerationComparisonOperators": True}))


@pytest.mark.parametrize(
    ("taints", "tolerations", "accepted"),
    [
        pytest.param([], [], True, id="no taint"),
        pytest.param(["a=1:NoSchedule"], [], False, id="NoSchedule rejects"),
        pytest.param(["a=1:NoExecute"], [], False, id="so does NoExecute"),
        pytest.param(["a=1:PreferNoSchedule"], [], True, id="PreferNoSchedule does not"),
        pytest.param(["a=1:NoSchedule"], ["a=1:NoSchedule"], True, id="tolerated"),
        pytest.param(["a=1:NoSchedule"], ["a=2:NoSchedule"], False, id="another value"),
        pytest.param(["a=1:NoSchedule", "b:NoExecute"], ["a"], False, id="every taint must be tolerated"),
        pytest.param(["a=1:NoSchedule", "b:NoExecute"], ["a", "b"], True, id="by one toleration or another"),
        pytest.param(["a=1:NoSchedule", "b:NoExecute"], ["*"], True, id="one toleration for everything"),
        pytest.param([Taint(key="a", effect="Bogus")], [], True, id="an unknown effect forbids nothing"),
    ],
)
def test_rejections(taints: list[str | Taint], tolerations: list[str], accepted: bool) -> None:
    cluster = a_cluster(a_node("n", taints=taints), a_node("plain"))
    rejected = {} if accepted else {"n": unresolvable("node(s) had untolerated taint(s)")}
    assert rejections(PLUGIN, cluster, a_pod(tolerations=tolerations)) == rejected


def test_numbers_are_compared_behind_their_gate_only() -> None:
    cluster = a_cluster(a_node("low", taints=["load=3:NoSchedule"]), a_node("high", taints=["load=7:NoSchedule"]))
    pod = a_pod(tolerations=["load<5"])
    assert set(rejections(PLUGIN, cluster, pod)) == {"low", "high"}
    assert set(rejections(COMPARING, cluster, pod)) == {"high"}


def test_scores_count_discouraging_taints_that_are_not_tolerated() -> None:
    cluster = a_cluster(
        a_node("none", taints=["x:NoSchedule"]),
        a_node("one", taints=["a=1:PreferNoSchedule"]),
        a_node("three", taints=["a=1:PreferNoSchedule", "b:PreferNoSchedule", "c:PreferNoSchedule"]),
    )
    pod = a_pod()
    raw = raw_scores(PLUGIN, cluster, pod)
    assert raw == {"none": 0, "one": 1, "three": 3}
    assert normalized(PLUGIN, cluster, pod, raw) == {"none": 100, "one": 67, "three": 0}
    assert raw_scores(PLUGIN, cluster, a_pod(tolerations=["a", "b:PreferNoSchedule"])) == {
        "none": 0,
        "one": 0,
        "three": 1,
    }
    hard = a_pod(tolerations=["a:NoSchedule", "b:NoExecute"])
    assert raw_scores(PLUGIN, cluster, hard) == raw, "tolerations of other effects do not count"


def test_without_such_taints_all_nodes_are_best() -> None:
    assert normalized(PLUGIN, a_cluster(), a_pod(), {"a": 0, "b": 0}) == {"a": 100, "b": 100}


def test_keys_tell_apart_only_what_matters() -> None:
    read = a_cluster().reader.read
    plain = read(a_pod(tolerations=["a", "b:NoExecute"]))
    seconds = Toleration(key="b", operator="Exists", effect="NoExecute", toleration_seconds=300)
    same = read(a_pod(tolerations=[seconds, "a"]))
    soft = read(a_pod(tolerations=["a", "b:NoExecute", "c:PreferNoSchedule"]))
    assert PLUGIN.key(plain) == PLUGIN.key(same) == PLUGIN.key(soft)
    assert PLUGIN.score_key(plain) == PLUGIN.score_key(same) != PLUGIN.score_key(soft)
    assert PLUGIN.key(read(a_pod(tolerations=["a=1"]))) != PLUGIN.key(read(a_pod(tolerations=["a=2"])))


CLEAN, TAINTED = a_node(), a_node(taints=["a=1:NoSchedule"])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, CLEAN, Hint.QUEUE, id="a node without taints appeared"),
        pytest.param(None, TAINTED, Hint.QUEUE_SKIP, id="a node with a taint appeared"),
        pytest.param(TAINTED, CLEAN, Hint.QUEUE, id="the taint is gone"),
        pytest.param(CLEAN, TAINTED, Hint.QUEUE_SKIP, id="the taint is new"),
        pytest.param(CLEAN, CLEAN, Hint.QUEUE_SKIP, id="it was no hindrance before"),
    ],
)
def test_node_hints(old: object, new: object, expected: Hint) -> None:
    event = (Resource.NODE, Action.ADD if old is None else Action.UPDATE_NODE_TAINT)
    assert hint(PLUGIN, a_cluster(), a_pod(), event, old, new) is expected  # type: ignore[arg-type]


def test_pod_hints() -> None:
    event = (Resource.UNSCHEDULED_POD, Action.UPDATE_POD_TOLERATION)
    assert hint(PLUGIN, a_cluster(), a_pod("p"), event, a_pod("p"), a_pod("p")) is Hint.QUEUE
    assert hint(PLUGIN, a_cluster(), a_pod("p"), event, a_pod("q"), a_pod("q")) is Hint.QUEUE_SKIP

"""What the plugins of pod groups say: who is held back, who waits, which placements there are, and what helps."""

from typing import Any

import numpy as np
import pytest

from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.api.pods import Pod, PodSchedulingGroup
from kubesched.api.scheduling import (
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingConstraints,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    TopologyConstraint,
)
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.values.cycle import PODS_TO_ACTIVATE, CycleState
from kubesched.core.framework.values.events import Hint
from kubesched.core.framework.values.placements import Placement
from kubesched.core.framework.values.status import Code, Status
from kubesched.core.framework.views.nodes import Nodes
from kubesched.core.plugins.gang_scheduling import PERMIT_SECONDS, GangScheduling, after_group_added, after_pod_added
from kubesched.core.plugins.pod_group_pods_count import PodGroupPodsCount
from kubesched.core.plugins.topology_placement_generator import TopologyPlacementGenerator
from kubesched.testing import a_cluster, a_node, a_pod


def info(pod: Pod) -> PodInfo:
    return a_cluster().reader.read(pod)


def member(name: str, group: str | None = "g", **words: Any) -> Pod:
    return a_pod(name, scheduling_group=PodSchedulingGroup(pod_group_name=group), **words)


def of_group(name: str | None, **words: Any) -> PodInfo:
    return info(member("p", name, **words))


def a_group(name: str = "g", min_count: int | None = 2, topology: str = "") -> PodGroup:
    gang = GangSchedulingPolicy(min_count=min_count) if min_count is not None else None
    constraints = PodGroupSchedulingConstraints(topology=(TopologyConstraint(key=topology),)) if topology else None
    spec = PodGroupSpec(scheduling_policy=PodGroupSchedulingPolicy(gang=gang), scheduling_constraints=constraints)
    return PodGroup(metadata=ObjectMeta(name=name, namespace="default"), spec=spec)


def a_cluster_with(*objects: ApiObject) -> ClusterState:
    cluster = a_cluster()
    for obj in objects:
        cluster.add(obj)
    return cluster


# -- GangScheduling


@pytest.mark.parametrize(
    ("objects", "pod", "reason"),
    [
        pytest.param([], info(a_pod("p")), "", id="a pod without a group passes"),
        pytest.param([], of_group(None), "", id="a group without a name is none"),
        pytest.param([], of_group("g"), "waiting for pods's pod group", id="the group does not exist"),
        pytest.param([a_group(min_count=None)], of_group("g"), "", id="a group that is no gang passes"),
        pytest.param([a_group(), member("a")], of_group("g"), "waiting for minCount pods", id="too few pods"),
        pytest.param([a_group(), member("a"), member("b")], of_group("g"), "", id="enough pods"),
        pytest.param(
            [a_group(), member("a"), member("b", node="n1")], of_group("g"), "", id="pods with a node count, too"
        ),
        pytest.param(
            [a_group(), member("a"), member("b", "h"), member("c", namespace="other")],
            of_group("g"),
            "waiting for minCount pods",
            id="pods of other groups do not count",
        ),
    ],
)
def test_pre_enqueue_waits_for_the_gang(objects: list[ApiObject], pod: PodInfo, reason: str) -> None:
    refusal = GangScheduling(a_cluster_with(*objects)).pre_enqueue(pod)
    assert (refusal is not None) is bool(reason)
    if refusal is not None:
        assert refusal.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
        assert refusal.message.startswith(reason)


class Waiting:
    """A pod that waits, and remembers who let it go."""

    def __init__(self) -> None:
        self.allowed_by: list[str] = []

    def allow(self, plugin: str) -> None:
        self.allowed_by.append(plugin)


def test_permit_lets_the_gang_go_on_with_the_last_of_its_pods() -> None:
    cluster = a_cluster_with(a_node("n1"), a_group(min_count=2), member("a"), member("b"), member("c"))
    a, b, c = list(cluster.pending.values())
    waiting = {a.uid: Waiting()}
    plugin = GangScheduling(cluster, waiting_pods=waiting)  # type: ignore[arg-type]
    cycle = CycleState()
    first = plugin.permit(cycle, cluster.assume(a, "n1"), "n1")
    assert first.status.code is Code.WAIT
    assert first.timeout_seconds == PERMIT_SECONDS
    assert cycle.read(PODS_TO_ACTIVATE) == {b.uid, c.uid}
    assert plugin.permit(cycle, cluster.assume(b, "n1"), "n1").status.ok
    assert waiting[a.uid].allowed_by == ["GangScheduling"]


def test_permit_forgets_who_gave_the_place_back() -> None:
    cluster = a_cluster_with(a_node("n1"), a_group(min_count=2), member("a"), member("b"))
    a, b = list(cluster.pending.values())
    plugin = GangScheduling(cluster)
    cluster.forget(cluster.assume(a, "n1"))
    assert plugin.permit(CycleState(), cluster.assume(b, "n1"), "n1").status.code is Code.WAIT


def test_permit_fails_when_the_group_has_gone() -> None:
    status = GangScheduling(a_cluster()).permit(CycleState(), of_group("g"), "n1").status
    assert status.code is Code.ERROR
    assert 'failed to get podGroup default/g: podgroup.scheduling.k8s.io "g" not found' in status.message


@pytest.mark.parametrize(
    ("pod", "added", "hint"),
    [
        pytest.param(of_group("g"), of_group("g"), Hint.QUEUE, id="a pod of the same group"),
        pytest.param(of_group("g"), of_group("h"), Hint.QUEUE_SKIP, id="a pod of another group"),
        pytest.param(of_group("g"), of_group("g", namespace="other"), Hint.QUEUE_SKIP, id="a group elsewhere"),
        pytest.param(info(a_pod("p")), info(a_pod("q")), Hint.QUEUE_SKIP, id="no groups at all"),
        pytest.param(of_group(None), of_group(None), Hint.QUEUE_SKIP, id="groups without a name"),
    ],
)
def test_a_new_pod_helps_its_own_group(pod: PodInfo, added: PodInfo, hint: Hint) -> None:
    assert after_pod_added(pod, None, added) is hint


@pytest.mark.parametrize(
    ("name", "namespace", "hint"),
    [
        pytest.param("g", "default", Hint.QUEUE, id="its own group"),
        pytest.param("h", "default", Hint.QUEUE_SKIP, id="another group"),
        pytest.param("g", "other", Hint.QUEUE_SKIP, id="one of the same name elsewhere"),
    ],
)
def test_a_group_that_appears_helps_its_own_pods(name: str, namespace: str, hint: Hint) -> None:
    group = PodGroup(metadata=ObjectMeta(name=name, namespace=namespace))
    assert after_group_added(of_group("g"), None, group) is hint


# -- placements


def zones(**zone_of: str) -> list[ApiObject]:
    return [a_node(name, zone=zone) for name, zone in zone_of.items()]


ZONE = "topology.kubernetes.io/zone"
NODES = zones(n1="a", n2="b", n3="a")


@pytest.mark.parametrize(
    ("objects", "topology", "names"),
    [
        pytest.param([], "", [["n1", "n2", "n3"]], id="without a constraint there is one placement"),
        pytest.param([], ZONE, [["n1", "n3"], ["n2"]], id="one for each zone"),
        pytest.param([], "rack", [], id="no node has the label"),
        pytest.param([member("a", node="n2")], ZONE, [["n2"]], id="where the others are"),
        pytest.param([member("a", "h", node="n2")], ZONE, [["n1", "n3"], ["n2"]], id="another group is elsewhere"),
    ],
)
def test_placements_are_domains(objects: list[ApiObject], topology: str, names: list[list[str]]) -> None:
    cluster = a_cluster_with(*NODES, *objects)
    everywhere = Placement("", cluster.table.present_rows())
    found = TopologyPlacementGenerator(cluster).generate_placements(a_group(topology=topology), everywhere)
    assert not isinstance(found, Status)
    assert [[cluster.table.names[row] for row in placement.rows] for placement in found] == names


@pytest.mark.parametrize(
    ("objects", "problem"),
    [
        pytest.param([member("a", node="n9")], 'nodeinfo not found for node name "n9"', id="on no node"),
        pytest.param([member("a", node="bare"), a_node("bare")], "no topology domain found", id="without a label"),
        pytest.param([member("a", node="n1"), member("b", node="n2")], "more than 1 domain", id="torn apart"),
    ],
)
def test_a_group_that_is_nowhere_in_particular_is_an_error(objects: list[ApiObject], problem: str) -> None:
    cluster = a_cluster_with(*NODES, *objects)
    everywhere = Placement("", cluster.table.present_rows())
    found = TopologyPlacementGenerator(cluster).generate_placements(a_group(topology=ZONE), everywhere)
    assert isinstance(found, Status)
    assert found.code is Code.ERROR
    assert problem in found.message


def test_placements_that_take_more_pods_are_better() -> None:
    cluster = a_cluster_with(a_node("n1"), member("old", node="n1"))
    plugin = PodGroupPodsCount(cluster)
    nodes = Nodes(cluster.table, np.array([0]))
    counts = [plugin.score_placement([of_group("g")] * n, nodes) for n in (1, 3)]
    assert counts == [2, 4]
    assert plugin.normalize_placement_scores([2, 4]) == [50, 100]
    assert isinstance(plugin.normalize_placement_scores([0, 0]), Status)

"""What the plugins of pod groups do so far: they let other pods pass, refuse pods of groups, and know what helps."""

from typing import Any

import pytest

from kubesched.api.groups import PodGroup
from kubesched.api.meta import ObjectMeta
from kubesched.api.pods import Pod, PodSchedulingGroup
from kubesched.cluster.pod_info import PodInfo
from kubesched.framework.cycle import CycleState
from kubesched.framework.events import Hint
from kubesched.framework.status import Code
from kubesched.plugins.gang_scheduling import GangScheduling, after_group_added, after_pod_added
from kubesched.testing import a_cluster, a_pod


def info(pod: Pod) -> PodInfo:
    return a_cluster().reader.read(pod)


def of_group(name: str | None, **words: Any) -> PodInfo:
    return info(a_pod("p", scheduling_group=PodSchedulingGroup(pod_group_name=name), **words))


def test_gang_scheduling_lets_pods_without_a_group_pass() -> None:
    plugin = GangScheduling()
    alone, grouped = info(a_pod("p")), of_group("g")
    assert plugin.pre_enqueue(alone) is None
    assert plugin.permit(CycleState(), alone, "n1").status.ok
    refusal = plugin.pre_enqueue(grouped)
    assert refusal is not None
    assert refusal.code is Code.ERROR
    assert plugin.permit(CycleState(), grouped, "n1").status.code is Code.ERROR


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

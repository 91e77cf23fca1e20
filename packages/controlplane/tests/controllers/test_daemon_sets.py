"""Daemon sets: a pod on each node where it belongs, and nowhere else."""

import asyncio
from collections import Counter
from typing import Any

import pytest
from tests.support.simulated import SimulatedCluster
from tests.support.workloads import (
    a_node,
    a_template,
    a_workload,
    images,
    set_image,
    status_of,
    staying,
    with_nodes,
)

from kubesched_controlplane.controllers.framework.options import Options

Document = dict[str, Any]


def places(cluster: SimulatedCluster) -> list[str]:
    """Return the nodes of the pods that are not going."""
    return sorted(pod["spec"].get("nodeName", "") for pod in staying(cluster))


def taint(cluster: SimulatedCluster, node: str, key: str, effect: str) -> None:
    """Give a node a taint."""
    cluster.change("Node", node, lambda found: found["spec"].update(taints=[{"key": key, "effect": effect}]))


def test_every_node_has_a_pod_also_one_that_comes_later() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("DaemonSet"))
        await asyncio.sleep(2)
        assert places(cluster) == ["n0", "n1", "n2"]
        cluster.create(a_node("n9"))
        await asyncio.sleep(2)
        assert places(cluster) == ["n0", "n1", "n2", "n9"]
        assert status_of(cluster, "DaemonSet") == {
            "currentNumberScheduled": 4,
            "numberMisscheduled": 0,
            "desiredNumberScheduled": 4,
            "numberReady": 4,
            "observedGeneration": 1,
            "updatedNumberScheduled": 4,
            "numberAvailable": 4,
        }
        cluster.delete("Node", "n1")
        await asyncio.sleep(60)
        assert places(cluster) == ["n0", "n2", "n9"]
        assert status_of(cluster, "DaemonSet")["desiredNumberScheduled"] == 3

    with_nodes(story)


def test_a_pod_can_only_be_placed_on_its_node_and_puts_up_with_much() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        template = a_template()
        template["spec"]["affinity"] = {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "not", "operator": "DoesNotExist"}]}]
                }
            }
        }
        cluster.create(a_workload("DaemonSet", template=template))
        await asyncio.sleep(1)
        (pod,) = staying(cluster)
        required = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        assert required == {
            "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n0"]}]}]
        }
        assert [(each["key"], each["effect"]) for each in pod["spec"]["tolerations"]] == [
            ("node.kubernetes.io/not-ready", "NoExecute"),
            ("node.kubernetes.io/unreachable", "NoExecute"),
            ("node.kubernetes.io/disk-pressure", "NoSchedule"),
            ("node.kubernetes.io/memory-pressure", "NoSchedule"),
            ("node.kubernetes.io/pid-pressure", "NoSchedule"),
            ("node.kubernetes.io/unschedulable", "NoSchedule"),
        ]
        assert pod["metadata"]["labels"]["pod-template-generation"] == "1"
        (revision,) = cluster.all("ControllerRevision")
        assert (
            pod["metadata"]["labels"]["controller-revision-hash"]
            == (revision["metadata"]["labels"]["controller-revision-hash"])
        )

    with_nodes(story, 1)


ELIGIBLE: list[tuple[str, Document, list[str]]] = [
    ("all nodes", {}, ["n0", "n1", "n2"]),
    ("by label", {"nodeSelector": {"disk": "fast"}}, ["n1"]),
    (
        "tolerating what others do not",
        {"tolerations": [{"key": "mine", "operator": "Exists"}]},
        ["n0", "n1", "n2", "t"],
    ),
    ("by name", {"nodeName": "n2"}, ["n2"]),
]


@pytest.mark.parametrize(("name", "spec", "expected"), ELIGIBLE, ids=[row[0] for row in ELIGIBLE])
def test_on_which_nodes_pods_belong(name: str, spec: Document, expected: list[str]) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.change("Node", "n1", lambda node: node["metadata"].update(labels={"disk": "fast"}))
        tainted = a_node("t")
        tainted["spec"] = {"taints": [{"key": "mine", "effect": "NoSchedule"}]}
        cluster.create(tainted)
        template = a_template()
        template["spec"].update(spec)
        cluster.create(a_workload("DaemonSet", template=template))
        await asyncio.sleep(2)
        assert places(cluster) == expected

    with_nodes(story)


def test_pods_stay_on_a_node_that_takes_no_more_and_go_from_one_that_expels_them() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("DaemonSet"))
        await asyncio.sleep(2)
        taint(cluster, "n0", "busy", "NoSchedule")
        taint(cluster, "n1", "out", "NoExecute")
        await asyncio.sleep(5)
        assert places(cluster) == ["n0", "n2"]
        status = status_of(cluster, "DaemonSet")
        assert (status["desiredNumberScheduled"], status["numberMisscheduled"]) == (1, 1)
        cluster.change("Node", "n0", lambda node: node["spec"].pop("taints"))
        cluster.change("Node", "n1", lambda node: node["spec"].pop("taints"))
        await asyncio.sleep(5)
        assert places(cluster) == ["n0", "n1", "n2"]
        assert status_of(cluster, "DaemonSet")["numberMisscheduled"] == 0

    with_nodes(story)


def test_a_node_that_loses_its_label_loses_its_pod() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.change("Node", "n1", lambda node: node["metadata"].update(labels={"disk": "fast"}))
        template = a_template()
        template["spec"]["nodeSelector"] = {"disk": "fast"}
        cluster.create(a_workload("DaemonSet", template=template))
        await asyncio.sleep(2)
        assert places(cluster) == ["n1"]
        cluster.change("Node", "n1", lambda node: node["metadata"].update(labels={}))
        await asyncio.sleep(3)
        assert places(cluster) == []
        assert status_of(cluster, "DaemonSet")["desiredNumberScheduled"] == 0

    with_nodes(story)


def test_new_templates_replace_pods_node_by_node() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("DaemonSet"))
        await asyncio.sleep(10)
        changed = cluster.change("DaemonSet", "web", set_image("app:2"))
        assert changed["metadata"]["annotations"]["deprecated.daemonset.template.generation"] == "2"
        least = 99
        for _ in range(120):
            await asyncio.sleep(0.25)
            least = min(least, status_of(cluster, "DaemonSet")["numberReady"])
        assert images(cluster) == ["app:2"] * 5
        assert least >= 4, "one at a time"
        assert len(cluster.names("ControllerRevision")) == 2

    with_nodes(story, 5, Options(ready_seconds=1))


def test_new_pods_may_come_before_the_old_ones_go() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}}
        cluster.create(a_workload("DaemonSet", updateStrategy=strategy))
        await asyncio.sleep(10)
        cluster.change("DaemonSet", "web", set_image("app:2"))
        most, least = 0, 99
        for _ in range(120):
            await asyncio.sleep(0.25)
            most = max(most, len(staying(cluster)))
            least = min(least, status_of(cluster, "DaemonSet")["numberReady"])
        assert images(cluster) == ["app:2"] * 5
        assert (most, least) == (7, 5)

    with_nodes(story, 5, Options(ready_seconds=1))


def test_pods_are_replaced_only_when_somebody_deletes_them() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("DaemonSet", updateStrategy={"type": "OnDelete"}))
        await asyncio.sleep(3)
        cluster.change("DaemonSet", "web", set_image("app:2"))
        await asyncio.sleep(5)
        assert images(cluster) == ["app:1"] * 3
        assert status_of(cluster, "DaemonSet").get("updatedNumberScheduled", 0) == 0
        cluster.delete("Pod", cluster.names("Pod")[0])
        await asyncio.sleep(5)
        assert Counter(images(cluster)) == {"app:1": 2, "app:2": 1}

    with_nodes(story)


def test_min_ready_seconds_hold_back_what_is_available() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("DaemonSet", minReadySeconds=10))
        await asyncio.sleep(5)
        status = status_of(cluster, "DaemonSet")
        assert (status["numberReady"], status.get("numberAvailable", 0), status["numberUnavailable"]) == (3, 0, 3)
        await asyncio.sleep(7)
        assert status_of(cluster, "DaemonSet")["numberAvailable"] == 3

    with_nodes(story)


def test_pods_that_fail_are_replaced_ever_more_slowly() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("DaemonSet"))
        await asyncio.sleep(2)
        seen = []
        for _ in range(30):
            (name,) = cluster.names("Pod")
            if name not in seen:
                seen.append(name)
                cluster.change("Pod", name, lambda pod: pod["status"].update(phase="Failed"), "status")
            await asyncio.sleep(1)
        assert 4 <= len(seen) <= 7, seen

    with_nodes(story, 1)


def test_old_revisions_are_dropped() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("DaemonSet", revisionHistoryLimit=1))
        for number in range(2, 6):
            await asyncio.sleep(5)
            cluster.change("DaemonSet", "web", set_image(f"app:{number}"))
        await asyncio.sleep(5)
        assert sorted(each["revision"] for each in cluster.all("ControllerRevision")) == [4, 5]

    with_nodes(story, 1)


def test_a_hundred_nodes_are_served_at_once() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("DaemonSet"))
        await asyncio.sleep(1)
        assert len(set(places(cluster))) == 100
        assert status_of(cluster, "DaemonSet")["numberAvailable"] == 100

    with_nodes(story, 100)

"""Nodes without kubelets: how they become ready, what they do with pods, and what becomes of pods without a node."""

import asyncio
from functools import partial
from typing import Any

import pytest
from tests.support.simulated import SimulatedCluster, in_simulated_cluster

from kubesched.manifests import Manifest
from kubesched_controlplane.controllers.framework.options import Options
from kubesched_controlplane.loading.loader import create

Document = dict[str, Any]
NOT_READY = "node.kubernetes.io/not-ready"


def a_node(name: str, **capacity: str) -> Document:
    """Return a node; without a capacity it says nothing of itself."""
    status = {"capacity": {"pods": "110", **capacity}} if capacity else {}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def a_pod(name: str, node: str = "", cpu: str = "100m", **spec: Any) -> Document:
    """Return a pod, on a node if one is given."""
    container = {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": cpu}}}
    placed = {"nodeName": node} if node else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container], **placed, **spec},
    }


def condition(document: Document | None, kind: str) -> str:
    """Return the status of a condition, or an empty text."""
    assert document is not None
    for each in document["status"].get("conditions") or ():
        if each["type"] == kind:
            return str(each["status"])
    return ""


def phase(cluster: SimulatedCluster, pod: str) -> str:
    """Return the phase of a pod, or `gone`."""
    found = cluster.get("Pod", pod)
    return str(found["status"]["phase"]) if found is not None else "gone"


def taints(cluster: SimulatedCluster, node: str) -> list[tuple[str, str]]:
    """Return a node's taints by key and effect."""
    found = cluster.get("Node", node)
    assert found is not None
    return [(taint["key"].rpartition("/")[2], taint["effect"]) for taint in found["spec"].get("taints") or ()]


def _put(field: str, value: Any, document: Document) -> None:
    """Put something into the status of an object."""
    document["status"][field] = value


# -- nodes


def test_a_node_becomes_ready_after_its_delay_and_only_then_loses_its_taint() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        await asyncio.sleep(4)
        assert condition(cluster.get("Node", "n"), "Ready") == ""
        assert taints(cluster, "n") == [("not-ready", "NoSchedule")]
        await asyncio.sleep(2)
        node = cluster.get("Node", "n")
        assert node is not None
        assert condition(node, "Ready") == "True"
        assert node["spec"].get("taints") is None
        assert node["status"]["addresses"] == [
            {"type": "InternalIP", "address": "10.0.0.1"},
            {"type": "Hostname", "address": "n"},
        ]
        assert node["status"]["allocatable"]["cpu"] == "8"
        assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.36.4"

    in_simulated_cluster(story, Options(node_ready_seconds=5))


def test_what_somebody_said_of_a_node_stays() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        broken = a_node("broken", cpu="2")
        broken["status"]["conditions"] = [{"type": "Ready", "status": "False", "reason": "Mine"}]
        cluster.create(broken)
        foreign = a_node("foreign", cpu="2")
        foreign["metadata"]["annotations"] = {"kubesched.io/simulated": "false"}
        cluster.create(foreign)
        await asyncio.sleep(1)
        node = cluster.get("Node", "broken")
        assert node is not None
        assert node["status"]["conditions"][0]["reason"] == "Mine"
        assert node["status"]["capacity"]["cpu"] == "2"
        assert taints(cluster, "broken") == [("not-ready", "NoSchedule"), ("not-ready", "NoExecute")]
        assert condition(cluster.get("Node", "foreign"), "Ready") == ""

    in_simulated_cluster(story)


def test_nodes_give_signs_of_life_only_if_asked_to() -> None:
    async def versions(cluster: SimulatedCluster) -> tuple[str, str]:
        cluster.create(a_node("n"))
        await asyncio.sleep(1)
        before = cluster.get("Node", "n")
        await asyncio.sleep(60)
        after = cluster.get("Node", "n")
        assert before is not None
        assert after is not None
        return before["metadata"]["resourceVersion"], after["metadata"]["resourceVersion"]

    async def silent(cluster: SimulatedCluster) -> None:
        before, after = await versions(cluster)
        assert before == after

    async def alive(cluster: SimulatedCluster) -> None:
        before, after = await versions(cluster)
        assert int(after) - int(before) == 6

    in_simulated_cluster(silent)
    in_simulated_cluster(alive, Options(heartbeat_seconds=10))


def lease(cluster: SimulatedCluster, node: str) -> Document | None:
    """Return the lease of a node."""
    return cluster.get("Lease", node, "kube-node-lease")


def test_a_node_renews_its_lease_which_goes_with_it() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        made = cluster.create(a_node("n"))
        await asyncio.sleep(1)
        first = lease(cluster, "n")
        assert first is not None
        assert first["spec"] == {
            "holderIdentity": "n",
            "leaseDurationSeconds": 40,
            "renewTime": "2026-01-01T00:00:00.000000Z",
        }
        assert first["metadata"]["ownerReferences"][0]["uid"] == made["metadata"]["uid"]
        await asyncio.sleep(10)
        renewed = lease(cluster, "n")
        assert renewed is not None
        assert renewed["spec"]["renewTime"] == "2026-01-01T00:00:10.000000Z"
        cluster.delete("Node", "n")
        await asyncio.sleep(30)
        assert lease(cluster, "n") is None

    in_simulated_cluster(story, Options(lease_seconds=10))


def test_a_lease_that_is_deleted_is_created_again() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        await asyncio.sleep(1)
        cluster.delete("Lease", "n", "kube-node-lease")
        await asyncio.sleep(10)
        assert lease(cluster, "n") is not None

    in_simulated_cluster(story, Options(lease_seconds=10))


def test_large_clusters_renew_leases_less_often() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        for number in range(1000):
            cluster.create(a_node(f"n{number}"))
        await asyncio.sleep(2)
        before = cluster.server.registry.store.version
        await asyncio.sleep(10)
        assert cluster.server.registry.store.version == before
        await asyncio.sleep(10)
        assert cluster.server.registry.store.version == before + 1000

    in_simulated_cluster(story, Options(lease_seconds=10))


CAPACITIES = [
    ("an extended resource that is added", {"e.com/x": "3"}, {}, {"cpu": "2", "e.com/x": "3"}),
    ("an amount that grows", {"cpu": "4"}, {}, {"cpu": "4"}),
    ("an amount that the same write sets", {"e.com/x": "3"}, {"e.com/x": "1"}, {"cpu": "2", "e.com/x": "1"}),
    ("an amount of which some is reserved", {"memory": "4Gi"}, {}, {"cpu": "2"}),
]


@pytest.mark.parametrize(
    ("name", "capacity", "allocatable", "expected"), CAPACITIES, ids=[row[0] for row in CAPACITIES]
)
def test_allocatable_follows_capacity(name: str, capacity: Document, allocatable: Document, expected: Document) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        node = a_node("n", cpu="2", memory="2Gi")
        node["status"]["allocatable"] = {"pods": "110", "cpu": "2", "memory": "1Gi"}
        cluster.create(node)
        await asyncio.sleep(1)

        def change(node: Document) -> None:
            node["status"]["capacity"].update(capacity)
            node["status"]["allocatable"].update(allocatable)

        cluster.change("Node", "n", change, "status")
        await asyncio.sleep(1)
        found = cluster.get("Node", "n")
        assert found is not None
        assert found["status"]["allocatable"] == {"pods": "110", "memory": "1Gi", **expected}

    in_simulated_cluster(story)


def test_an_extended_resource_that_leaves_the_capacity_is_not_allocatable_any_more() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n", **{"e.com/x": "3"}))
        await asyncio.sleep(1)
        cluster.change("Node", "n", lambda node: node["status"]["capacity"].pop("e.com/x"), "status")
        await asyncio.sleep(1)
        found = cluster.get("Node", "n")
        assert found is not None
        assert found["status"]["allocatable"] == {"pods": "110"}

    in_simulated_cluster(story)


CONDITIONS = [
    ("Ready", "False", ["not-ready:NoSchedule", "not-ready:NoExecute"]),
    ("Ready", "Unknown", ["unreachable:NoSchedule", "unreachable:NoExecute"]),
    ("MemoryPressure", "True", ["memory-pressure:NoSchedule"]),
    ("DiskPressure", "True", ["disk-pressure:NoSchedule"]),
    ("PIDPressure", "True", ["pid-pressure:NoSchedule"]),
    ("NetworkUnavailable", "True", ["network-unavailable:NoSchedule"]),
]


@pytest.mark.parametrize(("kind", "status", "expected"), CONDITIONS)
def test_a_condition_becomes_a_taint_and_goes_with_it(kind: str, status: str, expected: list[str]) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        await asyncio.sleep(1)
        cluster.change("Node", "n", lambda node: node["spec"].update(taints=[{"key": "mine", "effect": "NoSchedule"}]))

        def say(value: str) -> None:
            def change(node: Document) -> None:
                others = [each for each in node["status"]["conditions"] if each["type"] != kind]
                node["status"]["conditions"] = [*others, {"type": kind, "status": value}]

            cluster.change("Node", "n", change, "status")

        say(status)
        await asyncio.sleep(1)
        found = [f"{key}:{effect}" for key, effect in taints(cluster, "n")]
        assert found == ["mine:NoSchedule", *expected]
        say("True" if kind == "Ready" else "False")
        await asyncio.sleep(1)
        assert taints(cluster, "n") == [("mine", "NoSchedule")]

    in_simulated_cluster(story)


def test_an_unschedulable_node_is_tainted_so() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        await asyncio.sleep(1)
        cluster.change("Node", "n", lambda node: node["spec"].update(unschedulable=True))
        await asyncio.sleep(1)
        assert taints(cluster, "n") == [("unschedulable", "NoSchedule")]
        cluster.change("Node", "n", lambda node: node["spec"].pop("unschedulable"))
        await asyncio.sleep(1)
        assert taints(cluster, "n") == []

    in_simulated_cluster(story)


# -- pods that run


def test_a_bound_pod_starts_becomes_ready_and_says_where_it_is() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        await asyncio.sleep(1)
        cluster.create(a_pod("p"))
        await asyncio.sleep(10)
        assert phase(cluster, "p") == "Pending"
        cluster.bind("p", "n")
        await asyncio.sleep(1)
        assert phase(cluster, "p") == "Pending"
        await asyncio.sleep(2)
        pod = cluster.get("Pod", "p")
        assert pod is not None
        status = pod["status"]
        assert (status["phase"], condition(pod, "Ready"), condition(pod, "ContainersReady")) == (
            "Running",
            "False",
            "False",
        )
        assert (condition(pod, "Initialized"), condition(pod, "PodReadyToStartContainers")) == ("True", "True")
        assert (status["hostIP"], status["podIP"], status["podIPs"]) == (
            "10.0.0.1",
            "10.128.0.1",
            [{"ip": "10.128.0.1"}],
        )
        assert status["startTime"] == "2026-01-01T00:00:13Z"
        assert status["containerStatuses"][0]["state"] == {"running": {"startedAt": "2026-01-01T00:00:13Z"}}
        assert status["containerStatuses"][0]["ready"] is False
        await asyncio.sleep(3)
        pod = cluster.get("Pod", "p")
        assert pod is not None
        assert (condition(pod, "Ready"), condition(pod, "PodScheduled")) == ("True", "True")
        assert pod["status"]["containerStatuses"][0]["ready"] is True

    in_simulated_cluster(story, Options(pod_start_seconds=2, ready_seconds=3))


def test_init_containers_are_over_and_sidecars_run() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        first = [
            {"name": "setup", "image": "i"},
            {"name": "side", "image": "i", "restartPolicy": "Always"},
        ]
        cluster.create(a_pod("p", "n", initContainers=first))
        await asyncio.sleep(1)
        pod = cluster.get("Pod", "p")
        assert pod is not None
        setup, side = pod["status"]["initContainerStatuses"]
        assert setup["state"]["terminated"]["reason"] == "Completed"
        assert "running" in side["state"]

    in_simulated_cluster(story)


def test_a_pod_that_is_changed_while_it_runs_is_looked_at_again() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        cluster.create(a_pod("p", "n"))
        await asyncio.sleep(1)
        changed = cluster.change("Pod", "p", lambda pod: pod["spec"]["containers"][0].update(image="busybox:2"))
        assert changed["metadata"]["generation"] == 2
        await asyncio.sleep(1)
        pod = cluster.get("Pod", "p")
        assert pod is not None
        # or whoever waits for it to be ready waits for ever
        assert (pod["status"]["observedGeneration"], condition(pod, "Ready")) == (2, "True")

    in_simulated_cluster(story)


def test_a_pod_with_readiness_gates_is_ready_when_they_are_open() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        cluster.create(a_pod("p", "n", readinessGates=[{"conditionType": "example.com/gate"}]))
        await asyncio.sleep(1)
        pod = cluster.get("Pod", "p")
        assert (condition(pod, "ContainersReady"), condition(pod, "Ready")) == ("True", "False")

        def say(value: str) -> None:
            def change(pod: Document) -> None:
                others = [each for each in pod["status"]["conditions"] if each["type"] != "example.com/gate"]
                pod["status"]["conditions"] = [*others, {"type": "example.com/gate", "status": value}]

            cluster.change("Pod", "p", change, "status")

        say("True")
        await asyncio.sleep(1)
        assert condition(cluster.get("Pod", "p"), "Ready") == "True"
        say("False")
        await asyncio.sleep(1)
        assert condition(cluster.get("Pod", "p"), "Ready") == "False"

    in_simulated_cluster(story)


ENDS = [
    ("a pod that never restarts succeeds after its time", "Never", {"run-seconds": "5"}, 6, "Succeeded", 0),
    ("it runs until then", "Never", {"run-seconds": "5"}, 4, "Running", 0),
    ("it fails with an exit code", "Never", {"run-seconds": "5", "exit-code": "3"}, 6, "Failed", 0),
    ("one that restarts on failure succeeds", "OnFailure", {"run-seconds": "5"}, 6, "Succeeded", 0),
    ("one that restarts on failure tries again", "OnFailure", {"run-seconds": "5", "exit-code": "1"}, 13, "Running", 2),
    ("one that always restarts goes on", "Always", {"run-seconds": "5"}, 30, "Running", 0),
    ("one that nobody controls ends as those of jobs do", "Never", {}, 6, "Succeeded", 0),
    ("it fails if it is to", "OnFailure", {"exit-code": "1"}, 8, "Running", 1),
    ("one that always restarts does not end", "Always", {}, 30, "Running", 0),
    ("nonsense is no time", "Never", {"run-seconds": "soon"}, 30, "Running", 0),
    ("a time before the beginning is none", "Never", {"run-seconds": "-1"}, 30, "Running", 0),
    ("for ever is no time", "Never", {"run-seconds": "inf"}, 30, "Running", 0),
]


@pytest.mark.parametrize(("name", "policy", "annotations", "seconds", "expected", "restarts"), ENDS)
def test_how_pods_end(
    name: str, policy: str, annotations: dict[str, str], seconds: float, expected: str, restarts: int
) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        await asyncio.sleep(1)
        pod = a_pod("p", "n", restartPolicy=policy)
        pod["metadata"]["annotations"] = {f"kubesched.io/{key}": value for key, value in annotations.items()}
        cluster.create(pod)
        await asyncio.sleep(seconds)
        found = cluster.get("Pod", "p")
        assert found is not None
        assert found["status"]["phase"] == expected
        assert found["status"]["containerStatuses"][0]["restartCount"] == restarts
        if expected == "Failed":
            assert found["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 3

    in_simulated_cluster(story)


def test_a_pod_that_ran_in_another_cluster_goes_on() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        await asyncio.sleep(1)
        document = a_pod("p", "n", restartPolicy="Never")
        document["metadata"]["uid"] = "from-elsewhere"
        document["status"] = {"phase": "Running", "startTime": "2025-01-01T00:00:00Z"}
        assert create(cluster.server, [Manifest("pod", document)]).problems == []
        await asyncio.sleep(60)
        assert phase(cluster, "p") == "Running"

    in_simulated_cluster(story)


PROBES = [
    ("a readiness probe", {"readinessProbe": {"initialDelaySeconds": 15}}, 15),
    ("a startup probe", {"startupProbe": {"initialDelaySeconds": 7}}, 7),
    (
        "the longer of both",
        {"startupProbe": {"initialDelaySeconds": 7}, "readinessProbe": {"initialDelaySeconds": 9}},
        9,
    ),
    ("a probe without a delay", {"readinessProbe": {"periodSeconds": 60}}, 0),
]


@pytest.mark.parametrize(("name", "probes", "seconds"), PROBES, ids=[row[0] for row in PROBES])
def test_a_pod_is_ready_after_the_initial_delay_of(name: str, probes: Document, seconds: float) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        await asyncio.sleep(1)
        pod = a_pod("p", "n")
        command = {"exec": {"command": ["true"]}}
        pod["spec"]["containers"][0].update({probe: {**command, **rest} for probe, rest in probes.items()})
        cluster.create(pod)
        if seconds:
            await asyncio.sleep(seconds - 0.1)
            assert (phase(cluster, "p"), condition(cluster.get("Pod", "p"), "Ready")) == ("Running", "False")
        await asyncio.sleep(0.2)
        assert condition(cluster.get("Pod", "p"), "Ready") == "True"

    in_simulated_cluster(story)


def test_a_pod_that_is_active_for_longer_than_its_deadline_fails() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n", cpu="1"))
        await asyncio.sleep(1)
        cluster.create(a_pod("p", "n", cpu="1", activeDeadlineSeconds=10))
        await asyncio.sleep(9)
        assert phase(cluster, "p") == "Running"
        await asyncio.sleep(2)
        pod = cluster.get("Pod", "p")
        assert pod is not None
        status = pod["status"]
        assert (status["phase"], status["reason"], status["message"]) == (
            "Failed",
            "DeadlineExceeded",
            "Pod was active on the node longer than the specified deadline",
        )
        assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 137
        cluster.create(a_pod("next", "n", cpu="1"))
        await asyncio.sleep(1)
        assert phase(cluster, "next") == "Running"

    in_simulated_cluster(story)


def test_a_deadline_that_is_moved_counts_from_the_start_of_the_pod() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        await asyncio.sleep(1)
        cluster.create(a_pod("p", "n"))
        await asyncio.sleep(20)
        cluster.change("Pod", "p", lambda pod: pod["spec"].update(activeDeadlineSeconds=30))
        await asyncio.sleep(9)
        assert phase(cluster, "p") == "Running"
        await asyncio.sleep(2)
        assert phase(cluster, "p") == "Failed"

    in_simulated_cluster(story)


# -- pods that are refused


def test_a_double_booked_node_refuses_the_second_pod_and_takes_another_when_there_is_room() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n", cpu="2", memory="4Gi"))
        await asyncio.sleep(1)
        cluster.create(a_pod("first", "n", cpu="1500m"))
        cluster.create(a_pod("second", "n", cpu="1"))
        await asyncio.sleep(1)
        assert phase(cluster, "first") == "Running"
        second = cluster.get("Pod", "second")
        assert second is not None
        assert (second["status"]["phase"], second["status"]["reason"]) == ("Failed", "OutOfcpu")
        assert second["status"]["message"] == (
            "Pod was rejected: Node didn't have enough resource: cpu, requested: 1000, used: 1500, capacity: 2000"
        )
        cluster.delete("Pod", "first", gracePeriodSeconds=0)
        cluster.create(a_pod("third", "n", cpu="2"))
        await asyncio.sleep(1)
        assert phase(cluster, "third") == "Running"

    in_simulated_cluster(story)


PORT = {"containerPort": 80, "hostPort": 80}
REFUSALS = [
    ("memory", {"resources": {"requests": {"memory": "8Gi"}}}, {}, "OutOfmemory"),
    (
        "extended resources",
        {"resources": {"requests": {"e.com/x": "2"}, "limits": {"e.com/x": "2"}}},
        {},
        "OutOfe.com/x",
    ),
    ("a selector", {}, {"nodeSelector": {"zone": "b"}}, "NodeAffinity"),
    ("a port", {"ports": [PORT]}, {}, "NodePorts"),
    (
        "a resource that the node does not know is no reason",
        {"resources": {"requests": {"f.com/x": "2"}, "limits": {"f.com/x": "2"}}},
        {},
        "",
    ),
]


@pytest.mark.parametrize(("name", "container", "spec", "reason"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_why_a_node_refuses_a_pod(name: str, container: Document, spec: Document, reason: str) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n", **{"cpu": "2", "memory": "4Gi", "e.com/x": "1"}))
        await asyncio.sleep(1)
        there = a_pod("there", "n")
        there["spec"]["containers"][0]["ports"] = [PORT]
        cluster.create(there)
        pod = a_pod("p", "n", **spec)
        pod["spec"]["containers"][0].update(container)
        cluster.create(pod)
        await asyncio.sleep(1)
        found = cluster.get("Pod", "p")
        assert found is not None
        assert found["status"].get("reason", "") == reason
        assert found["status"]["phase"] == ("Failed" if reason else "Running")

    in_simulated_cluster(story)


def test_a_pod_that_is_over_takes_no_room() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n", cpu="1"))
        await asyncio.sleep(1)
        pod = a_pod("first", "n", cpu="1", restartPolicy="Never")
        pod["metadata"]["annotations"] = {"kubesched.io/run-seconds": "1"}
        cluster.create(pod)
        await asyncio.sleep(2)
        assert phase(cluster, "first") == "Succeeded"
        cluster.create(a_pod("second", "n", cpu="1"))
        await asyncio.sleep(1)
        assert phase(cluster, "second") == "Running"

    in_simulated_cluster(story)


# -- pods that go


SLEEPER = {"name": "main", "image": "busybox", "lifecycle": {"preStop": {"sleep": {"seconds": 20}}}}
GRACES = [
    ("its own grace period", {"terminationGracePeriodSeconds": 5}, {}, 4.9, 5.1),
    ("no longer than nodes wait", {"terminationGracePeriodSeconds": 60}, {}, 9.9, 10.1),
    ("as long as the request says", {}, {"gracePeriodSeconds": 3}, 2.9, 3.1),
    ("the sleep of its preStop hook", {"containers": [SLEEPER], "terminationGracePeriodSeconds": 60}, {}, 29.9, 30.1),
    ("no longer than its grace period", {"containers": [SLEEPER], "terminationGracePeriodSeconds": 25}, {}, 24.9, 25.1),
]


@pytest.mark.parametrize(("name", "spec", "options", "before", "after"), GRACES, ids=[row[0] for row in GRACES])
def test_a_deleted_pod_goes_on_for(name: str, spec: Document, options: Document, before: float, after: float) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        cluster.create(a_pod("p", "n", **spec))
        await asyncio.sleep(1)
        cluster.delete("Pod", "p", **options)
        await asyncio.sleep(before)
        assert phase(cluster, "p") == "Running"
        await asyncio.sleep(after - before)
        assert phase(cluster, "p") == "gone"

    in_simulated_cluster(story, Options(termination_seconds=10))


def test_a_pod_that_has_not_started_goes_at_once() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        cluster.create(a_pod("p", "n"))
        await asyncio.sleep(1)
        cluster.delete("Pod", "p")
        await asyncio.sleep(0.1)
        assert phase(cluster, "p") == "gone"

    in_simulated_cluster(story, Options(pod_start_seconds=100, termination_seconds=10))


def test_a_pod_with_a_finalizer_runs_no_more_but_stays_and_takes_no_room() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n", cpu="1"))
        pod = a_pod("p", "n", cpu="1")
        pod["metadata"]["finalizers"] = ["example.com/hold"]
        await asyncio.sleep(1)
        cluster.create(pod)
        await asyncio.sleep(1)
        cluster.delete("Pod", "p")
        await asyncio.sleep(5)
        assert phase(cluster, "p") == "Succeeded"
        cluster.create(a_pod("next", "n", cpu="1"))
        await asyncio.sleep(1)
        assert phase(cluster, "next") == "Running"
        cluster.change("Pod", "p", lambda pod: pod["metadata"].pop("finalizers"))
        assert phase(cluster, "p") == "gone"

    in_simulated_cluster(story)


def test_pods_of_a_node_that_is_gone_are_removed_after_a_while() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        cluster.create(a_pod("p", "n"))
        cluster.create(a_pod("lost", "never"))
        await asyncio.sleep(1)
        assert (phase(cluster, "p"), phase(cluster, "lost")) == ("Running", "Pending")
        cluster.delete("Node", "n")
        await asyncio.sleep(38)
        assert (phase(cluster, "p"), phase(cluster, "lost")) == ("Running", "Pending")
        await asyncio.sleep(3)
        assert (phase(cluster, "p"), phase(cluster, "lost")) == ("gone", "gone")

    in_simulated_cluster(story)


def test_pods_stay_whose_node_comes_back_in_time() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        cluster.create(a_pod("p", "n"))
        await asyncio.sleep(1)
        cluster.delete("Node", "n")
        await asyncio.sleep(20)
        cluster.create(a_node("n"))
        await asyncio.sleep(100)
        assert phase(cluster, "p") == "Running"

    in_simulated_cluster(story)


def test_pods_leave_a_node_that_is_not_ready_when_they_tolerate_it_no_more() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        short = {"key": NOT_READY, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 10}
        ever = {"key": NOT_READY, "operator": "Exists", "effect": "NoExecute"}
        cluster.create(a_pod("default", "n"))
        cluster.create(a_pod("short", "n", tolerations=[short]))
        cluster.create(a_pod("ever", "n", tolerations=[ever]))
        await asyncio.sleep(1)

        def break_down(node: Document) -> None:
            node["status"]["conditions"] = [{"type": "Ready", "status": "False"}]

        cluster.change("Node", "n", break_down, "status")
        await asyncio.sleep(9)
        assert [phase(cluster, name) for name in ("default", "short", "ever")] == ["Running", "Running", "Running"]
        await asyncio.sleep(3)
        assert [phase(cluster, name) for name in ("default", "short", "ever")] == ["Running", "gone", "Running"]
        await asyncio.sleep(300)
        assert [phase(cluster, name) for name in ("default", "short", "ever")] == ["gone", "gone", "Running"]

    in_simulated_cluster(story)


def test_a_node_that_recovers_in_time_keeps_its_pods() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        cluster.create(a_pod("p", "n"))
        await asyncio.sleep(1)
        for status in ("False", "True"):
            conditions = [{"type": "Ready", "status": status}]
            cluster.change("Node", "n", partial(_put, "conditions", conditions), "status")
            await asyncio.sleep(200)
        await asyncio.sleep(200)
        assert phase(cluster, "p") == "Running"

    in_simulated_cluster(story)


# -- all together


def test_the_same_story_leaves_the_same_cluster() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        for number in range(20):
            cluster.create(a_node(f"n{number}", cpu="1"))
        for number in range(60):
            cluster.create(a_pod(f"p{number}", f"n{number % 25}", cpu="400m"))
            await asyncio.sleep(0.3)
        for number in range(0, 60, 7):
            cluster.delete("Pod", f"p{number}")
        await asyncio.sleep(60)

    def end() -> list[bytes]:
        options = Options(node_ready_seconds=1.5, pod_start_seconds=0.7, ready_seconds=0.4, termination_seconds=2)
        cluster = in_simulated_cluster(story, options)
        return [stored.body for kind in ("Node", "Pod") for stored in cluster.client.stored(cluster.kind(kind))]

    assert end() == end()


def test_nothing_is_left_to_do_when_nothing_happens() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        for number in range(50):
            cluster.create(a_node(f"n{number}"))
            cluster.create(a_pod(f"p{number}", f"n{number}"))
        await asyncio.sleep(10)
        version = cluster.server.registry.store.version
        await asyncio.sleep(100_000)
        assert cluster.server.registry.store.version == version

    in_simulated_cluster(story)

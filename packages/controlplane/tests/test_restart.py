"""What lives in a kept cluster goes on after a kill at any moment: nothing stays half done.

A story is killed in the middle of a write, for many of its writes. A server that starts with what is left, and nobody
who asks for anything, must come to rest: whatever was asked for is done, whatever is going is gone.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.simulated import SimulatedCluster

from kubesched.common.virtual_time import START, run_in_virtual_time
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.controllers.framework.options import Options
from kubesched_controlplane.storage.journal import SqliteJournal
from kubesched_controlplane.storage.store import Change, Store

HISTORY = 1000
OPTIONS = Options(pod_start_seconds=1.0, ready_seconds=1.0, job_seconds=5.0)
Story = Callable[[SimulatedCluster], Awaitable[None]]


class Killed(KeyboardInterrupt):
    """The process is no more; of such a kind that it ends a loop at once."""


class MortalJournal(SqliteJournal):
    """Dies instead of keeping a change, after so many."""

    def __init__(self, file: Path, writes: int = 0) -> None:
        super().__init__(file)
        self._left = writes
        self.time = 0.0

    def write(self, prefix: str, change: Change) -> None:
        """Keep a change, or die."""
        self._left -= 1
        if not self._left:
            self.time = asyncio.get_running_loop().time()
            raise Killed
        super().write(prefix, change)


def live(file: Path, story: Story, writes: int = 0, start: float = START) -> tuple[float, int]:
    """Play a story until it ends or is killed; return when that was, and how many changes there have been."""
    journal = MortalJournal(file, writes)

    async def play() -> float:
        cluster = SimulatedCluster(OPTIONS, binds=True, store=Store(HISTORY, journal))
        await story(cluster)
        cluster.stop()
        assert not cluster.notes, cluster.notes
        return asyncio.get_running_loop().time()

    try:
        end = run_in_virtual_time(play(), start)
    except Killed:
        end = journal.time
    finally:
        journal.close()
    return end, -journal._left


# -- stories


def a_node(name: str) -> Document:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


def a_template(image: str = "i", **spec: Any) -> Document:
    container = {"name": "c", "image": image, "resources": {"requests": {"cpu": "100m"}}}
    return {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [container], **spec}}


def a_set(kind: str, name: str, replicas: int = 2) -> Document:
    selector = {"matchLabels": {"app": "a"}}
    spec = {"replicas": replicas, "selector": selector, "template": a_template()}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def a_pod(name: str, node: str, **meta: Any) -> Document:
    spec = {**a_template()["spec"], "nodeName": node}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **meta}, "spec": spec}


async def pods(cluster: SimulatedCluster) -> None:
    """Pods start, run for a while, are deleted, and lose their node."""
    cluster.create(a_node("n1"))
    cluster.create(a_node("n2"))
    for number in range(3):
        cluster.create(a_pod(f"p{number}", "n1"))
    cluster.create(a_pod("lost", "n2"))
    cluster.create(a_pod("held", "n1", finalizers=["example.com/wait"]))
    await asyncio.sleep(5)
    cluster.delete("Pod", "p0")
    cluster.delete("Pod", "held")
    cluster.delete("Node", "n2")
    await asyncio.sleep(60)
    cluster.change("Pod", "held", lambda found: found["metadata"].update(finalizers=[]))


async def owners(cluster: SimulatedCluster) -> None:
    """Owners go: at once, after those they own, and without them."""
    cluster.create(a_node("n1"))
    for policy in ("Background", "Foreground"):
        cluster.create(a_set("ReplicaSet", "r"))
        await asyncio.sleep(5)
        cluster.delete("ReplicaSet", "r", propagationPolicy=policy)
        await asyncio.sleep(20)


async def namespaces(cluster: SimulatedCluster) -> None:
    """A namespace goes with what is in it."""
    cluster.create(a_node("n1"))
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}})
    cluster.create(a_pod("p", "n1", namespace="mine"))
    for name in ("a", "b"):
        meta = {"name": name, "namespace": "mine"}
        cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})
    await asyncio.sleep(5)
    cluster.delete("Namespace", "mine")
    await asyncio.sleep(20)


async def deployments(cluster: SimulatedCluster) -> None:
    """A deployment is rolled over and scaled."""
    cluster.create(a_node("n1"))
    cluster.create(a_set("Deployment", "d", 3))
    await asyncio.sleep(5)
    cluster.change("Deployment", "d", lambda found: found["spec"].update(template=a_template("j")))
    await asyncio.sleep(3)
    cluster.change("Deployment", "d", lambda found: found["spec"].update(replicas=2))
    await asyncio.sleep(30)


async def jobs(cluster: SimulatedCluster) -> None:
    """A job runs its pods to the end."""
    cluster.create(a_node("n1"))
    spec = {"completions": 3, "parallelism": 2, "template": a_template(restartPolicy="Never")}
    cluster.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": spec})
    await asyncio.sleep(30)


async def sets(cluster: SimulatedCluster) -> None:
    """A stateful set and a daemon set are rolled over, and a set is scaled down with its claims."""
    cluster.create(a_node("n1"))
    cluster.create(a_node("n2"))
    wanted = {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}
    claims = {
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": wanted}],
        "persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"},
    }
    kept: Document = a_set("StatefulSet", "s", 3)
    cluster.create({**kept, "spec": {**kept["spec"], **claims}})
    other = {"metadata": {"labels": {"app": "b"}}, "spec": a_template()["spec"]}
    spec = {"selector": {"matchLabels": {"app": "b"}}, "template": other}
    cluster.create({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d"}, "spec": spec})
    await asyncio.sleep(15)
    for kind, name in (("StatefulSet", "s"), ("DaemonSet", "d")):
        cluster.change(kind, name, lambda found: found["spec"]["template"]["spec"].update(priority=0, hostname="h"))
    await asyncio.sleep(40)
    cluster.change("StatefulSet", "s", lambda found: found["spec"].update(replicas=2))
    await asyncio.sleep(20)


# -- what must be true in the end


def check_rest(cluster: SimulatedCluster) -> None:
    """See that nothing is half done."""
    everything = [stored.document() for objects in cluster.server.registry.store._sets.values() for stored in objects]
    uids = {each["metadata"]["uid"] for each in everything}
    for each in everything:
        meta = each["metadata"]
        named = f"{each['kind']} {meta['name']}"
        if "deletionTimestamp" in meta:
            assert meta.get("finalizers") == ["example.com/wait"], f"{named} is still going"
            assert not meta["deletionGracePeriodSeconds"], f"{named} has not ended"
        assert {owner["uid"] for owner in meta.get("ownerReferences") or ()} <= uids, f"{named} has lost its owner"
    found = cluster.all("Pod")
    for pod in found:
        assert pod["spec"].get("nodeName"), f"{pod['metadata']['name']} has no node"
        assert pod["status"]["phase"] in ("Running", "Succeeded")
    addresses = [pod["status"]["podIP"] for pod in found]
    assert len(set(addresses)) == len(addresses)
    for each in cluster.all("StatefulSet"):
        assert (
            each["status"]["updatedReplicas"] == len(cluster.all("PersistentVolumeClaim")) == each["spec"]["replicas"]
        )
    for each in cluster.all("DaemonSet"):
        assert each["status"]["updatedNumberScheduled"] == len(cluster.all("Node"))
    for kind in ("ReplicaSet", "Deployment", "StatefulSet"):
        for each in cluster.all(kind):
            assert each["status"].get("readyReplicas", 0) == each["spec"]["replicas"], f"{kind} is not ready"
            assert each["status"]["observedGeneration"] == each["metadata"]["generation"]
    for job in cluster.all("Job"):
        assert (job["status"].get("succeeded"), "completionTime" in job["status"]) == (3, True)


async def come_to_rest(cluster: SimulatedCluster) -> None:
    """Wait as long as anything could take."""
    await asyncio.sleep(120)
    check_rest(cluster)


@pytest.mark.parametrize("story", [pods, owners, namespaces, deployments, jobs, sets])
@pytest.mark.parametrize("part", [pytest.param(9, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)])
def test_nothing_stays_half_done(story: Story, part: int, tmp_path: Path) -> None:
    _, beginning = live(tmp_path / "empty.db", lambda cluster: asyncio.sleep(0))
    end, writes = live(tmp_path / "whole.db", story)
    assert writes > beginning + 10
    for write in range(beginning + 1, writes + 1, part):
        file = tmp_path / f"{write}.db"
        killed, _ = live(file, story, write)
        assert killed <= end
        live(file, come_to_rest, start=killed + 1)


def test_a_pod_ends_when_it_should_have_ended(tmp_path: Path) -> None:
    meta = {"name": "p", "annotations": {"kubesched.io/run-seconds": "100"}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": a_template(restartPolicy="Never")["spec"]}

    async def begin(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n1"))
        cluster.create(pod)
        await asyncio.sleep(61)

    async def go_on(cluster: SimulatedCluster) -> None:
        await asyncio.sleep(30)
        assert cluster.all("Pod")[0]["status"]["phase"] == "Running"
        await asyncio.sleep(15)
        assert cluster.all("Pod")[0]["status"]["phase"] == "Succeeded"

    end, _ = live(tmp_path / "state.db", begin)
    live(tmp_path / "state.db", go_on, start=end)


def test_nobody_gets_an_address_that_somebody_has(tmp_path: Path) -> None:
    async def begin(cluster: SimulatedCluster) -> None:
        for number in range(3):
            cluster.create(a_node(f"n{number}"))
            cluster.create(a_pod(f"p{number}", "n0"))
        await asyncio.sleep(5)

    async def go_on(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("new"))
        cluster.create(a_pod("a", "new"))
        await asyncio.sleep(5)
        nodes = [each["address"] for node in cluster.all("Node") for each in node["status"]["addresses"]]
        assert len(set(nodes)) == len(nodes) == 8
        addresses = [each["status"]["podIP"] for each in cluster.all("Pod")]
        assert len(set(addresses)) == len(addresses) == 4

    end, _ = live(tmp_path / "state.db", begin)
    live(tmp_path / "state.db", go_on, start=end)

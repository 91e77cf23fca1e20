"""Workloads that come from another cluster: what they own stays as it is, and life goes on with it."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.simulated import SimulatedCluster
from tests.support.workloads import a_job, a_node, a_workload, images, set_image

from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.manifests import Manifest
from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.bootstrap.objects import bootstrap
from kubesched_controlplane.loading.loader import create
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.storage.store import Store
from kubesched_controlplane.transport.local_client import LocalClient

Document = dict[str, Any]
KINDS = ("Node", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ControllerRevision", "Job", "ResourceQuota")


async def a_life(cluster: SimulatedCluster) -> list[Document]:
    """Return what is there after a change of every workload."""
    for number in range(3):
        cluster.create(a_node(f"n{number}"))
    spec = {"hard": {"pods": "100", "requests.cpu": "1"}}
    cluster.create({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": spec})
    cluster.change("ResourceQuota", "q", lambda each: each["spec"]["hard"].pop("requests.cpu"))
    workloads = {"Deployment": "web", "StatefulSet": "db", "DaemonSet": "log"}
    for kind, name in workloads.items():
        sizes = {} if kind == "DaemonSet" else {"replicas": 3}
        cluster.create(a_workload(kind, name, **sizes))
    cluster.create(a_job("work", completions=2, parallelism=2, run="500"))
    await asyncio.sleep(60)
    for kind, name in workloads.items():
        cluster.change(kind, name, set_image("app:2"))
    await asyncio.sleep(200)
    assert images(cluster) == ["app:1"] * 2 + ["app:2"] * 9
    return [each for kind in (*KINDS, "Pod") for each in cluster.all(kind)]


def all_of_it(objects: list[Document]) -> list[Document]:
    return objects


def with_other_hashes(objects: list[Document]) -> list[Document]:
    """Return objects whose templates have other names, as other clusters give them others."""
    text = json.dumps(objects)
    sets = [each["metadata"]["name"] for each in objects if each["kind"] in ("ReplicaSet", "ControllerRevision")]
    for number, name in enumerate(sets):
        text = text.replace(name.rpartition("-")[2], f"5f6b7c8d{number}")
    renamed: list[Document] = json.loads(text)
    return renamed


def without_revisions(objects: list[Document]) -> list[Document]:
    return [each for each in with_other_hashes(objects) if each["kind"] != "ControllerRevision"]


def in_other_words(objects: list[Document]) -> list[Document]:
    """Return objects whose revisions say the template as another release does, which knew fewer defaults."""

    def shorten(template: Document) -> None:
        for field in ("terminationGracePeriodSeconds", "schedulerName"):
            template["spec"].pop(field, None)

    changed: list[Document] = json.loads(json.dumps(objects))
    for each in changed:
        if each["kind"] == "ControllerRevision":
            shorten(each["data"]["spec"]["template"])
        elif each["kind"] == "ReplicaSet":
            each["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 31
    return changed


def with_labels_by_hand(objects: list[Document]) -> list[Document]:
    """Return objects without revisions and replica sets, as scripts write them: pods say next to nothing of theirs."""
    changed: list[Document] = json.loads(json.dumps(objects))
    for each in changed:
        if each["kind"] in ("DaemonSet", "StatefulSet"):
            each.pop("status", None)
            (each["metadata"].get("annotations") or {}).clear()
        if each["kind"] == "Pod":
            (each["metadata"].get("labels") or {}).pop("controller-revision-hash", None)
            each["metadata"]["labels"].pop("pod-template-generation", None)
    return [each for each in changed if each["kind"] not in ("ControllerRevision", "ReplicaSet")]


@pytest.mark.parametrize("said", [all_of_it, with_other_hashes, without_revisions, in_other_words, with_labels_by_hand])
def test_pods_of_workloads_from_elsewhere_stay(said: Callable[[list[Document]], list[Document]]) -> None:
    async def story() -> None:
        first = SimulatedCluster(binds=True)
        objects = said(await a_life(first))
        first.stop()
        store = Store()
        server = ApiServer(access=always_allow, store=store, seed=2)
        bootstrap(LocalClient(server, ADMINISTRATOR))
        report = create(server, [Manifest(str(number), each) for number, each in enumerate(objects)])
        assert report.problems == []
        second = SimulatedCluster(store=store, binds=True)
        pods = {each["metadata"]["uid"] for each in objects if each["kind"] == "Pod"}
        await asyncio.sleep(100)
        assert {each["metadata"]["uid"] for each in second.all("Pod")} == pods
        assert second.all("ResourceQuota")[0]["status"]["used"] == {"pods": "11"}
        second.change("StatefulSet", "db", set_image("app:3"))
        second.change("DaemonSet", "log", set_image("app:3"))
        second.change("Deployment", "web", lambda each: each["spec"].update(replicas=4))
        await asyncio.sleep(400)
        assert images(second) == ["app:1"] * 2 + ["app:2"] * 4 + ["app:3"] * 6
        assert second.all("Job")[0]["status"]["succeeded"] == 2
        second.stop()
        assert not first.notes + second.notes

    run_in_virtual_time(story())

"""Endpoints and EndpointSlices: services find their pods, and what people write themselves is mirrored."""

import asyncio
from typing import Any

from tests.support.simulated import SimulatedCluster, in_simulated_cluster

from kubesched_controlplane.controllers.endpoints.packing import MOST_IN_A_SLICE, pack
from kubesched_controlplane.controllers.framework.options import Options

Document = dict[str, Any]
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"


def a_service(name: str = "s", **spec: Any) -> Document:
    ports = [{"name": "http", "port": 80, "targetPort": "web"}]
    spec = {"selector": {"app": "a"}, "ports": ports, **spec}
    meta = {"name": name, "labels": {"team": "x"}}
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}


def a_pod(name: str, node: str = "n1", port: int = 8080, **more: Any) -> Document:
    container = {"name": "c", "image": "i", "ports": [{"name": "web", "containerPort": port}]}
    container |= more.pop("container", {})
    spec = {"nodeName": node, "containers": [container], **more}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "a"}}, "spec": spec}


def nodes(cluster: SimulatedCluster) -> None:
    for number in (1, 2):
        labels = {"topology.kubernetes.io/zone": f"z{number}"}
        cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{number}", "labels": labels}})


def slices(cluster: SimulatedCluster, service: str = "s") -> list[Document]:
    return cluster.all("EndpointSlice", **{"kubernetes.io/service-name": service})


def names(slice_: Document) -> dict[str, tuple[bool, bool, bool]]:
    return {
        each["targetRef"]["name"]: tuple(each["conditions"][name] for name in ("ready", "serving", "terminating"))
        for each in slice_.get("endpoints") or ()
    }


UP, UNREADY, GOING = (True, True, False), (False, False, False), (False, True, True)
PROBE = {"readinessProbe": {"exec": {"command": ["x"]}, "initialDelaySeconds": 600}}


def test_a_service_finds_its_pods() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        nodes(cluster)
        cluster.create(a_service())
        await asyncio.sleep(1)
        (found,) = slices(cluster)
        assert (found.get("endpoints") or [], found.get("ports") or []) == ([], []), "which stands for none"
        cluster.create(a_pod("p1"))
        cluster.create(a_pod("p2", "n2", container=PROBE))
        await asyncio.sleep(2)
        (found,) = slices(cluster)
        assert names(found) == {"p1": UP, "p2": UNREADY}
        assert found["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
        first = next(each for each in found["endpoints"] if each["targetRef"]["name"] == "p1")
        pod = cluster.get("Pod", "p1")
        assert pod is not None
        assert first["addresses"] == [pod["status"]["podIP"]]
        assert (first["nodeName"], first["zone"]) == ("n1", "z1")
        assert found["metadata"]["labels"] == {
            "team": "x",
            "kubernetes.io/service-name": "s",
            MANAGED_BY: "endpointslice-controller.k8s.io",
        }
        assert [each["kind"] for each in found["metadata"]["ownerReferences"]] == ["Service"]
        endpoints = cluster.get("Endpoints", "s")
        assert endpoints is not None
        (subset,) = endpoints["subsets"]
        assert [each["targetRef"]["name"] for each in subset["addresses"]] == ["p1"]
        assert [each["targetRef"]["name"] for each in subset["notReadyAddresses"]] == ["p2"]
        assert subset["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]

    in_simulated_cluster(story)


def test_what_becomes_of_pods_that_go_and_services_that_go() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        nodes(cluster)
        cluster.create(a_service())
        cluster.create(a_pod("p1"))
        await asyncio.sleep(2)
        cluster.delete("Pod", "p1")
        await asyncio.sleep(2)
        assert names(slices(cluster)[0]) == {"p1": GOING}
        assert "subsets" not in (cluster.get("Endpoints", "s") or {})
        await asyncio.sleep(10)
        assert names(slices(cluster)[0]) == {}
        cluster.delete("Service", "s")
        await asyncio.sleep(2)
        assert slices(cluster) == []
        assert cluster.get("Endpoints", "s") is None

    in_simulated_cluster(story, Options(termination_seconds=5))


def test_a_headless_service_publishes_what_is_not_ready_under_its_name() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        nodes(cluster)
        cluster.create(a_service(clusterIP="None", ports=[], publishNotReadyAddresses=True))
        cluster.create(a_pod("p1", container=PROBE, hostname="one", subdomain="s"))
        await asyncio.sleep(2)
        (found,) = slices(cluster)
        assert names(found) == {"p1": (True, False, False)}
        assert found["endpoints"][0]["hostname"] == "one"
        assert found["metadata"]["labels"]["service.kubernetes.io/headless"] == ""
        (subset,) = (cluster.get("Endpoints", "s") or {})["subsets"]
        assert [each["hostname"] for each in subset["addresses"]] == ["one"]

    in_simulated_cluster(story)


def test_pods_with_other_numbers_for_a_port_are_in_other_slices() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        nodes(cluster)
        cluster.create(a_service(trafficDistribution="PreferClose"))
        cluster.create(a_pod("p1"))
        cluster.create(a_pod("p2", "n2", port=9090))
        await asyncio.sleep(2)
        found = {each["ports"][0]["port"]: each for each in slices(cluster)}
        assert {port: set(names(each)) for port, each in found.items()} == {8080: {"p1"}, 9090: {"p2"}}
        assert found[9090]["endpoints"][0]["hints"] == {"forZones": [{"name": "z2"}]}
        subsets = (cluster.get("Endpoints", "s") or {})["subsets"]
        assert [each["ports"][0]["port"] for each in subsets] == [8080, 9090]
        cluster.change("Service", "s", lambda each: each["spec"].update(selector={"app": "b"}))
        await asyncio.sleep(1)
        assert [names(each) for each in slices(cluster)] == [{}], "nobody is selected any more"

    in_simulated_cluster(story)


def test_slices_that_somebody_meddles_with_are_put_right() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        nodes(cluster)
        cluster.create(a_service())
        cluster.create(a_pod("p1"))
        await asyncio.sleep(2)
        (found,) = slices(cluster)
        cluster.update({**found, "kind": "EndpointSlice", "endpoints": []})
        cluster.delete("Endpoints", "s")
        await asyncio.sleep(2)
        assert [names(each) for each in slices(cluster)] == [{"p1": UP}]
        assert cluster.get("Endpoints", "s") is not None
        cluster.delete("EndpointSlice", slices(cluster)[0]["metadata"]["name"])
        await asyncio.sleep(2)
        assert [names(each) for each in slices(cluster)] == [{"p1": UP}]

    in_simulated_cluster(story)


def test_many_pods_are_in_slices_of_a_hundred_and_a_change_writes_one_of_them() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        nodes(cluster)
        cluster.create(a_service())
        capacity = {"pods": "1000"}
        status = {"capacity": capacity, "allocatable": capacity}
        cluster.change("Node", "n1", lambda each: each["status"].update(status), "status")
        for number in range(250):
            cluster.create(a_pod(f"p{number}"))
        await asyncio.sleep(5)
        assert sorted(len(each["endpoints"]) for each in slices(cluster)) == [50, 100, 100]
        before = {each["metadata"]["name"]: each["metadata"]["resourceVersion"] for each in slices(cluster)}
        cluster.delete("Pod", "p17", gracePeriodSeconds=0)
        await asyncio.sleep(5)
        after = {each["metadata"]["name"]: each["metadata"]["resourceVersion"] for each in slices(cluster)}
        assert len(before.items() - after.items()) == 1

    in_simulated_cluster(story)


def test_endpoints_that_people_write_are_mirrored() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        service = a_service()
        del service["spec"]["selector"]
        cluster.create(service)
        ports = [{"name": "http", "port": 80}]
        subsets = [{"addresses": [{"ip": "192.0.2.1"}], "notReadyAddresses": [{"ip": "192.0.2.2"}], "ports": ports}]
        meta = {"name": "s", "labels": {"mine": "yes"}, "annotations": {"a": "b"}}
        made = {"apiVersion": "v1", "kind": "Endpoints", "metadata": meta, "subsets": subsets}
        cluster.create(made)
        await asyncio.sleep(1)
        (found,) = slices(cluster)
        assert found["metadata"]["labels"][MANAGED_BY] == "endpointslicemirroring-controller.k8s.io"
        assert (found["metadata"]["labels"]["mine"], found["metadata"]["annotations"]) == ("yes", {"a": "b"})
        said = {each["addresses"][0]: each["conditions"]["ready"] for each in found["endpoints"]}
        assert said == {"192.0.2.1": True, "192.0.2.2": False}
        assert found["ports"] == [{"name": "http", "port": 80, "protocol": "TCP"}]
        cluster.change("Endpoints", "s", lambda each: each["subsets"][0].pop("notReadyAddresses"))
        await asyncio.sleep(1)
        (found,) = slices(cluster)
        assert [each["addresses"] for each in found["endpoints"]] == [["192.0.2.1"]]
        skip = {"endpointslice.kubernetes.io/skip-mirror": "true"}
        cluster.change("Endpoints", "s", lambda each: each["metadata"].update(labels=skip))
        await asyncio.sleep(1)
        assert slices(cluster) == []

    in_simulated_cluster(story)


def endpoints(*numbers: int) -> list[Document]:
    return [{"addresses": [f"10.0.{number // 250}.{number % 250}"]} for number in numbers]


def test_packing_writes_as_little_as_it_can() -> None:
    full = {"name": "full", "endpoints": endpoints(*range(MOST_IN_A_SLICE))}
    half = {"name": "half", "endpoints": endpoints(*range(100, 150))}
    found = pack([full, half], endpoints(*range(155)))
    assert [each["name"] for each in found.changed] == ["half"], "those that are new fit into one"
    found = pack([full, half], endpoints(*range(1, 150), 160))
    assert [(each["name"], len(each["endpoints"])) for each in found.changed] == [("full", 100)], "which changes anyway"
    found = pack([full, half], endpoints(*range(100)))
    assert (found.changed, found.created, [each["name"] for each in found.deleted]) == ([], [], ["half"])
    found = pack([full], endpoints(*range(250)))
    assert [len(each) for each in found.created] == [100, 50]

"""Extended resources that devices stand for: which requests are made for which containers."""

import pytest

from kubesched.api.pods import Container, PodSpec
from kubesched.core.cluster.devices.device_classes import DeviceClasses
from kubesched.core.plugins.dynamic_resources.extended import (
    EXTENDED_RESOURCE_CLAIM_NAME,
    extended_resource_claim_of,
    may_be_devices,
    variant,
)
from kubesched.testing import a_cluster, a_container, a_pod
from kubesched.testing.devices import a_device_class

GPU, NIC = "example.com/gpu", "example.com/nic"
CLUSTER = a_cluster(a_device_class("gpu", extended_resource=GPU), a_device_class("nic", extended_resource=NIC))


def asks(name: str, gpus: str = "", nics: str = "", *, sidecar: bool = False) -> Container:
    amounts = {resource: amount for resource, amount in ((GPU, gpus), (NIC, nics)) if amount}
    return a_container(name, cpu="1", requests=amounts, sidecar=sidecar)


@pytest.mark.parametrize(
    ("what", "init", "containers", "requests", "mappings"),
    [
        ("one container", [], [asks("a", "2")], {"container-0-request-1": 2}, ["a:container-0-request-1"]),
        ("nothing", [], [asks("a")], {}, []),
        ("a number that is none", [], [asks("a", "500m")], {}, []),
        (
            "containers side by side have devices of their own",
            [],
            [asks("a", "1"), asks("b", "2")],
            {"container-0-request-1": 1, "container-1-request-1": 2},
            ["a:container-0-request-1", "b:container-1-request-1"],
        ),
        (
            "two resources are numbered among all requests of the container",
            [],
            [asks("a", "1", "1")],
            {"container-0-request-1": 1, "container-0-request-2": 1},
            ["a:container-0-request-1", "a:container-0-request-2"],
        ),
        (
            "an init container uses the devices of later containers",
            [asks("i", "1")],
            [asks("a", "1")],
            {"container-1-request-1": 1},
            ["a:container-1-request-1", "i:container-1-request-1"],
        ),
        (
            "what an init container needs beyond that it asks for",
            [asks("i", "3")],
            [asks("a", "1")],
            {"container-0-request-1": 2, "container-1-request-1": 1},
            ["a:container-1-request-1", "i:container-1-request-1", "i:container-0-request-1"],
        ),
        (
            "init containers share the largest of their requests",
            [asks("i", "1"), asks("j", "3")],
            [asks("a")],
            {"container-1-request-1": 3},
            ["i:container-1-request-1", "j:container-1-request-1"],
        ),
        (
            "a sidecar keeps its devices, and earlier ones cannot use those of containers before them",
            [asks("s", "1", sidecar=True), asks("i", "1")],
            [asks("a")],
            {"container-0-request-1": 1, "container-1-request-1": 1},
            ["s:container-0-request-1", "i:container-1-request-1"],
        ),
    ],
)
def test_requests_and_mappings(
    what: str, init: list[Container], containers: list[Container], requests: dict[str, int], mappings: list[str]
) -> None:
    spec = PodSpec(init_containers=tuple(init), containers=tuple(containers))
    pod = CLUSTER.reader.read(a_pod("p"))
    made = variant(extended_resource_claim_of(pod, CLUSTER.claims), spec, (NIC, GPU), DeviceClasses(CLUSTER.objects))
    found = {r.name: r.exactly.count for r in made.claim.spec.devices.requests if r.exactly is not None}
    assert found == requests, what
    assert [f"{m.container_name}:{m.request_name}" for m in made.mappings] == mappings, what


def test_only_what_the_node_lacks_is_asked_for() -> None:
    spec = PodSpec(containers=(asks("a", "1", "1"),))
    pod = CLUSTER.reader.read(a_pod("p"))
    made = variant(extended_resource_claim_of(pod, CLUSTER.claims), spec, (NIC,), DeviceClasses(CLUSTER.objects))
    assert [r.exactly.device_class_name for r in made.claim.spec.devices.requests if r.exactly] == ["nic"]


def test_a_resource_that_lost_its_class_is_left_out() -> None:
    spec = PodSpec(containers=(asks("a", "1"),))
    pod = CLUSTER.reader.read(a_pod("p"))
    made = variant(extended_resource_claim_of(pod, CLUSTER.claims), spec, (GPU,), DeviceClasses(a_cluster().objects))
    assert made.claim.spec.devices.requests == ()


def test_the_extended_resource_claim_has_a_name_that_no_claim_can_have() -> None:
    claim = extended_resource_claim_of(CLUSTER.reader.read(a_pod("p")), CLUSTER.claims)
    assert (claim.name, claim.metadata.generate_name) == (EXTENDED_RESOURCE_CLAIM_NAME, "p-extended-resources-")


@pytest.mark.parametrize(
    ("resource", "may"),
    [
        (GPU, True),
        ("deviceclass.resource.kubernetes.io/gpu", True),
        ("cpu", False),
        ("hugepages-2Mi", False),
        ("kubernetes.io/batteries", False),
        ("requests.example.com/x", False),
    ],
)
def test_which_resources_devices_can_stand_for(resource: str, may: bool) -> None:
    assert may_be_devices(resource) is may

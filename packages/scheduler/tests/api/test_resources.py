"""What a pod counts for, in each of the ways the scheduler asks."""

from typing import Any

import msgspec
import pytest

from kubesched.api.pods import Pod
from kubesched.api.quantity import InvalidQuantityError
from kubesched.api.resources import (
    DEFAULT_MEMORY,
    RequestOptions,
    RequestRules,
    balanced_request,
    filter_request,
    fit_score_request,
    is_extended_resource,
    is_scalar_resource,
    pod_limits,
    pod_requests,
    pod_resources,
    resource_amounts,
    scaling_request,
)
from kubesched.errors import InvalidObjectError

GI = 2**30


def container(name: str = "c", restart: str | None = None, **requests: Any) -> dict[str, Any]:
    """A container; `gpu` stands for an extended resource."""
    named = {"example.com/gpu" if key == "gpu" else key: value for key, value in requests.items()}
    return {"name": name, "resources": {"requests": named}, "restartPolicy": restart}


def sidecar(**requests: Any) -> dict[str, Any]:
    return container("s", "Always", **requests)


def a_pod(*containers: dict[str, Any], status: dict[str, Any] | None = None, **spec: Any) -> Pod:
    return msgspec.convert({"spec": {"containers": list(containers), **spec}, "status": status or {}}, Pod)


@pytest.mark.parametrize(
    ("pod", "milli_cpu", "memory"),
    [
        pytest.param(a_pod(), 0, 0, id="a pod without containers"),
        pytest.param(a_pod(container(cpu="500m"), container(cpu=1, memory="1Gi")), 1500, GI, id="containers add up"),
        pytest.param(a_pod(container(cpu="0.1m"), container(cpu="0.1m")), 1, 0, id="rounding comes after adding"),
        pytest.param(
            a_pod(container(cpu="1"), initContainers=[container(cpu="2"), container(cpu="3", memory="1Gi")]),
            3000,
            GI,
            id="init containers run one after the other, before the rest",
        ),
        pytest.param(
            a_pod(
                container(cpu="1"),
                initContainers=[
                    container("s", "Always", cpu="1"),
                    container("i", cpu="4"),
                    container("t", "Always", cpu="1"),
                ],
            ),
            5000,
            0,
            id="an init container runs beside the sidecars before it",
        ),
        pytest.param(
            a_pod(container(cpu="1"), initContainers=[sidecar(cpu="1")]),
            2000,
            0,
            id="sidecars stay",
        ),
        pytest.param(a_pod(container(cpu="1"), overhead={"cpu": "250m"}), 1250, 0, id="overhead is added"),
        pytest.param(
            a_pod(container(cpu="1"), resources={"requests": {"cpu": "4"}}, overhead={"cpu": "1"}),
            5000,
            0,
            id="pod-level requests replace the sum, overhead comes on top",
        ),
        pytest.param(
            a_pod(container(cpu="1"), resources={"limits": {"cpu": "4"}}), 1000, 0, id="pod-level limits do not"
        ),
        pytest.param(
            a_pod(container(cpu="1"), resources={"requests": {"ephemeral-storage": "1Gi"}}),
            1000,
            0,
            id="what may not be requested for a pod is ignored",
        ),
        pytest.param(a_pod(container(cpu="10E")), 0, 0, id="an amount beyond int64 counts for nothing"),
    ],
)
def test_on_the_node(pod: Pod, milli_cpu: int, memory: int) -> None:
    counted = pod_resources(pod)
    assert (counted.milli_cpu, counted.memory) == (milli_cpu, memory)


def resized(specified: str, actuated: str | None, allocated: str, reason: str = "") -> Pod:
    status: dict[str, Any] = {"name": "c", "allocatedResources": {"cpu": allocated}}
    if actuated is not None:
        status["resources"] = {"requests": {"cpu": actuated}}
    conditions = [{"type": "PodResizePending", "status": "True", "reason": reason}] if reason else []
    return a_pod(container(cpu=specified), status={"containerStatuses": [status], "conditions": conditions})


@pytest.mark.parametrize(
    ("pod", "milli_cpu"),
    [
        pytest.param(resized("1", "2", "3"), 3000, id="the largest of asked, running and set aside"),
        pytest.param(resized("4", "2", "3"), 4000, id="growing counts at once"),
        pytest.param(resized("4", "2", "3", "Deferred"), 4000, id="a deferred resize still counts"),
        pytest.param(resized("4", "2", "3", "Infeasible"), 3000, id="an infeasible one does not"),
        pytest.param(resized("1", None, "3"), 1000, id="without reported resources only the specification counts"),
    ],
)
def test_resized_containers(pod: Pod, milli_cpu: int) -> None:
    assert pod_resources(pod).milli_cpu == milli_cpu
    assert pod_resources(pod, RequestOptions(in_place_pod_vertical_scaling=False)).milli_cpu == (
        filter_request(pod).milli_cpu
    )


def test_resized_pod_level_resources_have_a_gate_of_their_own() -> None:
    pod = a_pod(
        container(cpu="1"),
        resources={"requests": {"cpu": "2", "memory": "1Gi"}},
        status={"resources": {"requests": {"cpu": "5"}}, "allocatedResources": {"cpu": "4"}},
    )
    assert pod_resources(pod).milli_cpu == 5000
    assert pod_resources(pod).memory == GI
    fixed = RequestOptions(in_place_pod_level_resources_vertical_scaling=False)
    assert pod_resources(pod, fixed).milli_cpu == 2000
    off = RequestOptions(pod_level_resources=False)
    assert pod_resources(pod, off).milli_cpu == 1000
    infeasible = msgspec.structs.replace(
        pod,
        status=msgspec.convert(
            {
                "resources": {"requests": {"cpu": "5"}},
                "conditions": [{"type": "PodResizePending", "reason": "Infeasible"}],
            },
            type(pod.status),
        ),
    )
    assert pod_resources(infeasible).memory == 0, "what is neither running nor set aside counts for nothing"


def test_sidecars_are_resized_and_plain_init_containers_are_not() -> None:
    status = {"initContainerStatuses": [{"name": "s", "resources": {"requests": {"cpu": "9"}}}]}
    plain = a_pod(container(cpu="1"), initContainers=[container("s", cpu="2")], status=status)
    resized_sidecar = a_pod(container(cpu="1"), initContainers=[sidecar(cpu="2")], status=status)
    assert pod_resources(plain).milli_cpu == 2000
    assert pod_resources(resized_sidecar).milli_cpu == 10000


def test_defaults_for_scoring_are_per_container() -> None:
    counted = pod_resources(a_pod(container(), container("d", cpu="0")))
    assert (counted.milli_cpu, counted.memory) == (0, 0)
    assert (counted.non_zero_milli_cpu, counted.non_zero_memory) == (100, 2 * DEFAULT_MEMORY)


def test_pod_level_requests_leave_defaults_only_for_what_nobody_requests() -> None:
    counted = pod_resources(a_pod(container(), container("d"), resources={"requests": {"cpu": "1"}}))
    assert (counted.non_zero_milli_cpu, counted.non_zero_memory) == (1000, 2 * DEFAULT_MEMORY)


def test_the_ways_of_asking_differ() -> None:
    status = {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "8"}}}]}
    pod = a_pod(container(cpu="1", gpu="2"), resources={"requests": {"memory": "1Gi"}}, status=status)
    assert filter_request(pod).milli_cpu == 1000
    assert filter_request(pod).memory == GI
    assert filter_request(pod, RequestOptions(pod_level_resources=False)).memory == 0
    assert filter_request(pod).scalar == {"example.com/gpu": 2}
    assert fit_score_request(pod) == {"cpu": 1000, "example.com/gpu": 2, "memory": DEFAULT_MEMORY}
    assert balanced_request(pod) == {"cpu": 8000, "example.com/gpu": 2, "memory": GI}
    assert {name: str(amount) for name, amount in scaling_request(pod).items()} == {
        "cpu": "8",
        "example.com/gpu": "2",
        "memory": "1Gi",
    }


def test_the_filter_never_asks_for_less_than_nothing() -> None:
    pod = a_pod(container(cpu="-1", memory="-1Gi", gpu="-2"))
    asked = filter_request(pod)
    assert (asked.milli_cpu, asked.memory, dict(asked.scalar)) == (0, 0, {"example.com/gpu": 0})
    assert pod_resources(pod).milli_cpu == -1000


def test_resources_of_claims_and_overhead_are_optional() -> None:
    claims = [{"resourceClaimName": "x", "resources": {"cpu": "3"}}]
    pod = a_pod(container(cpu="1"), overhead={"cpu": "1"}, status={"nodeAllocatableResourceClaimStatuses": claims})
    assert pod_resources(pod).milli_cpu == 2000
    assert pod_resources(pod, RequestOptions(dra_node_allocatable_resources=True)).milli_cpu == 5000
    assert str(pod_requests(pod, RequestRules(overhead=False))["cpu"]) == "1"


def limited(restart: str | None = None, **limits: Any) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": {"cpu": "9"}, "limits": limits}, "restartPolicy": restart}


@pytest.mark.parametrize(
    ("pod", "limits"),
    [
        pytest.param(a_pod(limited(cpu="1"), limited(cpu="500m")), {"cpu": "1500m"}, id="containers are added"),
        pytest.param(a_pod(limited(), container(cpu="1")), {}, id="requests are no limits"),
        pytest.param(
            a_pod(limited(cpu="1"), initContainers=[limited(cpu="3"), limited("Always", cpu="1")]),
            {"cpu": "3"},
            id="the largest init container counts if it needs more",
        ),
        pytest.param(
            a_pod(limited(cpu="1"), resources={"limits": {"cpu": "4", "example.com/gpu": "1"}}),
            {"cpu": "4"},
            id="limits of the pod as a whole replace the sum",
        ),
        pytest.param(
            a_pod(limited(cpu="1"), overhead={"cpu": "100m", "memory": "1Gi"}),
            {"cpu": "1100m"},
            id="overhead counts where there is a limit",
        ),
    ],
)
def test_limits(pod: Pod, limits: dict[str, str]) -> None:
    assert {name: str(amount) for name, amount in pod_limits(pod).items()} == limits


@pytest.mark.parametrize(
    ("name", "extended", "scalar"),
    [
        ("cpu", False, False),
        ("pods", False, False),
        ("example.com/gpu", True, True),
        ("requests.example.com/gpu", False, False),
        ("kubernetes.io/batch", False, True),
        ("hugepages-2Mi", False, True),
        ("attachable-volumes-aws-ebs", False, True),
        ("Example.com/gpu", False, False),
        ("example.com/", False, False),
        ("a/b/c", False, False),
    ],
)
def test_resource_names(name: str, extended: bool, scalar: bool) -> None:
    assert is_extended_resource(name) is extended
    assert is_scalar_resource(name) is scalar


def test_a_bad_quantity_is_named() -> None:
    with pytest.raises(InvalidQuantityError, match="quantity 'lots'"):
        pod_resources(a_pod(container(cpu="lots")))


def test_the_amounts_of_a_resource_list() -> None:
    assert resource_amounts({"cpu": "1500m", "memory": "1Ki", "example.com/gpu": 2}) == {
        "cpu": 1500,
        "memory": 1024,
        "example.com/gpu": 2,
    }
    with pytest.raises(InvalidObjectError, match=r"^cpu: "):
        resource_amounts({"cpu": "lots"})
    with pytest.raises(InvalidObjectError, match="expected amounts by resource"):
        resource_amounts("lots")  # type: ignore[arg-type]

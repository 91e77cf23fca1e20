"""Pods of one template share what was read from it; pods of others do not."""

import msgspec
import pytest

from kubesched.api.pods import ContainerStatus, Pod, PodStatus, ResourceRequirements
from kubesched.api.resources import RequestOptions
from kubesched.api.volumes import PersistentVolumeClaimVolumeSource, Volume
from kubesched.core.cluster.pod_info import PodReader
from kubesched.testing import a_container, a_pod


def with_volumes(pod: Pod, *volumes: Volume) -> Pod:
    """Return a pod with volumes."""
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, volumes=volumes))


def a_claim_volume(name: str) -> Volume:
    return Volume(name="data", persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=name))


TOKEN = Volume(name="kube-api-access-abcde")
P = a_pod("p", cpu="1")


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        pytest.param(P, a_pod("q", cpu="1"), True, id="another name"),
        pytest.param(P, a_pod("p", cpu="1", node="n"), True, id="another node"),
        pytest.param(P, a_pod("p", cpu="2"), False, id="another request"),
        pytest.param(P, a_pod("p", cpu="1", namespace="other"), False, id="another namespace"),
        pytest.param(with_volumes(P, TOKEN), P, True, id="a token, which scheduling has nothing to do with"),
        pytest.param(
            with_volumes(P, TOKEN),
            with_volumes(P, Volume(name="kube-api-access-fghij")),
            True,
            id="tokens of their own",
        ),
        pytest.param(
            with_volumes(P, a_claim_volume("c1"), TOKEN),
            with_volumes(P, a_claim_volume("c2")),
            False,
            id="other claims",
        ),
    ],
)
def test_who_shares_what_was_read(one: Pod, other: Pod, shared: bool) -> None:
    reader = PodReader(RequestOptions())
    assert (reader.read(one).digest is reader.read(other).digest) is shared


def test_each_pod_keeps_its_own_specification() -> None:
    reader = PodReader(RequestOptions())
    assert reader.read(with_volumes(P, TOKEN)).spec.volumes == (TOKEN,)
    assert reader.read(a_pod("p", cpu="1", node="n")).spec.node_name == "n"


def test_pods_are_told_apart_by_who_they_are() -> None:
    reader = PodReader(RequestOptions())
    one, same = reader.read(P), reader.read(P)
    assert one != same
    assert len({one, same}) == 2


def test_what_a_pod_takes_of_a_resource() -> None:
    pod = PodReader(RequestOptions()).read(a_pod("p", cpu="500m", memory="1Ki", requests={"example.com/gpu": "2"}))
    taken = {name: pod.request_of(name) for name in ("cpu", "memory", "pods", "example.com/gpu", "example.com/none")}
    assert taken == {"cpu": 500, "memory": 1024, "pods": 1, "example.com/gpu": 2, "example.com/none": 0}


def test_limits_are_summed_as_requests_are() -> None:
    containers = [a_container("a", limits={"cpu": "1500m", "memory": "1Gi"}), a_container("b", limits={"cpu": 1})]
    pod = PodReader(RequestOptions()).read(a_pod("p", containers=containers))
    assert dict(pod.limits) == {"cpu": 2500, "memory": 1 << 30}


def test_a_report_of_a_known_pod_has_its_digest_unless_it_reports_other_resources() -> None:
    reader = PodReader(RequestOptions())
    known = reader.read(P)
    ready = msgspec.structs.replace(P, status=PodStatus(phase="Running"))
    assert reader.renew(ready, known).digest is known.digest
    assert reader.renew(ready, known).status.phase == "Running"
    resized = ContainerStatus(name="main", resources=ResourceRequirements(requests={"cpu": "3"}))
    larger = msgspec.structs.replace(P, status=PodStatus(container_statuses=(resized,)))
    assert reader.renew(larger, known).request_of("cpu") == 3000
    assert reader.renew(a_pod("p", cpu="2"), known).request_of("cpu") == 2000

"""What quotas leave: how many more pods the API server accepts, and its sentence about the next one."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.models import a_model
from tests.support.simulated import SimulatedCluster, in_simulated_cluster

from kubesched.api.codec import decode, to_builtins
from kubesched.api.devices import ResourceClaim
from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.core.assembly import load_config
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.testing import a_node, a_pod
from kubesched_answers.quotas import QuotaLimit, QuotaRoom, quota_room
from kubesched_controlplane.api.statuses import ApiError

Document = dict[str, Any]


def a_quota(hard: Document, used: Document | None = None, name: str = "q", **spec: Any) -> Document:
    """Return a quota whose usage is counted; what is not in `used` is not used."""
    status = {"hard": hard, "used": {**dict.fromkeys(hard, "0"), **(used or {})}}
    meta = {"name": name, "namespace": "default"}
    spec = {"hard": hard, **spec}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": spec, "status": status}


def a_claim(count: int = 1, device_class: str = "gpu", **more: Any) -> ResourceClaim:
    """Return a claim to devices of a class."""
    exactly = {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count, **more}
    document = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "web-0-gpu", "namespace": "default"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}},
    }
    claim = decode(document)
    assert isinstance(claim, ResourceClaim)
    return claim


WEB = a_pod("web", cpu="1", memory="1Gi")
CLASS = "gpu.deviceclass.resource.k8s.io/devices"


@pytest.mark.parametrize(
    ("quotas", "objects", "expected"),
    [
        pytest.param([], [WEB], None, id="no quota limits anything"),
        pytest.param([a_quota({"configmaps": "1"})], [WEB], None, id="a quota of other objects does not concern pods"),
        pytest.param([a_quota({"pods": "5"}, {"pods": "2"})], [WEB], (3, ("pods",)), id="pods are counted"),
        pytest.param([a_quota({"count/pods": "5"})], [WEB], (5, ("count/pods",)), id="objects are counted"),
        pytest.param(
            [a_quota({"requests.cpu": "600"}, {"requests.cpu": "600"})],
            [WEB],
            (0, ("requests.cpu",)),
            id="a quota that is full allows none",
        ),
        pytest.param(
            [a_quota({"requests.cpu": "3500m", "pods": "9"})], [WEB], (3, ("requests.cpu",)), id="the scarcest counts"
        ),
        pytest.param(
            [a_quota({"pods": "9"}, name="a"), a_quota({"memory": "2Gi"}, name="b")],
            [WEB],
            (2, ("memory",)),
            id="the scarcest of several quotas counts",
        ),
        pytest.param([a_quota({"limits.cpu": "2"})], [WEB], (0, ()), id="containers have to state what a quota limits"),
        pytest.param(
            [a_quota({"pods": "1"}, scopes=["BestEffort"])], [WEB], None, id="a pod out of the scope is not counted"
        ),
        pytest.param(
            [a_quota({"pods": "1"}, scopes=["Terminating"])],
            [a_pod("web", active_deadline_seconds=9)],
            (1, ("pods",)),
            id="a pod with a deadline is terminating",
        ),
        pytest.param(
            [
                a_quota(
                    {"pods": "4"},
                    scopeSelector={
                        "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]
                    },
                )
            ],
            [a_pod("web", priority_class_name="high")],
            (4, ("pods",)),
            id="a pod of the quota's priority class is counted",
        ),
        pytest.param(
            [a_quota({"requests.nvidia.com/gpu": "5"})],
            [a_pod("web", requests={"nvidia.com/gpu": "2"})],
            (2, ("requests.nvidia.com/gpu",)),
            id="extended resources are counted",
        ),
        pytest.param([a_quota({CLASS: "5"})], [WEB, a_claim(2)], (2, (CLASS,)), id="devices of a class are counted"),
        pytest.param(
            [a_quota({CLASS: "40"})],
            [WEB, a_claim(allocationMode="All", count=0)],
            (1, (CLASS,)),
            id="all devices of a node are as many as one claim may have",
        ),
        pytest.param(
            [a_quota({"count/resourceclaims.resource.k8s.io": "3"})],
            [WEB, a_claim()],
            (3, ("count/resourceclaims.resource.k8s.io",)),
            id="claims to devices are counted",
        ),
    ],
)
def test_a_quota_allows_so_many_more(quotas: list[Document], objects: list[ApiObject], expected: Any) -> None:
    found = QuotaRoom(quotas).limit(objects)
    assert (None if found is None else (found.allows, found.resources)) == expected


def test_the_answer_names_the_quota_and_has_the_sentence_of_the_api_server() -> None:
    found = QuotaRoom([a_quota({"requests.cpu": "600"}, {"requests.cpu": "599500m"}, "compute")]).limit([WEB])
    assert found == QuotaLimit(
        "default",
        "compute",
        0,
        ("requests.cpu",),
        'pods "web" is forbidden: exceeded quota: compute, requested: requests.cpu=1, used: requests.cpu=599500m, '
        "limited: requests.cpu=600",
    )
    assert str(found) == "the quota compute of namespace default allows 0 more: requests.cpu"


def test_what_is_charged_is_no_longer_there_until_it_is_released() -> None:
    room = QuotaRoom([a_quota({"pods": "5", "requests.cpu": "4"})])
    room.charge([WEB], 3)
    found = room.limit([WEB])
    assert found is not None
    assert found.allows == 1
    room.release([WEB], 3)
    found = room.limit([WEB])
    assert found is not None
    assert found.allows == 4


def test_pods_of_other_namespaces_are_not_counted() -> None:
    assert QuotaRoom([a_quota({"pods": "0"})]).limit([a_pod("web", namespace="other")]) is None


def test_a_quota_without_a_status_is_counted_from_the_cluster() -> None:
    quota = {key: value for key, value in a_quota({"pods": "5", "memory": "4Gi"}).items() if key != "status"}
    objects = (a_node("n1"), a_pod("a", memory="1Gi", node="n1"), a_pod("b", memory="1Gi", namespace="other"))
    found = quota_room(ClusterModel(ClusterObjects(objects, admission=(quota,)), load_config(None))).limit([WEB])
    assert found is not None
    assert (found.allows, found.resources) == (3, ("memory",))


def test_a_further_quota_replaces_one_of_the_same_name() -> None:
    found = quota_room(a_model(a_node("n1")), [a_quota({"pods": "1"}), a_quota({"pods": "7"})]).limit([WEB])
    assert found is not None
    assert found.allows == 7


AMOUNTS = st.sampled_from(["0", "100m", "300m", "1", "1500m"])
PODS = st.builds(
    lambda cpu, memory, deadline: a_pod("web", cpu=cpu, memory=memory, active_deadline_seconds=deadline),
    AMOUNTS,
    st.sampled_from(["0", "100Mi", "1Gi"]),
    st.sampled_from([None, 60]),
)
HARD = st.fixed_dictionaries(
    {"pods": st.integers(0, 7).map(str)},
    optional={"requests.cpu": st.sampled_from(["500m", "2", "3"]), "memory": st.sampled_from(["512Mi", "3Gi"])},
)
SCOPES = st.sampled_from([[], ["Terminating"], ["NotTerminating"], ["NotBestEffort"]])


@settings(max_examples=25, deadline=None)
@given(PODS, st.lists(st.tuples(HARD, SCOPES), min_size=1, max_size=3))
def test_the_api_server_accepts_as_many_pods_as_the_answer_says(pod: Pod, given: list[Any]) -> None:
    quotas = [a_quota(hard, name=f"q{number}", scopes=scopes) for number, (hard, scopes) in enumerate(given)]
    found = QuotaRoom(quotas).limit([pod])
    most = 12

    refusals: list[str] = []

    async def story(cluster: SimulatedCluster) -> None:
        for quota in quotas:
            cluster.create({field: value for field, value in quota.items() if field != "status"})
        await asyncio.sleep(1)
        for number in range(most):
            document = {"apiVersion": "v1", "kind": "Pod", **to_builtins(pod)}
            document["metadata"] = {"name": f"web-{number}", "namespace": "default"}
            document["spec"]["containers"][0]["image"] = "i"
            try:
                cluster.create(document)
            except ApiError as error:
                refusals.append(error.message.partition(" is forbidden: ")[2])

    in_simulated_cluster(story)
    allows = most if found is None else found.allows
    assert len(refusals) == most - allows
    assert refusals[:1] == ([] if found is None else [found.message.partition(" is forbidden: ")[2]])

"""What the API server accepts of changes: creates, updates, recreations, with the rules of each verb."""

from typing import Any

import pytest

from kubesched.api.codec import decode, to_builtins
from kubesched.api.meta import ApiObject
from kubesched.core.assembly import load_config
from kubesched.model.cluster_model import ClusterModel, name_of_object
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.reports.answers import ObjectChange, ObjectName
from kubesched.testing import a_claim, a_node, a_pod, a_spread, a_volume
from kubesched_answers.api_rules import ApiRules
from kubesched_answers.remedies.patches import pointer

LOADED = load_config()
TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "web", "image": "web"}], "restartPolicy": "Never"},
}
JOB: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"template": TEMPLATE},
}
A_CLAIM_FOR_DEVICES: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "gpus", "namespace": "default"},
    "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu", "count": 2}}]}},
}
COUNT = pointer("spec", "devices", "requests", 0, "exactly", "count")
VOLUME = a_volume("disk", nodes="topology.kubernetes.io/zone=a")
SPREAD = a_pod("web", spread=[a_spread("zone", "app=web")])


def patch_of(obj: ApiObject, path: str, value: Any = None, op: str = "replace", **words: Any) -> ObjectChange:
    operation = {"op": op, "path": path} if op == "remove" else {"op": op, "path": path, "value": value}
    return ObjectChange(name_of_object(obj), patch=[operation], **words)


def refusal(change: ObjectChange, *objects: ApiObject, workloads: tuple[dict[str, Any], ...] = ()) -> str:
    return ApiRules(ClusterModel(ClusterObjects(objects, workloads), LOADED)).refusal(change)


GPUS = decode(A_CLAIM_FOR_DEVICES)
REFUSED: dict[str, tuple[ObjectChange, tuple[ApiObject, ...], str]] = {
    "the spec of a resource claim is immutable": (patch_of(GPUS, COUNT, 1), (GPUS,), "field is immutable"),
    "so is the node affinity of a volume": (
        patch_of(VOLUME, "/spec/nodeAffinity", op="remove"),
        (VOLUME,),
        "field is immutable",
    ),
    "so are the requests of a pod": (
        patch_of(SPREAD, "/spec/topologySpreadConstraints", op="remove"),
        (SPREAD,),
        "pod updates may not change fields",
    ),
    "minDomains goes with DoNotSchedule alone, also of a pod that is created again": (
        ObjectChange(
            name_of_object(SPREAD),
            patch=[
                {"op": "add", "path": "/spec/topologySpreadConstraints/0/minDomains", "value": 2},
                {"op": "add", "path": "/spec/topologySpreadConstraints/0/whenUnsatisfiable", "value": "ScheduleAnyway"},
            ],
            recreate=True,
        ),
        (SPREAD,),
        "can only use minDomains if whenUnsatisfiable=DoNotSchedule",
    ),
    "a driver has the name of a domain": (
        ObjectChange(
            name_of_object(VOLUME),
            create={
                **to_builtins(VOLUME),
                "spec": {
                    "capacity": {"storage": "1Gi"},
                    "accessModes": ["ReadWriteOnce"],
                    "csi": {"driver": "kubernetes.io/no-provisioner", "volumeHandle": "disk"},
                },
            },
        ),
        (),
        "spec.csi.driver",
    ),
    "a patch applies to what exists": (patch_of(GPUS, COUNT, 1), (), "ResourceClaim default/gpus does not exist"),
    "a patch applies to fields that exist": (
        patch_of(GPUS, "/spec/nothing", op="remove"),
        (GPUS,),
        "cannot be applied",
    ),
}


@pytest.mark.parametrize(("change", "objects", "why"), REFUSED.values(), ids=REFUSED)
def test_a_refused_change(change: ObjectChange, objects: tuple[ApiObject, ...], why: str) -> None:
    assert why in refusal(change, *objects)


GATED = a_pod("web", gates=["wait"])
NODE = a_node("n1", pods=1)
ACCEPTED: dict[str, tuple[ObjectChange, tuple[ApiObject, ...]]] = {
    "a resource claim that is created again": (patch_of(GPUS, COUNT, 1, recreate=True), (GPUS,)),
    "a pod that is created again": (
        patch_of(SPREAD, "/spec/topologySpreadConstraints", op="remove", recreate=True),
        (SPREAD,),
    ),
    "a gate is removed in place": (patch_of(GATED, "/spec/schedulingGates", op="remove"), (GATED,)),
    "a toleration is added in place": (
        patch_of(GATED, "/spec/tolerations", [{"operator": "Exists"}], "add"),
        (GATED,),
    ),
    "the status of a node": (patch_of(NODE, "/status/allocatable/pods", "2"), (NODE,)),
    "a claim is bound to a volume": (
        patch_of(a_claim("data"), "/spec/volumeName", "disk", "add"),
        (a_claim("data"), VOLUME),
    ),
    "a deletion": (ObjectChange(name_of_object(GATED), delete=True), (GATED,)),
    "a new node": (ObjectChange(name_of_object(NODE), create=to_builtins(NODE)), ()),
}


@pytest.mark.parametrize(("change", "objects"), ACCEPTED.values(), ids=ACCEPTED)
def test_an_accepted_change(change: ObjectChange, objects: tuple[ApiObject, ...]) -> None:
    assert refusal(change, *objects) == ""


def test_problems_that_an_object_has_already_are_not_those_of_its_change() -> None:
    # fields that models leave out, such as the source of a volume
    bare = decode({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"}, "spec": {}})
    assert refusal(patch_of(bare, "/metadata/labels", {"zone": "a"}, "add"), bare) == ""


def test_the_template_of_a_job_is_immutable_and_its_parallelism_is_not() -> None:
    job = ObjectName("batch/v1", "Job", "default", "web")
    another = ObjectChange(job, patch=[{"op": "add", "path": "/spec/template/spec/nodeSelector", "value": {"a": "b"}}])
    assert "field is immutable" in refusal(another, workloads=(JOB,))
    more = ObjectChange(job, patch=[{"op": "add", "path": "/spec/parallelism", "value": 2}])
    assert refusal(more, workloads=(JOB,)) == ""


def test_questions_leave_no_object_behind() -> None:
    rules = ApiRules(ClusterModel(ClusterObjects((GPUS,)), LOADED))
    for _ in range(2):
        assert rules.refusal(patch_of(GPUS, COUNT, 1, recreate=True)) == ""
        assert "immutable" in rules.refusal(patch_of(GPUS, COUNT, 1))

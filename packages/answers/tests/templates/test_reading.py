"""Manifests of workloads as templates: the pods that the API server would store."""

from itertools import islice
from typing import Any

import pytest

from kubesched.api.codec import decode, to_builtins
from kubesched.api.devices import ResourceClaim, ResourceClaimTemplate
from kubesched.api.meta import ApiObject, ObjectMeta, OwnerReference
from kubesched.api.pods import Pod
from kubesched.api.scheduling import PriorityClass
from kubesched.api.storage import PersistentVolumeClaim, StorageClass
from kubesched.core.assembly import load_config
from kubesched.errors import InvalidObjectError
from kubesched.manifests import Manifest
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects, Gap
from kubesched.testing import a_namespace, a_node, a_pod, a_replica_set, a_storage_class
from kubesched_answers.templates.reading import WorkloadTemplates, read_templates

CONTAINER: dict[str, Any] = {"name": "main", "image": "web", "resources": {"limits": {"cpu": "500m", "memory": "1Gi"}}}
TEMPLATE: dict[str, Any] = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [CONTAINER]}}
CLAIM_SPEC: dict[str, Any] = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
SELECTOR = {"matchLabels": {"app": "web"}}
MORE: dict[str, dict[str, Any]] = {
    "Deployment": {"replicas": 3, "selector": SELECTOR, "template": TEMPLATE},
    "ReplicaSet": {"replicas": 3, "selector": SELECTOR, "template": TEMPLATE},
    "StatefulSet": {"replicas": 3, "selector": SELECTOR, "serviceName": "web", "template": TEMPLATE},
    "DaemonSet": {"selector": SELECTOR, "template": TEMPLATE},
}
VERSIONS = {"Job": "batch/v1", "CronJob": "batch/v1", "ReplicationController": "v1", "PodTemplate": "v1", "Pod": "v1"}


def a_model(*objects: ApiObject, **more: Any) -> ClusterModel:
    """Return a model of a cluster with some objects."""
    return ClusterModel(ClusterObjects((a_node("n1"), *objects), **more), load_config(None))


def a_workload(kind: str, name: str = "web", **spec: Any) -> dict[str, Any]:
    """Return the document of a workload."""
    version = VERSIONS.get(kind, "apps/v1")
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {**MORE.get(kind, {}), **spec},
    }


def read(*documents: dict[str, Any], model: ClusterModel | None = None) -> WorkloadTemplates:
    """Return the templates of some documents."""
    manifests = [Manifest(f"web.yaml: document {number}", each) for number, each in enumerate(documents, 1)]
    return read_templates(model or a_model(), manifests)


def a_job_spec(**more: Any) -> dict[str, Any]:
    """Return the spec of a job."""
    spec = {**TEMPLATE["spec"], "restartPolicy": "Never"}
    return {"template": {"metadata": {"labels": {"app": "web"}}, "spec": spec}, **more}


@pytest.mark.parametrize(
    ("kind", "spec", "replicas", "names"),
    [
        pytest.param("Pod", TEMPLATE["spec"], 1, ["web-0", "web-1"], id="a pod counts as one"),
        pytest.param("Deployment", {}, 3, ["web-0", "web-1"], id="a deployment has replicas"),
        pytest.param("Deployment", {"replicas": None}, 1, ["web-0", "web-1"], id="replicas default to one"),
        pytest.param("ReplicaSet", {}, 3, ["web-0", "web-1"], id="a replica set has replicas"),
        pytest.param(
            "ReplicationController",
            {"replicas": 2, "selector": {"app": "web"}, "template": TEMPLATE},
            2,
            ["web-0", "web-1"],
            id="a replication controller has replicas",
        ),
        pytest.param("StatefulSet", {}, 3, ["web-0", "web-1"], id="a stateful set has ordinals"),
        pytest.param(
            "StatefulSet", {"ordinals": {"start": 5}}, 3, ["web-5", "web-6"], id="a stateful set may start elsewhere"
        ),
        pytest.param("Job", a_job_spec(parallelism=4), 4, ["web-0", "web-1"], id="a job runs as many as parallelism"),
        pytest.param(
            "Job",
            a_job_spec(parallelism=4, completions=2),
            2,
            ["web-0", "web-1"],
            id="a job runs no more than its completions",
        ),
        pytest.param(
            "CronJob",
            {"schedule": "* * * * *", "jobTemplate": {"spec": a_job_spec(parallelism=3)}},
            3,
            ["web-0", "web-1"],
            id="a cron job counts as one of its jobs",
        ),
        pytest.param("DaemonSet", {}, 0, ["web-0", "web-1"], id="a daemon set does not say how many"),
    ],
)
def test_a_workload_counts_as_its_pods(kind: str, spec: dict[str, Any], replicas: int, names: list[str]) -> None:
    model = a_model()
    (template,) = read(a_workload(kind, **spec), model=model).templates
    assert str(template) == f"{kind} shop/web"
    assert template.replicas == replicas
    pods = [each.pod for each in islice(template.new_pods(model), 2)]
    assert [pod.full_name for pod in pods] == [f"shop/{name}" for name in names]
    assert len({pod.uid for pod in pods}) == 2


def test_a_pod_template_counts_as_one_pod() -> None:
    document = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "web"}, "template": TEMPLATE}
    (template,) = read(document).templates
    assert (str(template), template.replicas) == ("PodTemplate default/web", 1)
    assert template.pod.spec.containers[0].resources.requests == {"cpu": "500m", "memory": "1Gi"}


def test_a_pod_is_defaulted_as_the_api_server_does() -> None:
    (template,) = read(a_workload("Deployment")).templates
    spec = template.pod.spec
    assert spec.scheduler_name == "default-scheduler"
    assert (spec.priority, spec.preemption_policy) == (0, "PreemptLowerPriority")
    assert spec.containers[0].resources.requests == {"cpu": "500m", "memory": "1Gi"}
    assert [(each.key, each.effect, each.toleration_seconds) for each in spec.tolerations] == [
        ("node.kubernetes.io/not-ready", "NoExecute", 300),
        ("node.kubernetes.io/unreachable", "NoExecute", 300),
    ]
    assert template.pod.metadata.labels["app"] == "web"
    assert template.pod.metadata.owner_references[0].kind == "ReplicaSet"


@pytest.mark.parametrize(
    ("name", "priority"),
    [
        pytest.param("", 7, id="without a class, the global default"),
        pytest.param("high", 1000, id="a class of the cluster"),
        pytest.param("system-node-critical", 2_000_001_000, id="a built-in class"),
    ],
)
def test_the_priority_is_that_of_the_class(name: str, priority: int) -> None:
    model = a_model(
        PriorityClass(metadata=ObjectMeta(name="high"), value=1000),
        PriorityClass(metadata=ObjectMeta(name="usual"), value=7, global_default=True),
    )
    spec = {**TEMPLATE["spec"], "priorityClassName": name}
    (template,) = read(a_workload("Pod", **spec), model=model).templates
    assert template.pod.priority == priority


def a_limit_range(kind: str = "Container", **limits: dict[str, str]) -> dict[str, Any]:
    """Return a limit range of the namespace shop."""
    meta = {"name": "l", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta, "spec": {"limits": [{"type": kind, **limits}]}}


def a_runtime_class(**fields: Any) -> dict[str, Any]:
    """Return the runtime class kata."""
    head = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "kata"}, "handler": "kata"}
    return {**head, **fields}


KATA = {
    "overhead": {"podFixed": {"memory": "100Mi"}},
    "scheduling": {"nodeSelector": {"runtime": "kata"}, "tolerations": [{"key": "kata", "operator": "Exists"}]},
}


def admitted(*admission: dict[str, Any], limits: dict[str, str] | None = None, **spec: Any) -> Pod:
    """Return a pod as it is admitted beside objects of the cluster."""
    resources = {"resources": {"limits": limits}} if limits else {}
    document = a_workload("Pod", containers=[{"name": "main", "image": "web", **resources}], **spec)
    (template,) = read(document, model=a_model(a_namespace("shop"), admission=admission)).templates
    return template.pod


@pytest.mark.parametrize(
    ("admission", "limits", "requests"),
    [
        pytest.param(a_limit_range(defaultRequest={"cpu": "2"}), {}, {"cpu": "2"}, id="a default request"),
        pytest.param(a_limit_range(default={"cpu": "3"}), {}, {"cpu": "3"}, id="the default limit is requested"),
        pytest.param(a_limit_range(max={"cpu": "4"}), {}, {"cpu": "4"}, id="the maximum is the default limit"),
        pytest.param(a_limit_range(default={"cpu": "3"}), {"cpu": "1"}, {"cpu": "1"}, id="a pod's own limit"),
        pytest.param(a_limit_range("Pod", max={"cpu": "4"}), {"cpu": "1"}, {"cpu": "1"}, id="a pod within its limits"),
    ],
)
def test_limit_ranges_of_the_cluster_fill_in_requests(
    admission: dict[str, Any], limits: dict[str, str], requests: dict[str, str]
) -> None:
    assert admitted(admission, limits=limits).spec.containers[0].resources.requests == requests


def test_a_runtime_class_of_the_cluster_adds_overhead_node_selector_and_tolerations() -> None:
    spec = admitted(a_runtime_class(**KATA), runtimeClassName="kata").spec
    assert (spec.overhead, spec.node_selector) == ({"memory": "100Mi"}, {"runtime": "kata"})
    assert "kata" in [each.key for each in spec.tolerations]


@pytest.mark.parametrize(
    ("admission", "why"),
    [
        pytest.param(
            a_limit_range(min={"cpu": "2"}, defaultRequest={"cpu": "2"}),
            "minimum cpu usage per Container is 2, but request is 1",
            id="too small",
        ),
        pytest.param(a_limit_range(max={"cpu": "500m"}), "maximum cpu usage per Container is 500m", id="too large"),
        pytest.param(
            a_limit_range("Pod", max={"memory": "1Gi"}),
            "maximum memory usage per Pod is 1Gi.  No limit is specified",
            id="a pod without a limit",
        ),
        pytest.param(
            a_limit_range("Pod", maxLimitRequestRatio={"memory": "2"}),
            "memory max limit to request ratio per Pod is 2, but no request is specified",
            id="a pod without a ratio",
        ),
    ],
)
def test_a_pod_that_a_limit_range_refuses_is_an_error_with_the_sentence_of_the_api_server(
    admission: dict[str, Any], why: str
) -> None:
    with pytest.raises(InvalidObjectError, match=r'document 1: Pod "web": pods "web" is forbidden: .*' + why):
        admitted(admission, limits={"cpu": "1"})


def test_a_runtime_class_that_the_cluster_does_not_have_is_an_error() -> None:
    with pytest.raises(InvalidObjectError, match='pod rejected: RuntimeClass "kata" not found'):
        admitted(runtimeClassName="kata")


def test_claims_get_the_default_storage_class() -> None:
    default = StorageClass(
        metadata=ObjectMeta(name="usual", annotations={"storageclass.kubernetes.io/is-default-class": "true"}),
        provisioner="csi.example.com",
    )
    claim = {"metadata": {"name": "data"}, "spec": CLAIM_SPEC}
    document = a_workload("StatefulSet", volumeClaimTemplates=[claim])
    (template,) = read(document, model=a_model(default)).templates
    assert template.claims[0].claim.spec.storage_class_name == "usual"


def test_quotas_of_manifests_refuse_no_template() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "shop"},
        "spec": {"hard": {"pods": "0"}},
    }
    found = read(quota, a_workload("Pod", **TEMPLATE["spec"]), a_workload("Deployment"))
    assert [str(each) for each in found.templates] == ["Pod shop/web", "Deployment shop/web"]
    assert [(each["metadata"]["name"], each["spec"]["hard"]) for each in found.quotas] == [("q", {"pods": "0"})]


def test_a_quota_that_is_not_valid_is_an_error() -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"cup": "1"}}}
    with pytest.raises(InvalidObjectError, match=r'ResourceQuota "q": .* spec.hard\[cup\]'):
        read(quota, a_workload("Deployment"))


def test_kinds_that_the_source_may_lack_are_gaps_of_templates() -> None:
    unread = ("LimitRange", "ResourceQuota", "RuntimeClass", "PriorityClass", "StorageClass")
    gap = Gap("PriorityClass", "forbidden", "priorities")
    objects = ClusterObjects((a_node("n1"),), origin="nodes.yaml", gaps=(gap,), unread=unread)
    model = ClusterModel(objects, load_config(None))
    found = read(a_workload("Deployment"), model=model).gaps
    assert [each.what for each in found] == ["LimitRange", "ResourceQuota"]
    assert found[0].why == "nodes.yaml has none; the cluster may have some"
    claim = {"metadata": {"name": "data"}, "spec": CLAIM_SPEC}
    found = read(a_workload("StatefulSet", volumeClaimTemplates=[claim]), model=model).gaps
    assert [each.what for each in found] == ["LimitRange", "ResourceQuota", "StorageClass"]


def test_an_object_by_which_pods_are_admitted_and_that_is_refused_is_a_gap() -> None:
    model = a_model(a_namespace("shop"), admission=(a_limit_range("Nonsense", max={"cpu": "1"}),))
    (gap,) = read(a_workload("Deployment"), model=model).gaps
    assert (gap.what, gap.uncertain) == ("an object", "pods are admitted without it")
    assert 'LimitRange "l": ' in gap.why
    assert "must be a standard limit type" in gap.why


def test_a_workload_that_was_exported_from_a_cluster_counts_as_one_of_a_manifest() -> None:
    document = a_workload("Deployment")
    document["metadata"] |= {
        "uid": "5d1e9d0c-7bfa-4f0e-9c52-6c0c2f0b9c11",
        "resourceVersion": "7",
        "generation": 2,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "managedFields": [{"manager": "kubectl", "operation": "Apply", "apiVersion": "apps/v1"}],
    }
    document["status"] = {"replicas": 3, "observedGeneration": 2}
    exported, written = read(document).templates[0], read(a_workload("Deployment")).templates[0]
    assert exported.replicas == written.replicas == 3
    assert exported.pod.spec == written.pod.spec


def test_an_existing_pod_is_a_template_without_its_node() -> None:
    document = to_builtins(a_pod("web-7", namespace="shop", node="n1", cpu="1"))
    document["spec"]["containers"][0]["image"] = "web"
    (template,) = read(document).templates
    assert template.pod.spec.node_name == ""
    assert template.pod.status.phase == "Pending"


def test_names_that_the_cluster_has_are_left_out() -> None:
    model = a_model(a_pod("web-0", namespace="shop"), a_pod("web-2", namespace="shop"))
    (template,) = read(a_workload("StatefulSet"), model=model).templates
    pods = [each.pod for each in islice(template.new_pods(model), 2)]
    assert [pod.name for pod in pods] == ["web-1", "web-3"]
    assert pods[1].metadata.labels["apps.kubernetes.io/pod-index"] == "3"
    assert pods[1].metadata.labels["statefulset.kubernetes.io/pod-name"] == "web-3"


def test_pods_of_a_deployment_carry_the_hash_of_its_newest_replica_set() -> None:
    owner = OwnerReference(api_version="apps/v1", kind="Deployment", name="web", uid="d", controller=True)
    replica_set = to_builtins(a_replica_set("web-abc", "app=web", namespace="shop"))
    replica_set["metadata"] |= {
        "labels": {"pod-template-hash": "abc"},
        "ownerReferences": [to_builtins(owner)],
        "annotations": {"deployment.kubernetes.io/revision": "2"},
    }
    model = a_model(decode({**replica_set, "apiVersion": "apps/v1", "kind": "ReplicaSet"}))
    (template,) = read(a_workload("Deployment"), model=model).templates
    assert template.pod.metadata.labels["pod-template-hash"] == "abc"


def test_a_stateful_set_brings_its_claims() -> None:
    model = a_model(a_storage_class("fast"))
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "fast",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    (template,) = read(a_workload("StatefulSet", volumeClaimTemplates=[claim]), model=model).templates
    second = list(islice(template.new_pods(model), 2))[1]
    (made,) = second.objects
    assert isinstance(made, PersistentVolumeClaim)
    assert (made.full_name, made.spec.storage_class_name) == ("shop/data-web-1", "fast")
    (volume,) = [each for each in second.pod.spec.volumes if each.name == "data"]
    assert volume.persistent_volume_claim is not None
    assert volume.persistent_volume_claim.claim_name == "data-web-1"


def test_an_ephemeral_volume_brings_a_claim_of_the_pod() -> None:
    model = a_model(a_storage_class("fast"))
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    volume = {"name": "tmp", "ephemeral": {"volumeClaimTemplate": {"spec": spec}}}
    (template,) = read(a_workload("Pod", **TEMPLATE["spec"], volumes=[volume]), model=model).templates
    pod, objects = next(template.new_pods(model))
    (claim,) = objects
    assert claim.full_name == "shop/web-0-tmp"
    assert claim.metadata.owner_references[0].uid == pod.uid


def test_a_claim_template_brings_a_claim_to_devices() -> None:
    model = a_model(ResourceClaimTemplate(metadata=ObjectMeta(name="gpu", namespace="shop")))
    claims = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    (template,) = read(a_workload("Pod", **TEMPLATE["spec"], resourceClaims=claims), model=model).templates
    pod, objects = next(template.new_pods(model))
    (claim,) = objects
    assert isinstance(claim, ResourceClaim)
    assert pod.status.resource_claim_statuses[0].resource_claim_name == claim.name


def test_a_daemon_set_runs_where_its_controller_wants_it() -> None:
    spec = {**TEMPLATE["spec"], "nodeSelector": {"disk": "ssd"}}
    (template,) = read(a_workload("DaemonSet", template={**TEMPLATE, "spec": spec})).templates
    assert template.per_node
    assert template.wants(a_node("a", labels={"disk": "ssd"}, unschedulable=True))
    assert not template.wants(a_node("b"))
    assert not template.wants(a_node("c", labels={"disk": "ssd"}, taints=["dedicated=gpu:NoSchedule"]))
    pod = template.pod_for_node("a").pod
    assert pod.name == "web-a"
    assert pod.spec.affinity is not None
    assert "node.kubernetes.io/disk-pressure" in [each.key for each in pod.spec.tolerations]


def test_other_objects_of_the_manifests_come_along() -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "shop"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "shop"}}
    found = read(a_workload("ReplicaSet"), claim, config)
    assert [str(each.object) for each in found.others] == ["PersistentVolumeClaim shop/data", "ReplicaSet shop/web"]


def a_bare_pod(name: str) -> dict[str, Any]:
    meta = {"name": name, "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def owned(document: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}
    return {**document, "metadata": {**document["metadata"], "ownerReferences": [owner]}}


def test_what_a_controller_makes_of_another_manifest_counts_once() -> None:
    deployment = a_workload("Deployment")
    replicas = owned(a_workload("ReplicaSet", "web-abc"), "Deployment", "web")
    pods = [owned(a_bare_pod(f"web-abc-{number}"), "ReplicaSet", "web-abc") for number in (1, 2, 3)]
    found = read(deployment, replicas, *pods)
    assert [str(each) for each in found.templates] == ["Deployment shop/web"]
    [gap] = found.gaps
    assert gap.what == "ReplicaSet web-abc, Pod web-abc-1, Pod web-abc-2 and 1 more"


def test_a_pod_whose_owner_is_elsewhere_is_a_template() -> None:
    pod = owned(a_bare_pod("p"), "ReplicaSet", "web")
    assert (len(read(pod).templates), read(pod).gaps) == (1, ())


def test_custom_resources_are_left_out() -> None:
    custom = {"apiVersion": "example.com/v1", "kind": "Certificate", "metadata": {"name": "c"}, "spec": {}}
    found = read(custom, a_workload("ReplicaSet"))
    assert [str(each) for each in found.templates] == ["ReplicaSet shop/web"]


def test_a_runtime_class_that_is_not_read_is_a_gap() -> None:
    spec = {**TEMPLATE["spec"], "runtimeClassName": "kata", "overhead": {"memory": "10Mi"}}
    model = a_model(unread=("RuntimeClass",))
    found = read(a_workload("Deployment", template={**TEMPLATE, "spec": spec}), model=model)
    assert [gap.what for gap in found.gaps] == ["RuntimeClass kata"]
    assert found.templates[0].pod.spec.overhead == {"memory": "10Mi"}


def test_priority_classes_that_may_not_be_read_refuse_no_pod() -> None:
    gap = Gap("PriorityClass", "forbidden", "priorities")
    objects = ClusterObjects((a_node("n1"),), gaps=(gap,), unread=("PriorityClass",))
    document = a_workload("Pod", **TEMPLATE["spec"], priorityClassName="high")
    found = read(document, model=ClusterModel(objects, load_config(None)))
    assert found.templates[0].pod.priority == 0


def test_objects_without_a_namespace_are_in_that_of_the_source() -> None:
    document = a_workload("Pod", **TEMPLATE["spec"])
    del document["metadata"]["namespace"]
    objects = ClusterObjects((a_node("n1"),), namespace="team")
    found = read(document, model=ClusterModel(objects, load_config(None)))
    assert str(found.templates[0]) == "Pod team/web"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        pytest.param(
            a_workload("Deployment", replicas=-1),
            'web.yaml: document 1: Deployment "web": Deployment.apps "web" is invalid: spec.replicas: Invalid '
            "value: -1: must be greater than or equal to 0",
            id="a value that is out of range",
        ),
        pytest.param(
            a_workload("Pod", containers=[{"name": "main", "image": "web"}], nodeSelektor={}),
            'web.yaml: document 1: Pod "web": unknown field "spec.nodeSelektor"',
            id="a field that is misspelt",
        ),
        pytest.param(
            a_workload("Pod", **TEMPLATE["spec"], priorityClassName="hihg"),
            'web.yaml: document 1: Pod "web": pods "web" is forbidden: no PriorityClass with name hihg was found',
            id="a class that the cluster does not have",
        ),
        pytest.param(
            a_workload("Deployment", template={**TEMPLATE, "spec": {**TEMPLATE["spec"], "priorityClassName": "x"}}),
            'web.yaml: document 1: Deployment "web": pods "web-',
            id="a template whose pods are refused",
        ),
    ],
)
def test_what_is_not_valid_is_an_error_of_one_line(document: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidObjectError) as raised:
        read(document)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)

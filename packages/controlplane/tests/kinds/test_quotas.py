"""Quotas and limit ranges: what is used, what is refused, what is filled in."""

import asyncio
from typing import Any

import pytest
from tests.support.api import Asking
from tests.support.good_objects import an_api
from tests.support.simulated import SimulatedCluster, in_simulated_cluster
from tests.support.workloads import a_job, a_workload, status_of, staying, with_nodes

from kubesched_controlplane.api.statuses import ApiError

Document = dict[str, Any]
PODS = "/api/v1/namespaces/default/pods"


def a_quota(hard: Document, name: str = "q", **spec: Any) -> Document:
    """Return a quota."""
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": {"hard": hard, **spec}}


def a_limit(kind: str = "Container", **limits: Document) -> Document:
    """Return a limit range."""
    spec = {"limits": [{"type": kind, **limits}]}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": spec}


def a_pod(name: str = "p", requests: Document | None = None, limits: Document | None = None, **spec: Any) -> Document:
    """Return a pod."""
    resources = {key: value for key, value in (("requests", requests), ("limits", limits)) if value}
    container = {"name": "c", "image": "i", "resources": resources}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container], **spec},
    }


def a_service(name: str, kind: str = "ClusterIP", ports: int = 1) -> Document:
    """Return a service."""
    spec = {"type": kind, "ports": [{"name": f"p{number}", "port": 80 + number} for number in range(ports)]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def a_claim(name: str, size: str, class_name: str = "fast") -> Document:
    """Return a volume claim."""
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
        "storageClassName": class_name,
    }
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def used(cluster: SimulatedCluster, name: str = "q") -> Document:
    """Return what is used of a quota."""
    found: Document = status_of(cluster, "ResourceQuota", name)["used"]
    return found


def refusal(cluster: SimulatedCluster, document: Document) -> str:
    """Return why an object is not taken."""
    with pytest.raises(ApiError) as error:
        cluster.create(document)
    assert (error.value.code, error.value.reason) == (403, "Forbidden")
    return error.value.message


# -- quotas


def test_a_quota_counts_what_is_there_and_what_comes_and_goes() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_pod("first", {"cpu": "500m", "memory": "1Gi"}))
        cluster.create(a_quota({"pods": "3", "requests.cpu": "2", "memory": "4Gi", "count/pods": "10"}))
        await asyncio.sleep(1)
        assert status_of(cluster, "ResourceQuota", "q") == {
            "hard": {"pods": "3", "requests.cpu": "2", "memory": "4Gi", "count/pods": "10"},
            "used": {"pods": "1", "requests.cpu": "500m", "memory": "1Gi", "count/pods": "1"},
        }
        cluster.create(a_pod("second", {"cpu": "1", "memory": "1Gi"}))
        assert used(cluster) == {"pods": "2", "requests.cpu": "1500m", "memory": "2Gi", "count/pods": "2"}
        assert refusal(cluster, a_pod("third", {"cpu": "1", "memory": "3Gi"})) == (
            'pods "third" is forbidden: exceeded quota: q, requested: memory=3Gi,requests.cpu=1, '
            "used: memory=2Gi,requests.cpu=1500m, limited: memory=4Gi,requests.cpu=2"
        )
        cluster.delete("Pod", "first")
        await asyncio.sleep(5)
        assert used(cluster) == {"pods": "1", "requests.cpu": "1", "memory": "1Gi", "count/pods": "1"}
        cluster.change("Pod", "second", lambda pod: pod["status"].update(phase="Succeeded"), "status")
        await asyncio.sleep(1)
        assert used(cluster) == {"pods": "0", "requests.cpu": "0", "memory": "0", "count/pods": "1"}

    with_nodes(story)


def test_the_words_of_a_refusal() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_quota({"pods": "10"}))
        for number in range(10):
            cluster.create(a_pod(f"p{number}"))
        assert refusal(cluster, a_pod("more")) == (
            'pods "more" is forbidden: exceeded quota: q, requested: pods=1, used: pods=10, limited: pods=10'
        )
        with pytest.raises(ApiError) as again:
            cluster.create(a_pod("p0"))
        assert again.value.code == 403, "it is asked before names are"

    in_simulated_cluster(story)


def test_a_quota_has_containers_say_what_they_want() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_quota({"requests.cpu": "4", "limits.memory": "4Gi"}))
        assert refusal(cluster, a_pod()) == (
            'pods "p" is forbidden: failed quota: q: must specify limits.memory for: c; requests.cpu for: c'
        )
        cluster.create(a_pod("ok", {"cpu": "1"}, {"memory": "1Gi"}))
        assert used(cluster) == {"requests.cpu": "1", "limits.memory": "1Gi"}

    in_simulated_cluster(story)


def test_a_quota_that_grows_lets_more_in() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_quota({"pods": "0"}))
        await asyncio.sleep(1)
        refusal(cluster, a_pod())
        cluster.change("ResourceQuota", "q", lambda quota: quota["spec"].update(hard={"pods": "1"}))
        await asyncio.sleep(1)
        cluster.create(a_pod())
        assert used(cluster) == {"pods": "1"}

    in_simulated_cluster(story)


SCOPES: list[tuple[str, Document, Document]] = [
    ("pods with a deadline", {"scopes": ["Terminating"]}, {"pods": "1"}),
    ("pods without one", {"scopes": ["NotTerminating"]}, {"pods": "3"}),
    ("pods that ask for nothing", {"scopes": ["BestEffort"]}, {"pods": "2"}),
    ("pods that ask for something", {"scopes": ["NotBestEffort"]}, {"pods": "2"}),
    (
        "pods of some class",
        {"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "Exists"}]}},
        {"pods": "1"},
    ),
    (
        "pods of a class",
        {
            "scopeSelector": {
                "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["other"]}]
            }
        },
        {"pods": "0"},
    ),
    (
        "pods of no such class",
        {
            "scopeSelector": {
                "matchExpressions": [{"scopeName": "PriorityClass", "operator": "NotIn", "values": ["high"]}]
            }
        },
        {"pods": "3"},
    ),
    ("both at once", {"scopes": ["NotTerminating", "BestEffort"]}, {"pods": "1"}),
]


@pytest.mark.parametrize(("name", "spec", "expected"), SCOPES, ids=[row[0] for row in SCOPES])
def test_a_quota_may_be_about_some_pods_only(name: str, spec: Document, expected: Document) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
        cluster.create(high)
        cluster.create(a_quota({"pods": "10"}, "before", **spec))
        cluster.create(a_pod("plain"))
        cluster.create(a_pod("deadline", activeDeadlineSeconds=60))
        cluster.create(a_pod("asking", {"cpu": "1"}))
        cluster.create(a_pod("high", {"cpu": "1"}, priorityClassName="high"))
        cluster.create(a_quota({"pods": "10"}, "after", **spec))
        await asyncio.sleep(1)
        assert used(cluster, "before") == used(cluster, "after") == expected

    in_simulated_cluster(story)


def test_other_things_than_pods_are_counted() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        hard = {
            "services": "3",
            "services.nodeports": "3",
            "services.loadbalancers": "1",
            "persistentvolumeclaims": "2",
            "requests.storage": "10Gi",
            "fast.storageclass.storage.k8s.io/requests.storage": "5Gi",
            "count/deployments.apps": "1",
            "configmaps": "9",
            "resourcequotas": "1",
        }
        cluster.create(a_quota(hard))
        await asyncio.sleep(1)
        assert used(cluster)["resourcequotas"] == "1"
        assert "is forbidden: exceeded quota: q, requested: resourcequotas=1" in refusal(cluster, a_quota({}, "other"))
        cluster.create(a_service("a", "NodePort", 2))
        cluster.create(a_service("b", "LoadBalancer"))
        assert refusal(cluster, a_service("c", "LoadBalancer")).endswith(
            "exceeded quota: q, requested: services.loadbalancers=1,services.nodeports=1, "
            "used: services.loadbalancers=1,services.nodeports=3, "
            "limited: services.loadbalancers=1,services.nodeports=3"
        )
        cluster.create(a_claim("a", "4Gi"))
        assert "fast.storageclass.storage.k8s.io/requests.storage=4Gi" in refusal(cluster, a_claim("b", "4Gi"))
        cluster.create(a_claim("b", "4Gi", "slow"))
        cluster.create(a_workload("Deployment", replicas=0))
        assert "requested: count/deployments.apps=1" in refusal(cluster, a_workload("Deployment", "other", replicas=0))
        cluster.delete("Service", "a")
        cluster.delete("Deployment", "web")
        await asyncio.sleep(1)
        now = used(cluster)
        assert (now["services"], now["services.nodeports"], now["count/deployments.apps"]) == ("1", "1", "0")
        assert (now["persistentvolumeclaims"], now["requests.storage"]) == ("2", "8Gi")

    in_simulated_cluster(story)


def a_device_claim(name: str, *requests: Document) -> Document:
    """Return a claim to devices."""
    spec = {"devices": {"requests": [{"name": f"r{number}", **each} for number, each in enumerate(requests)]}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name}, "spec": spec}


def test_the_devices_of_claims_are_counted_by_class() -> None:
    of_class = "{}.deviceclass.resource.k8s.io/devices"
    gpus, cards = of_class.format("gpu"), of_class.format("card")
    alternatives = [
        {"name": "a", "deviceClassName": "gpu", "count": 2},
        {"name": "b", "deviceClassName": "gpu", "count": 1},
        {"name": "c", "deviceClassName": "card", "count": 3},
    ]

    async def story(cluster: SimulatedCluster) -> None:
        for name, extended in (("gpu", {"extendedResourceName": "example.com/gpu"}), ("card", {})):
            kind = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass"}
            cluster.create({**kind, "metadata": {"name": name}, "spec": {**extended}})
        hard = {
            gpus: "6",
            cards: "40",
            "requests.example.com/gpu": "10",
            "requests.deviceclass.resource.kubernetes.io/gpu": "10",
            "count/resourceclaims.resource.k8s.io": "5",
        }
        cluster.create(a_quota(hard))
        cluster.create(a_device_claim("a", {"exactly": {"deviceClassName": "gpu", "count": 2}}))
        cluster.create(a_device_claim("b", {"firstAvailable": alternatives}))
        cluster.create(a_device_claim("c", {"exactly": {"deviceClassName": "card", "allocationMode": "All"}}))
        cluster.create(a_pod("p", {"example.com/gpu": "1"}, {"example.com/gpu": "1"}))
        await asyncio.sleep(1)
        assert used(cluster) == {
            gpus: "4",
            cards: "35",
            "requests.example.com/gpu": "5",
            "requests.deviceclass.resource.kubernetes.io/gpu": "4",
            "count/resourceclaims.resource.k8s.io": "3",
        }
        message = refusal(cluster, a_device_claim("d", {"exactly": {"deviceClassName": "gpu", "count": 3}}))
        assert message.endswith(f"exceeded quota: q, requested: {gpus}=3, used: {gpus}=4, limited: {gpus}=6")
        cluster.delete("ResourceClaim", "a")
        await asyncio.sleep(1)
        assert used(cluster)[gpus] == "2"

    in_simulated_cluster(story)


def test_the_overhead_of_a_pod_counts_among_its_limits() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        kind = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "handler": "kata"}
        cluster.create({**kind, "metadata": {"name": "kata"}, "overhead": {"podFixed": {"cpu": "250m"}}})
        cluster.create(a_quota({"limits.cpu": "9", "requests.cpu": "9"}))
        cluster.create(a_pod("p", {"cpu": "1"}, {"cpu": "2"}, runtimeClassName="kata"))
        await asyncio.sleep(1)
        assert used(cluster) == {"limits.cpu": "2250m", "requests.cpu": "1250m"}

    in_simulated_cluster(story)


def test_a_change_is_charged_for_what_it_adds() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_quota({"services.nodeports": "2"}))
        cluster.create(a_service("a"))
        await asyncio.sleep(1)
        assert used(cluster) == {"services.nodeports": "0"}

        def open_up(service: Document) -> None:
            service["spec"]["type"] = "NodePort"

        cluster.change("Service", "a", open_up)
        assert used(cluster) == {"services.nodeports": "1"}

        def add(service: Document) -> None:
            service["spec"]["ports"] += [{"name": f"more{number}", "port": 90 + number} for number in range(2)]

        with pytest.raises(ApiError) as refused:
            cluster.change("Service", "a", add)
        assert "requested: services.nodeports=2, used: services.nodeports=1" in refused.value.message

    in_simulated_cluster(story)


def test_a_dry_run_is_refused_but_not_charged() -> None:
    asking = an_api()
    asking.ok("POST", "/api/v1/namespaces/default/resourcequotas", a_quota({"pods": "1"}))
    asking.ok("POST", PODS, a_pod(), dryRun="All")
    asking.ok("POST", PODS, a_pod())
    code, _, message = asking.refused("POST", PODS, a_pod("more"), dryRun="All")
    assert (code, "exceeded quota: q" in message) == (403, True)


def test_quotas_of_other_namespaces_do_not_matter() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
        quota = a_quota({"pods": "0"})
        quota["metadata"]["namespace"] = "other"
        cluster.create(quota)
        cluster.create(a_pod())

    in_simulated_cluster(story)


def test_a_job_is_held_up_by_a_quota_and_goes_on_when_it_can() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_quota({"pods": "2"}))
        await asyncio.sleep(1)
        cluster.create(a_job(completions=4, parallelism=4, run="10"))
        await asyncio.sleep(5)
        assert len(staying(cluster)) == 2
        await asyncio.sleep(60)
        assert status_of(cluster, "Job", "work")["succeeded"] == 4

    with_nodes(story)


BAD_QUOTAS: list[tuple[str, Document, str]] = [
    (
        "a name that no quota has",
        {"hard": {"cats": "1"}},
        '[spec.hard[cats]: Invalid value: "cats": must be a standard resource type or fully qualified, '
        'spec.hard[cats]: Invalid value: "cats": must be a standard resource for quota]',
    ),
    (
        "less than nothing",
        {"hard": {"pods": "-1"}},
        'spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0',
    ),
    ("half a pod", {"hard": {"pods": "500m"}}, 'spec.hard[pods]: Invalid value: "500m": must be an integer'),
    (
        "scopes that exclude each other",
        {"hard": {"pods": "1"}, "scopes": ["BestEffort", "NotBestEffort"]},
        'spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes',
    ),
    (
        "a scope that says nothing about a name",
        {"hard": {"services": "1"}, "scopes": ["Terminating"]},
        'spec.scopes: Invalid value: ["Terminating"]: unsupported scope applied to resource',
    ),
]


@pytest.mark.parametrize(("name", "spec", "message"), BAD_QUOTAS, ids=[row[0] for row in BAD_QUOTAS])
def test_what_a_quota_may_not_say(name: str, spec: Document, message: str) -> None:
    document = a_quota({})
    document["spec"] = spec
    code, _, found = an_api().refused("POST", "/api/v1/namespaces/default/resourcequotas", document)
    assert (code, found) == (422, f'ResourceQuota "q" is invalid: {message}')


# -- limit ranges


def with_limits(*limits: Document) -> Asking:
    """Return an API server with a limit range of each kind."""
    asking = an_api()
    for number, limit in enumerate(limits):
        limit["metadata"]["name"] = f"l{number}"
        asking.ok("POST", "/api/v1/namespaces/default/limitranges", limit)
    return asking


def test_containers_get_the_defaults_of_their_namespace() -> None:
    asking = with_limits(a_limit(default={"cpu": "1", "memory": "1Gi"}, defaultRequest={"cpu": "500m"}))
    pod = a_pod(limits={"cpu": "2"})
    pod["spec"]["initContainers"] = [{"name": "first", "image": "i"}]
    made = asking.ok("POST", PODS, pod)
    assert made["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "2", "memory": "1Gi"},
        "requests": {"cpu": "2", "memory": "1Gi"},
    }
    assert made["spec"]["initContainers"][0]["resources"] == {
        "limits": {"cpu": "1", "memory": "1Gi"},
        "requests": {"cpu": "500m", "memory": "1Gi"},
    }
    assert made["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == (
        "LimitRanger plugin set: memory request for container c; memory limit for container c; "
        "cpu, memory request for init container first; cpu, memory limit for init container first"
    )
    assert made["status"]["qosClass"] == "Burstable"


def test_defaults_follow_from_each_other() -> None:
    asking = with_limits(a_limit(max={"cpu": "2"}, min={"cpu": "100m", "memory": "1Mi"}))
    made = asking.ok("GET", "/api/v1/namespaces/default/limitranges/l0")
    (item,) = made["spec"]["limits"]
    assert item["default"] == {"cpu": "2"}
    assert item["defaultRequest"] == {"cpu": "2", "memory": "1Mi"}


LIMITS: list[tuple[str, Document, Document, str]] = [
    (
        "too little",
        a_limit(min={"cpu": "200m"}),
        a_pod(requests={"cpu": "100m"}),
        "minimum cpu usage per Container is 200m, but request is 100m",
    ),
    (
        "too much",
        a_limit(max={"cpu": "1"}),
        a_pod(limits={"cpu": "2"}),
        "maximum cpu usage per Container is 1, but limit is 2",
    ),
    (
        "too little for a whole pod",
        a_limit("Pod", min={"memory": "1Gi"}),
        a_pod(),
        "minimum memory usage per Pod is 1Gi.  No request is specified",
    ),
    (
        "no limit for a whole pod",
        a_limit("Pod", max={"memory": "1Gi"}),
        a_pod(),
        "maximum memory usage per Pod is 1Gi.  No limit is specified",
    ),
    (
        "a limit far above the request",
        a_limit(maxLimitRequestRatio={"cpu": "2"}),
        a_pod(requests={"cpu": "100m"}, limits={"cpu": "300m"}),
        "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
    ),
    (
        "no limit to compare with",
        a_limit(maxLimitRequestRatio={"cpu": "2"}),
        a_pod(requests={"cpu": "100m"}),
        "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0",
    ),
    (
        "several things at once",
        a_limit("Pod", min={"cpu": "1", "memory": "1Gi"}),
        a_pod(requests={"cpu": "100m"}),
        "[minimum cpu usage per Pod is 1, but request is 100m, "
        "minimum memory usage per Pod is 1Gi.  No request is specified]",
    ),
]


@pytest.mark.parametrize(("name", "limit", "pod", "message"), LIMITS, ids=[row[0] for row in LIMITS])
def test_pods_outside_the_limits_are_refused(name: str, limit: Document, pod: Document, message: str) -> None:
    code, _, found = with_limits(limit).refused("POST", PODS, pod)
    assert (code, found) == (403, f'pods "p" is forbidden: {message}')


def test_claims_outside_the_limits_are_refused() -> None:
    asking = with_limits(a_limit("PersistentVolumeClaim", min={"storage": "1Gi"}, max={"storage": "2Gi"}))
    path = "/api/v1/namespaces/default/persistentvolumeclaims"
    asking.ok("POST", path, a_claim("ok", "1Gi"))
    assert asking.refused("POST", path, a_claim("small", "1Mi"))[2] == (
        'persistentvolumeclaims "small" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, '
        "but request is 1Mi"
    )
    assert asking.refused("POST", path, a_claim("large", "3Gi"))[2] == (
        'persistentvolumeclaims "large" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, '
        "but request is 3Gi"
    )


BAD_LIMITS: list[tuple[str, Document, str]] = [
    (
        "defaults for whole pods",
        a_limit("Pod", default={"cpu": "1"}),
        "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
    ),
    (
        "a ratio below one",
        a_limit(maxLimitRequestRatio={"cpu": "500m"}),
        'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1',
    ),
]


@pytest.mark.parametrize(("name", "limit", "message"), BAD_LIMITS, ids=[row[0] for row in BAD_LIMITS])
def test_what_a_limit_range_may_not_say(name: str, limit: Document, message: str) -> None:
    code, _, found = an_api().refused("POST", "/api/v1/namespaces/default/limitranges", limit)
    assert (code, found) == (422, f'LimitRange "l" is invalid: {message}')

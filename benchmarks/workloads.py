"""Workloads: which nodes, which pods are there already, which pods are to be decided.

Each is a function from a number to an API object, so that a workload is the same on every machine.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from kubesched.api.meta import ApiObject, OwnerReference
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod, PodResourceClaim, PodResourceClaimStatus, PodStatus
from kubesched.testing import (
    a_claim,
    a_csi_driver,
    a_node,
    a_pod,
    a_replica_set,
    a_service,
    a_spread,
    a_storage_class,
    a_storage_pool,
    a_volume,
    an_affinity,
)
from kubesched.testing.devices import a_device, a_device_class, a_device_request, a_resource_claim, a_slice
from kubesched.testing.shorthand import HOSTNAME, ZONE

ZONES = 10
# the nodes that pods for one node are for
DAEMON_NODES = 500
APP = {"app": "web"}


# By default preemption looks at a tenth of the nodes, as the reference does.
ALL_CANDIDATES = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: DefaultPreemption
    args: {minCandidateNodesPercentage: 100}
"""


class Workload(NamedTuple):
    """A name, the pods to decide, and what is special about the cluster."""

    name: str
    pod: Callable[[int], Pod]
    objects: tuple[ApiObject, ...] = ()
    # pods already on each node (of 50 000 nodes at most 300 000 in all), which ask for so many CPUs together
    placed_per_node: int = 0
    placed_cpus: int = 30
    # pods/s of the reference at 5000 nodes deciding alone, and the factor to reach
    reference: float = 0.0
    factor: int = 1
    # a KubeSchedulerConfiguration, empty for the defaults
    config: str = ""
    # what appears in the cluster before each pod; for each node
    objects_of_pod: Callable[[int], tuple[ApiObject, ...]] | None = None
    objects_of_node: Callable[[int], tuple[ApiObject, ...]] | None = None


def node(number: int) -> Node:
    """Return one of the benchmark's nodes: 32 CPUs, 256 GiB, ten zones."""
    return a_node(
        f"node-{number:05}",
        cpu="32",
        memory="256Gi",
        zone=f"zone-{number % ZONES}",
        labels={"disk": "ssd" if number % 2 else "hdd", "rack": f"rack-{number % 100}"},
    )


def _web(number: int, **more: object) -> Pod:
    return a_pod(f"web-{number:06}", cpu="100m", memory="500Mi", labels=APP, **more)  # type: ignore[arg-type]


def _plain(number: int) -> Pod:
    return a_pod(f"plain-{number:06}", cpu="100m", memory="500Mi")


def filler(number: int, node_name: str, milli_cpu: int) -> Pod:
    """Return one of the pods that are on a node before the measurement starts."""
    return a_pod(
        f"filler-{node_name}-{number}",
        cpu=f"{milli_cpu}m",
        memory="2Gi",
        node=node_name,
        priority=0,
        labels={"filler": str(number % 7)},
        start=f"2024-01-01T00:{number % 60:02}:00Z",
        phase="Running",
    )


def _with_claim(number: int) -> Pod:
    return a_pod(f"db-{number:06}", cpu="100m", memory="500Mi", volumes=[f"data-{number:06}"])


def _claim(number: int) -> tuple[ApiObject, ...]:
    return (a_claim(f"data-{number:06}", size="10Gi", storage_class="disks", version="1"),)


def _local_volume(number: int) -> tuple[ApiObject, ...]:
    host = f"{HOSTNAME}=node-{number:05}"
    return (a_volume(f"disk-{number:05}", size=f"{10 + number % 7}Gi", storage_class="disks", nodes=host, version="1"),)


def _of_daemon_set(number: int) -> Pod:
    """Return a pod of a DaemonSet as its controller makes it: for one node, with tolerations of what ails nodes."""
    tolerated = ("not-ready:NoExecute", "unreachable:NoExecute", "disk-pressure:NoSchedule", "unschedulable:NoSchedule")
    return a_pod(
        f"agent-{number:06}",
        # another DaemonSet once each node has a pod
        cpu=f"{100 + number // DAEMON_NODES}m",
        memory="200Mi",
        labels={"app": "agent"},
        owner="DaemonSet/agent",
        affinity=an_affinity(nodes=f"metadata.name=node-{number % DAEMON_NODES:05}"),
        tolerations=[f"node.kubernetes.io/{taint}" for taint in tolerated],
    )


def _bound_claim(number: int) -> tuple[ApiObject, ...]:
    name, disk, host = f"data-{number:06}", f"bound-{number:06}", f"node-{number % DAEMON_NODES:05}"
    volume = a_volume(
        disk,
        size="10Gi",
        storage_class="disks",
        nodes=f"{HOSTNAME}={host}",
        claimed_by=f"default/{name}",
        claim_uid=f"default-{name}",
        phase="Bound",
        version="1",
    )
    return volume, a_claim(name, size="10Gi", storage_class="disks", bound_to=disk, version="1")


def _with_device(number: int) -> Pod:
    name = f"train-{number:06}"
    pod = a_pod(
        name,
        cpu="100m",
        memory="500Mi",
        resource_claims=(PodResourceClaim(name="gpu", resource_claim_template_name="one-gpu"),),
    )
    generated = PodResourceClaimStatus(name="gpu", resource_claim_name=f"{name}-gpu")
    return msgspec.structs.replace(pod, status=PodStatus(resource_claim_statuses=(generated,)))


def _device_claim(number: int) -> tuple[ApiObject, ...]:
    name = f"train-{number:06}"
    claim = a_resource_claim(f"{name}-gpu", a_device_request("gpu"))
    owner = OwnerReference(api_version="v1", kind="Pod", name=name, uid=f"default-{name}", controller=True)
    return (
        msgspec.structs.replace(claim, metadata=msgspec.structs.replace(claim.metadata, owner_references=(owner,))),
    )


def _eight_devices(number: int) -> tuple[ApiObject, ...]:
    devices = [
        a_device(f"gpu-{i}", attributes={"model": "a100", "index": i, "numa": i // 4}, capacity={"memory": "40Gi"})
        for i in range(8)
    ]
    return (a_slice(f"slice-{number:05}", *devices, node=f"node-{number:05}"),)


WORKLOADS = (
    Workload("plain", _plain, reference=775, factor=10),
    Workload("plain, 10 pods a node placed", _plain, placed_per_node=10, placed_cpus=10, reference=775, factor=10),
    Workload(
        "ReplicaSet with a Service",
        lambda i: _web(i, owner="ReplicaSet/web"),
        objects=(a_service("web", APP), a_replica_set("web", APP)),
        reference=479,
        factor=20,
    ),
    Workload(
        "every pod with labels of its own",
        lambda i: a_pod(f"own-{i:06}", cpu="100m", memory="500Mi", labels={"job": str(i)}),
        reference=775,
        factor=10,
    ),
    Workload(
        "every pod a class of its own",
        lambda i: a_pod(f"own-{i:06}", cpu=f"{100 + i}m", memory=f"{500 + i}Mi", labels={"job": str(i)}),
        reference=775,
        factor=1,
    ),
    Workload(
        "hard zone spread",
        lambda i: _web(i, spread=a_spread("zone", "app=web")),
        reference=426,
        factor=20,
    ),
    Workload(
        "soft zone spread",
        lambda i: _web(i, spread=a_spread("zone", "app=web", soft=True)),
        reference=479,
        factor=20,
    ),
    Workload(
        "required affinity (zone)",
        lambda i: _web(i, affinity=an_affinity(near="app=web@zone")),
        reference=197,
        factor=20,
    ),
    Workload(
        "required anti-affinity (host)",
        lambda i: a_pod(
            f"anti-{i:06}",
            cpu="100m",
            memory="500Mi",
            labels={"app": f"anti-{i % 20}"},
            affinity=an_affinity(apart=f"app=anti-{i % 20}@hostname"),
        ),
        reference=272,
        factor=20,
    ),
    Workload(
        "anti-affinity, 100 apps in turns",
        lambda i: a_pod(
            f"apart-{i:06}",
            cpu="100m",
            memory="500Mi",
            labels={"app": f"apart-{i % 100}"},
            affinity=an_affinity(apart=f"app=apart-{i % 100}@hostname"),
        ),
    ),
    Workload(
        "preferred anti-affinity (host)",
        lambda i: _web(i, affinity=an_affinity(prefer_apart=(10, "app=web@hostname"))),
        reference=285,
        factor=20,
    ),
    Workload(
        "node affinity",
        lambda i: _web(i, affinity=an_affinity(nodes="disk=ssd", prefer_nodes=(5, "rack in (rack-1,rack-7)"))),
        reference=775,
        factor=10,
    ),
    Workload(
        "volumes, static",
        _with_claim,
        objects=(a_storage_class("disks"),),
        objects_of_pod=_claim,
        objects_of_node=_local_volume,
    ),
    Workload(
        "volumes, dynamic",
        _with_claim,
        objects=(
            a_storage_class("disks", provisioner="csi.example.com"),
            a_csi_driver("csi.example.com"),
            *(a_storage_pool(f"pool-{i}", storage_class="disks", nodes={ZONE: f"zone-{i}"}) for i in range(ZONES)),
        ),
        objects_of_pod=_claim,
    ),
    Workload("DaemonSet", _of_daemon_set),
    Workload("volumes, bound to disks of nodes", _with_claim, (a_storage_class("disks"),), objects_of_pod=_bound_claim),
    Workload(
        "devices",
        _with_device,
        objects=(a_device_class("gpu", 'device.driver == "gpu.example.com"'),),
        objects_of_pod=_device_claim,
        objects_of_node=_eight_devices,
    ),
    Workload("unschedulable", lambda i: a_pod(f"huge-{i:06}", cpu="64", memory="1Gi"), reference=0),
    Workload(
        "preemption",
        lambda i: a_pod(f"vip-{i:06}", cpu="4", memory="8Gi", priority=1000),
        placed_per_node=30,
    ),
    Workload(
        "preemption, all nodes tried",
        lambda i: a_pod(f"vip-{i:06}", cpu="4", memory="8Gi", priority=1000),
        placed_per_node=30,
        config=ALL_CANDIDATES,
    ),
)

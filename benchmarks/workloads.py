"""Workloads: which nodes, which pods are there already, which pods are to be decided.

Each is a function from a number to an API object, so that a workload is the same on every machine.
"""

from collections.abc import Callable
from typing import NamedTuple

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.testing import a_node, a_pod, a_replica_set, a_service, a_spread, an_affinity

ZONES = 10
APP = {"app": "web"}


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
    preempts: bool = False


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
    Workload("unschedulable", lambda i: a_pod(f"huge-{i:06}", cpu="64", memory="1Gi"), reference=0),
    Workload(
        "preemption",
        lambda i: a_pod(f"vip-{i:06}", cpu="4", memory="8Gi", priority=1000),
        placed_per_node=30,
        preempts=True,
    ),
)

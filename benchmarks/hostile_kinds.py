"""Kinds of pods that a tenant makes up to be expensive, each about as large as an API server accepts.

From a kind, a number and a share of the size to a pod as the API server sends it. Numbers make all names different: no
two pods of a kind have anything in common that could be remembered.
"""

from collections.abc import Callable, Iterable
from typing import Any

Wire = dict[str, Any]
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
NAMESPACE = "tenant"


class Size:
    """A share of the size that an API server accepts."""

    def __init__(self, share: float) -> None:
        self._share = share

    def __call__(self, most: int) -> range:
        """Return that share of so many things."""
        return range(max(1, int(most * self._share)))


Kind = Callable[[int, Size], Wire]


def pod(number: int, *, meta: Wire | None = None, cpu: str = "1m", **spec: Any) -> Wire:
    """Return a pod that fits every node, but for what its specification says."""
    name = f"hostile-{number}"
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    metadata = {"name": name, "namespace": NAMESPACE, "uid": f"uid-of-{name}", **(meta or {})}
    defaults = {"schedulerName": "default-scheduler", "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**defaults, **spec}}


def _asking(number: int, **fields: Any) -> Wire:
    return pod(number, containers=[{"name": "c", "image": "x", **fields}])


def _not_in(key: str, *values: str) -> Wire:
    return {"key": key, "operator": "NotIn", "values": list(values or ("x",))}


def _term(topology_key: str, *expressions: Wire, **more: Any) -> Wire:
    return {"topologyKey": topology_key, "labelSelector": {"matchExpressions": list(expressions)}, **more}


def _pods_required(number: int, where: str, terms: Iterable[Wire], **more: Any) -> Wire:
    return pod(number, affinity={where: {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}, **more)


def _pods_preferred(number: int, where: str, terms: Iterable[Wire]) -> Wire:
    weighted = [{"weight": 100, "podAffinityTerm": term} for term in terms]
    return pod(number, affinity={where: {"preferredDuringSchedulingIgnoredDuringExecution": weighted}})


def _nodes_required(number: int, *terms: Wire) -> Wire:
    required = {"nodeSelectorTerms": list(terms)}
    return pod(number, affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}})


def _nodes_preferred(number: int, terms: Iterable[Wire]) -> Wire:
    weighted = [{"weight": 1, "preference": term} for term in terms]
    return pod(number, affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighted}})


def _spread(number: int, keys: Iterable[tuple[str, str]], *, soft: bool, **more: Any) -> Wire:
    constraints = [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "ScheduleAnyway" if soft else "DoNotSchedule",
            "labelSelector": {"matchLabels": {"a": value}},
            **more,
        }
        for key, value in keys
    ]
    return pod(number, topologySpreadConstraints=constraints)


def _many_label_keys(number: int, size: Size) -> Wire:
    keys = [f"k{number}-{each}" for each in size(300)]
    asked = _spread(number, [(f"t{each}", "b") for each in size(50)], soft=True, matchLabelKeys=keys)
    asked["metadata"]["labels"] = dict.fromkeys(keys, "v")
    return asked


def _containers(number: int, size: Size) -> list[Wire]:
    requests = {"requests": {"cpu": "1m", "memory": "1Mi"}}
    return [
        {"name": f"c{each}", "image": f"registry.example.com/x{each}:v{number}", "resources": requests}
        for each in size(3000)
    ]


def _init_containers(number: int, size: Size) -> list[Wire]:
    requests = {"requests": {"cpu": "1m"}}
    return [
        {"name": f"i{each}", "image": f"x{number}", "restartPolicy": "Always", "resources": requests}
        for each in size(3000)
    ]


def _ports(number: int, size: Size) -> list[Wire]:
    ip = f"10.0.{number >> 8 & 255}.{number & 255}"
    return [{"containerPort": 1 + port, "hostPort": 1 + port, "hostIP": ip} for port in size(4000)]


def _ephemeral(size: Size) -> list[Wire]:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return [{"name": f"v{each}", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}} for each in size(800)]


# n: a number of the pod, s: a share of the size
KINDS: dict[str, Kind] = {
    "plain": lambda n, s: pod(n),
    "8000 extended resources": lambda n, s: _asking(
        n, resources={"requests": (asked := {f"a.b/r{n}-{each}": "1" for each in s(8000)}), "limits": asked}
    ),
    "30 extended resources": lambda n, s: _asking(
        n, resources={"requests": (asked := {f"a.b/r{n}-{each}": "1" for each in s(30)}), "limits": asked}
    ),
    "8000 node selector keys": lambda n, s: pod(n, nodeSelector={f"k{n}-{each}": "v" for each in s(8000)}),
    "8000 node affinity terms": lambda n, s: _nodes_required(
        n, *({"matchExpressions": [_not_in(f"k{n}-{each}")]} for each in s(8000))
    ),
    "8000 node affinity expressions": lambda n, s: _nodes_required(
        n, {"matchExpressions": [_not_in(f"k{n}-{each}") for each in s(8000)]}
    ),
    "60 000 values of a node affinity term": lambda n, s: _nodes_required(
        n, {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": [f"v{n}-{each}" for each in s(60_000)]}]}
    ),
    "6000 terms with Gt": lambda n, s: _nodes_required(
        n, *({"matchExpressions": [{"key": f"k{n}-{each}", "operator": "Gt", "values": ["9"]}]} for each in s(6000))
    ),
    "9000 terms by field": lambda n, s: _nodes_required(
        n,
        *(
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [f"x{n}-{each}"]}]}
            for each in s(9000)
        ),
    ),
    "6000 preferred node terms": lambda n, s: _nodes_preferred(
        n, ({"matchExpressions": [_not_in(f"k{n}-{each}")]} for each in s(6000))
    ),
    "8000 tolerations": lambda n, s: pod(
        n, tolerations=[{"key": f"k{n}-{each}", "operator": "Exists"} for each in s(8000)]
    ),
    "8000 tolerations, no room": lambda n, s: pod(
        n, cpu="9999", tolerations=[{"key": f"k{n}-{each}", "operator": "Exists"} for each in s(8000)]
    ),
    "1500 required affinity terms": lambda n, s: _pods_required(
        n, "podAffinity", (_term(HOSTNAME, _not_in("app", f"z{n}-{each}"), namespaceSelector={}) for each in s(1500))
    ),
    "2500 anti-affinity terms": lambda n, s: _pods_required(
        n, "podAntiAffinity", (_term(HOSTNAME, _not_in(f"a{n}-{each}")) for each in s(2500))
    ),
    "1500 anti-affinity terms with topology keys": lambda n, s: _pods_required(
        n,
        "podAntiAffinity",
        (_term(f"k{n}-{each}", {"key": f"l{n}-{each}", "operator": "Exists"}) for each in s(1500)),
    ),
    "4000 expressions of an anti-affinity term": lambda n, s: _pods_required(
        n, "podAntiAffinity", [_term(HOSTNAME, *(_not_in(f"a{n}-{each}") for each in s(4000)))]
    ),
    "40 000 values of an anti-affinity term": lambda n, s: _pods_required(
        n,
        "podAntiAffinity",
        [_term(HOSTNAME, {"key": "app", "operator": "In", "values": [f"v{n}-{each}" for each in s(40_000)]})],
    ),
    "1500 preferred affinity terms with topology keys": lambda n, s: _pods_preferred(
        n, "podAffinity", (_term(f"t{n}-{each}", _not_in("app", f"z{each}"), namespaceSelector={}) for each in s(1500))
    ),
    "1500 preferred anti-affinity terms": lambda n, s: _pods_preferred(
        n,
        "podAntiAffinity",
        (_term(HOSTNAME, _not_in("app", f"z{n}-{each}"), namespaceSelector={}) for each in s(1500)),
    ),
    "3000 soft constraints with topology keys": lambda n, s: _spread(
        n, ((f"k{n}-{each}", "b") for each in s(3000)), soft=True
    ),
    "3000 constraints with topology keys": lambda n, s: _spread(
        n, ((f"k{n}-{each}", "b") for each in s(3000)), soft=False
    ),
    "3000 constraints over zones": lambda n, s: _spread(n, ((ZONE, f"b{n}-{each}") for each in s(3000)), soft=False),
    "3000 soft constraints over hosts": lambda n, s: _spread(
        n, ((HOSTNAME, f"b{n}-{each}") for each in s(3000)), soft=True
    ),
    "50 constraints with 300 matchLabelKeys": _many_label_keys,
    "3000 containers": lambda n, s: pod(n, containers=_containers(n, s)),
    "3000 sidecars": lambda n, s: pod(n, initContainers=_init_containers(n, s)),
    "4000 host ports": lambda n, s: _asking(n, ports=_ports(n, s)),
    "8000 scheduling gates": lambda n, s: pod(n, schedulingGates=[{"name": f"g{n}-{each}"} for each in s(8000)]),
    "8000 labels": lambda n, s: pod(n, meta={"labels": {f"l{n}-{each}": "v" * 60 for each in s(8000)}}),
    "250 kB of annotations": lambda n, s: pod(n, meta={"annotations": {"a": "x" * len(s(250_000))}}),
    "8000 owners": lambda n, s: pod(
        n,
        meta={
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "X", "name": f"o{n}-{each}", "uid": f"{n}-{each}"} for each in s(8000)
            ]
        },
    ),
    "900 claims that are missing": lambda n, s: pod(
        n, resourceClaims=[{"name": f"g{each}", "resourceClaimName": f"c{n}-{each}"} for each in s(900)]
    ),
    "500 volumes that are missing": lambda n, s: pod(
        n,
        volumes=[{"name": f"v{each}", "persistentVolumeClaim": {"claimName": f"c{n}-{each}"}} for each in s(500)],
    ),
    "1500 volumes in the pod": lambda n, s: pod(
        n, volumes=[{"name": f"v{each}", "awsElasticBlockStore": {"volumeID": f"v{n}-{each}"}} for each in s(1500)]
    ),
    "800 ephemeral volumes": lambda n, s: pod(n, volumes=_ephemeral(s)),
    "quantities of 1000 digits": lambda n, s: _asking(
        n, resources={"requests": {f"a.b/r{each}": f"{n + 1}{each + 1}{'0' * 900}" for each in s(500)}}
    ),
    "a node that does not exist": lambda n, s: pod(n, nodeName=f"ghost-{n}-{'x' * 200}"),
    "a scheduler that does not exist": lambda n, s: pod(n, schedulerName=f"s{n}-{'x' * 200}"),
}

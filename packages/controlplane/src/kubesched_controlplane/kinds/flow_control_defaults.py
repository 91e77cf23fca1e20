"""The default flow schemas and priority levels of every cluster.

The specs of the mandatory ones cannot be changed.
"""

# upstream: apiserver/pkg/apis/flowcontrol/bootstrap/default.go (v1.36)

from collections.abc import Iterator
from typing import Any, Final

Document = dict[str, Any]

EXEMPT: Final = "exempt"
_GROUP: Final = "flowcontrol.apiserver.k8s.io/v1"
_UPDATED: Final = {"apf.kubernetes.io/autoupdate-spec": "true"}
_EVERY: Final = ["*"]


def _level(name: str, spec: Document) -> Document:
    meta = {"name": name, "annotations": dict(_UPDATED)}
    return {"apiVersion": _GROUP, "kind": "PriorityLevelConfiguration", "metadata": meta, "spec": spec}


def _limited(name: str, shares: int, lendable: int, queues: int = 0, hand: int = 0) -> Document:
    response: Document = {"type": "Reject"}
    if queues:
        queuing = {"queues": queues, "handSize": hand, "queueLengthLimit": 50}
        response = {"type": "Queue", "queuing": queuing}
    limited = {"nominalConcurrencyShares": shares, "limitResponse": response, "lendablePercent": lendable}
    return _level(name, {"type": "Limited", "limited": limited})


def _schema(name: str, level: str, precedence: int, method: str, rule: Document) -> Document:
    spec: Document = {"priorityLevelConfiguration": {"name": level}, "matchingPrecedence": precedence, "rules": [rule]}
    if method:
        spec["distinguisherMethod"] = {"type": method}
    meta = {"name": name, "annotations": dict(_UPDATED)}
    return {"apiVersion": _GROUP, "kind": "FlowSchema", "metadata": meta, "spec": spec}


def _resources(verbs: list[str], groups: list[str], resources: list[str], *, cluster: bool) -> Document:
    rule: Document = {"verbs": verbs, "apiGroups": groups, "resources": resources, "namespaces": _EVERY}
    return {**rule, "clusterScope": True} if cluster else rule


def _everything(*subjects: Document) -> Document:
    return {
        "subjects": list(subjects),
        "resourceRules": [_resources(_EVERY, _EVERY, _EVERY, cluster=True)],
        "nonResourceRules": [{"verbs": _EVERY, "nonResourceURLs": _EVERY}],
    }


def _group(name: str) -> Document:
    return {"kind": "Group", "group": {"name": name}}


def _user(name: str) -> Document:
    return {"kind": "User", "user": {"name": name}}


_ANYBODY: Final = (_group("system:unauthenticated"), _group("system:authenticated"))
_SYSTEM_ACCOUNTS: Final = {"kind": "ServiceAccount", "serviceAccount": {"namespace": "kube-system", "name": "*"}}
_MANAGER, _SCHEDULER = _user("system:kube-controller-manager"), _user("system:kube-scheduler")
_NODES: Final = _group("system:nodes")
_LEASES: Final = (["coordination.k8s.io"], ["leases"])

MANDATORY_LEVELS: Final = {
    "catch-all": _limited("catch-all", 5, 0),
    EXEMPT: _level(EXEMPT, {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}}),
}
MANDATORY_SCHEMAS: Final = {
    EXEMPT: _schema(EXEMPT, EXEMPT, 1, "", _everything(_group("system:masters"))),
    "catch-all": _schema("catch-all", "catch-all", 10_000, "ByUser", _everything(*_ANYBODY)),
}


def flow_defaults() -> Iterator[Document]:
    """Yield the default priority levels, then the default flow schemas."""
    yield from MANDATORY_LEVELS.values()
    yield _limited("system", 30, 33, 64, 6)
    yield _limited("node-high", 40, 25, 64, 6)
    yield _limited("leader-election", 10, 0, 16, 4)
    yield _limited("workload-high", 40, 50, 128, 6)
    yield _limited("workload-low", 100, 90, 128, 6)
    yield _limited("global-default", 20, 50, 128, 6)
    yield from MANDATORY_SCHEMAS.values()
    probes = {"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}
    yield _schema("probes", EXEMPT, 2, "", {"subjects": list(_ANYBODY), "nonResourceRules": [probes]})
    electing = {
        "subjects": [_MANAGER, _SCHEDULER, _SYSTEM_ACCOUNTS],
        "resourceRules": [_resources(["get", "create", "update"], *_LEASES, cluster=False)],
    }
    yield _schema("system-leader-election", "leader-election", 100, "ByUser", electing)
    own = [
        _resources(_EVERY, [""], ["nodes", "nodes/status"], cluster=True),
        _resources(_EVERY, *_LEASES, cluster=False),
    ]
    yield _schema("system-node-high", "node-high", 400, "ByUser", {"subjects": [_NODES], "resourceRules": own})
    yield _schema("system-nodes", "system", 500, "ByUser", _everything(_NODES))
    yield _schema("kube-controller-manager", "workload-high", 800, "ByNamespace", _everything(_MANAGER))
    yield _schema("kube-scheduler", "workload-high", 800, "ByNamespace", _everything(_SCHEDULER))
    accounts = _everything(_SYSTEM_ACCOUNTS)
    yield _schema("kube-system-service-accounts", "workload-high", 900, "ByNamespace", accounts)
    yield _schema("service-accounts", "workload-low", 9000, "ByUser", _everything(_group("system:serviceaccounts")))
    yield _schema("global-default", "global-default", 9900, "ByUser", _everything(*_ANYBODY))

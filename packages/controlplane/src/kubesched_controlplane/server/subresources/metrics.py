"""metrics.k8s.io: the usage of nodes and pods, for `kubectl top` and autoscalers.

From running pods to NodeMetrics and PodMetrics, computed on each request; the amounts come from `usage`.
"""

# upstream: metrics/pkg/apis/metrics/v1beta1/types.go (v1.36); metrics-server's labels and window

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.query_options import list_options
from kubesched_controlplane.api.requests import Request, Response, Target
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import not_found
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.kinds.pod.usage import Usage, container_usages, is_measured, total
from kubesched_controlplane.registry.registry import ResourceRegistry
from kubesched_controlplane.registry.selectors import matcher
from kubesched_controlplane.representation.encoders import encoder_for
from kubesched_controlplane.server.verbs.verbs import Handler, Verbs
from kubesched_controlplane.storage.store import Stored, in_order

WINDOW = "15s"
_PODS, _NODES = "pods", "nodes"


def metrics(verbs: Verbs, target: Target, request: Request) -> Response:
    """Return the metrics of a node or pod, or a list of the metrics that a request selects."""
    registry, resource = verbs.registry, target.resource
    measured = _nodes(registry, resource) if resource.kind == "NodeMetrics" else _pods(registry, resource, target)
    if target.verb == "get":
        encoder = encoder_for(resource, request, registry.clock)
        for stored in measured:
            if stored.name == target.name:
                return Response(200, (encoder.encode(stored),))
        raise not_found(resource, target.name)
    list_options(request)
    encoder = encoder_for(resource, request, registry.clock, listing=True)
    matches = matcher(request, target, registry.strategy(resource))
    found = [stored for stored in measured if matches is None or matches(stored)]
    return Response(200, encoder.listed({}, found))


def _pods(registry: ResourceRegistry, resource: Resource, target: Target) -> Iterator[Stored]:
    """Yield the metrics of running pods, of one namespace or all."""
    for stored in registry.store.set_of(_PODS).in_order():
        if target.namespace not in ("", stored.namespace) or stored.fields.get("status.phase") != "Running":
            continue
        usages = container_usages(stored.document())
        containers = [{"name": name, "usage": _written(usage)} for name, usage in usages.items()]
        yield _stored(registry, resource, stored, {"containers": containers})


def _nodes(registry: ResourceRegistry, resource: Resource) -> Iterator[Stored]:
    """Yield the metrics of nodes: the total usage of their pods."""
    usages: dict[str, list[Usage]] = defaultdict(list)
    for pod in registry.store.set_of(_PODS):
        node = pod.fields.get("spec.nodeName")
        if node and is_measured(document := pod.document()):
            usages[node] += container_usages(document).values()
    for stored in registry.store.set_of(_NODES).in_order():
        yield _stored(registry, resource, stored, {"usage": _written(total(usages[stored.name]))})


def _written(usage: Usage) -> Document:
    return {name: str(amount) for name, amount in usage.items()}


def _stored(registry: ResourceRegistry, resource: Resource, of: Stored, measured: Document) -> Stored:
    """Return the metrics of an object in the form of a stored object."""
    now = timestamp(registry.clock())
    meta: Document = {"name": of.name, "creationTimestamp": now}
    if of.namespace:
        meta["namespace"] = of.namespace
    if of.labels:
        meta["labels"] = of.labels
    document = {
        "kind": resource.kind,
        "apiVersion": resource.api_version,
        "metadata": meta,
        "timestamp": now,
        "window": WINDOW,
        **measured,
    }
    body = msgspec.json.encode(in_order(document))
    return Stored(of.namespace, of.name, of.uid, of.version, of.labels, {}, body)


METRICS: dict[tuple[str, str], Handler] = {(f"{plural}.metrics.k8s.io", ""): metrics for plural in (_NODES, _PODS)}

"""The connect subresources of nodes, pods and services: logs, exec, port-forward, proxy.

From a request to an error: the request is checked as by an API server before it connects to a node, and then refused,
since nodes are simulated and nothing runs in pods.
"""

# upstream: pkg/registry/core/pod/{strategy.go,rest/log.go}, pkg/registry/core/{node,service}/strategy.go (v1.36)

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import Request, Response, Target
from kubesched_controlplane.api.statuses import ApiError, bad_request, not_found
from kubesched_controlplane.server.verbs.verbs import Handler, Verbs

# subresource -> reason of the refusal
_ABSENT = {
    "log": "there are no logs",
    "exec": "no command can be executed",
    "attach": "there is nothing to attach to",
    "portforward": "there are no ports to forward to",
    "proxy": "there is nobody to answer",
}
_WITH_CONTAINER = ("log", "exec", "attach")
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


def connect_pod(verbs: Verbs, target: Target, request: Request) -> Response:
    """Check the pod and the container, then refuse to connect; the log of an unscheduled pod is empty."""
    pod = _found(verbs, target)
    if target.subresource in _WITH_CONTAINER:
        _check_container(target.name, pod.get("spec") or {}, request.option("container"))
    node = (pod.get("spec") or {}).get("nodeName")
    if not node and target.subresource == "log":
        # the log of a pod without a node is empty
        return Response(200, (b"",), content_type="text/plain")
    if not node:
        raise bad_request(f"pod {target.name} does not have a host assigned")
    why = _ABSENT[target.subresource]
    raise bad_request(f"pod {target.name} is on the simulated node {node}: nothing runs in it, so {why}")


def connect_node(verbs: Verbs, target: Target, request: Request) -> Response:
    """Refuse to connect to a node."""
    _found(verbs, target)
    raise bad_request(f"node {target.name} is simulated: nothing runs on it, so {_ABSENT['proxy']}")


def connect_service(verbs: Verbs, target: Target, request: Request) -> Response:
    """Refuse to connect to a service: there are no endpoints."""
    # the name may be [SCHEME:]NAME[:PORT]
    parts = target.name.split(":")
    name = parts[1] if len(parts) == 3 else parts[0]
    _found(verbs, Target(target.verb, target.resource, target.namespace, name))
    raise ApiError(503, "ServiceUnavailable", f'no endpoints available for service "{target.name}"')


def _found(verbs: Verbs, target: Target) -> Document:
    stored = verbs.registry.store.get(target.resource.prefix, target.namespace, target.name)
    if stored is None:
        raise not_found(target.resource, target.name)
    return stored.document()


def _check_container(name: str, spec: Document, wanted: str) -> None:
    """Raise ApiError unless a pod has the wanted container or, if none is wanted, exactly one container."""
    names = [each.get("name", "") for field in _CONTAINERS for each in spec.get(field) or ()]
    if wanted and wanted not in names:
        raise bad_request(f"container {wanted} is not valid for pod {name}")
    if not wanted and len(spec.get("containers") or ()) != 1:
        choice = " ".join(names)
        raise bad_request(f"a container name must be specified for pod {name}, choose one of: [{choice}]")


CONNECT_HANDLERS: dict[tuple[str, str], Handler] = {
    **{("pods", subresource): connect_pod for subresource in _ABSENT},
    ("nodes", "proxy"): connect_node,
    ("services", "proxy"): connect_service,
}

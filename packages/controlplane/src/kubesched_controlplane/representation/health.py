"""Health checks: one word, or a line for each check of a Kubernetes API server.

From a path to plain text. All checks pass while the process answers; the names are the reference's.
"""

# upstream: apiserver/pkg/server/healthz/healthz.go (v1.36)

from kubesched_controlplane.api.requests import Request, Response

HEALTH = ("/healthz", "/livez", "/readyz")
_HOOKS = """
start-apiserver-admission-initializer generic-apiserver-start-informers priority-and-fairness-config-consumer
priority-and-fairness-filter storage-object-count-tracker-hook start-apiextensions-informers
start-apiextensions-controllers crd-informer-synced start-system-namespaces-controller
peer-endpoint-reconciler-controller start-cluster-authentication-info-controller
start-kube-apiserver-identity-lease-controller start-kube-apiserver-identity-lease-garbage-collector storage-readiness
start-legacy-token-tracking-controller start-service-ip-repair-controllers rbac/bootstrap-roles
scheduling/bootstrap-system-priority-classes priority-and-fairness-config-producer bootstrap-controller
start-kubernetes-service-cidr-controller start-kube-aggregator-informers apiservice-status-local-available-controller
apiservice-status-remote-available-controller apiservice-registration-controller apiservice-discovery-controller
kube-apiserver-autoregistration
"""
_LATER = (
    "autoregister-completion",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
)
_CHECKS = (*(f"poststarthook/{name}" for name in _HOOKS.split()), *_LATER)
_ALIVE = ("ping", "log", "loopback-serving-certificate", "etcd", *_CHECKS)
_READY = ("ping", "log", "etcd", "etcd-readiness", "informer-sync", *_CHECKS, "shutdown")


def health(request: Request, path: str) -> Response | None:
    """Return the health of the server as a whole or by one check; None if the check does not exist."""
    _, kind, *rest = path.split("/", 2)
    checks = _READY if kind == "readyz" else _ALIVE
    if f"/{kind}" not in HEALTH or (rest and rest[0] not in checks):
        return None
    if rest or "verbose" not in request.query:
        return _text("ok")
    excluded = request.query.get("exclude") or ()
    lines = [f"[+]{name} {'excluded: ok' if name in excluded else 'ok'}" for name in checks]
    return _text("\n".join([*lines, f"{kind} check passed", ""]))


def _text(text: str) -> Response:
    return Response(200, (text.encode(),), content_type="text/plain; charset=utf-8")

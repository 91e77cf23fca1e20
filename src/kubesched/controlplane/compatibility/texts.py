"""The refused, known and omitted parts of the API, with reasons.

From kinds, subresources and behaviours to sentences; they stand in tables, so none has a bar in it.
"""

# subresources that are there to say why there is nothing
_NOTHING = "BadRequest: nothing runs in pods of simulated nodes"
REFUSED: dict[str, str] = {
    "pods/log": f"{_NOTHING}; the log of a pod that is not bound is empty",
    "pods/exec": f"{_NOTHING} (`kubectl exec`, `kubectl cp`)",
    "pods/attach": _NOTHING,
    "pods/portforward": _NOTHING,
    "pods/proxy": _NOTHING,
    "nodes/proxy": "BadRequest: the node is simulated",
    "services/proxy": "ServiceUnavailable: no endpoints are available",
}

SPOKEN: dict[str, str] = {
    "discovery": (
        "`/api`, `/apis` plain and aggregated (v2, v2beta1); `/version`; `/healthz`, `/livez`, `/readyz`, also by "
        "check; `/.well-known/openid-configuration`, `/openid/v1/jwks`"
    ),
    "OpenAPI": "v2 as JSON and as protocol buffers; v3 with an index and hashes",
    "bodies": "JSON, YAML, protocol buffers",
    "answers": "JSON; tables; metadata alone",
    "lists": "`limit` and `continue`, `resourceVersion` and `resourceVersionMatch`, label and field selectors",
    "watches": "from any version in the history, bookmarks, `sendInitialEvents`; 410 past the history",
    "patches": "JSON patch, merge patch, strategic merge patch, server-side apply with `force`",
    "writes": "`dryRun`, `fieldManager`, `fieldValidation`, `resourceVersion` and UID preconditions, warnings",
    "deletion": "grace periods, finalizers, background, foreground and orphan propagation, collections",
    "who asks": "bearer tokens, those of accounts among them, impersonation; RBAC with the default roles of a cluster",
}

# "API version" and kind -> why; what kube-apiserver serves by default and this server does not
KINDS_LEFT_OUT: dict[str, str] = {
    "v1 ComponentStatus": "deprecated; there are no components to ask",
}

SUBRESOURCES_LEFT_OUT: dict[str, str] = {}

BEHAVIOURS: dict[str, str] = {
    "answers in protocol buffers and CBOR": "clients that ask for them get JSON, since they all take it",
    "admission webhooks behind services": "there is no network to services: the call fails, and failurePolicy decides",
    "accounts that pods name": "need not be there; such pods get no token volume",
    "`kubernetes.io/enforce-mountable-secrets` of accounts": "deprecated; not applied",
    "the PodSecurity and NodeRestriction admission plugins": "not applied",
    "certificates of clients": "tokens",
    "expiry of Events": "they stay; the history of watches is bounded",
    "nodes that miss their heartbeats": "nodes are as ready as their status says; their leases are renewed",
    "audit, tracing, flow control, encryption at rest": "not there",
    "`/metrics`, `/logs`, `/debug` of the server": "not there; in `kubesched up`, `/debug/decisions` has the last "
    "decisions of its scheduler, and `/debug/queue` its queue; `/configz` there is its configuration",
}

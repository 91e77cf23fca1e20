"""The refused, known and omitted parts of the API, with reasons.

From kinds, subresources and behaviours to sentences; they stand in tables, so none has a bar in it.
"""

# subresources whose error states the reason
_NOTHING = "BadRequest: nothing runs in pods of simulated nodes"
REFUSED: dict[str, str] = {
    "pods/log": f"{_NOTHING}; the log of an unbound pod is empty",
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
    "answers": "JSON; tables; metadata only",
    "lists": "`limit` and `continue`, `resourceVersion` and `resourceVersionMatch`, label and field selectors",
    "watches": "from any version in the history, bookmarks, `sendInitialEvents`; 410 for older versions",
    "patches": "JSON patch, merge patch, strategic merge patch, server-side apply with `force`",
    "writes": "`dryRun`, `fieldManager`, `fieldValidation`, `resourceVersion` and UID preconditions, warnings",
    "deletion": "grace periods, finalizers, background, foreground and orphan propagation, collections",
    "authentication": "bearer tokens, also of service accounts; impersonation; RBAC with the default roles",
}

# "API version" and kind -> why; what kube-apiserver serves by default and this server does not
KINDS_LEFT_OUT: dict[str, str] = {
    "v1 ComponentStatus": "deprecated; there are no components",
}

SUBRESOURCES_LEFT_OUT: dict[str, str] = {}

BEHAVIOURS: dict[str, str] = {
    "answers in protocol buffers and CBOR": "JSON, which all clients accept",
    "admission webhooks behind services": "there is no network to services: the call fails, and failurePolicy applies",
    "required service accounts of pods": "a pod with a missing account is accepted without a token volume",
    "`kubernetes.io/enforce-mountable-secrets` of accounts": "deprecated; not applied",
    "the PodSecurity and NodeRestriction admission plugins": "not applied",
    "client certificates": "tokens",
    "expiry of Events": "Events stay; the history of watches is bounded",
    "detection of missing heartbeats": "the status of a node is its readiness; its lease is renewed",
    "audit, tracing, flow control, encryption at rest": "none",
    "`/metrics`, `/logs`, `/debug` of the server": "none; in `kubesched up`, `/debug/decisions` has the last "
    "decisions of its scheduler, `/debug/queue` its queue, and `/configz` its configuration",
}

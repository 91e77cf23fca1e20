"""The handlers of subresources, and of resources that are not stored, by (prefix, subresource)."""

from kubesched_controlplane.kinds.certificates import REQUESTS
from kubesched_controlplane.server.subresources.binding import bind, bind_by_name
from kubesched_controlplane.server.subresources.certificate_approval import approve
from kubesched_controlplane.server.subresources.connect import CONNECT_HANDLERS
from kubesched_controlplane.server.subresources.eviction import evict
from kubesched_controlplane.server.subresources.metrics import METRICS
from kubesched_controlplane.server.subresources.namespace_finalize import finalize
from kubesched_controlplane.server.subresources.reviews import REVIEWS
from kubesched_controlplane.server.subresources.scale import SCALABLE, scale
from kubesched_controlplane.server.subresources.token_requests import request_token
from kubesched_controlplane.server.verbs.verbs import Handler

HANDLERS: dict[tuple[str, str], Handler] = {
    **REVIEWS,
    **CONNECT_HANDLERS,
    **METRICS,
    ("pods", "binding"): bind,
    ("bindings", ""): bind_by_name,
    ("pods", "eviction"): evict,
    ("namespaces", "finalize"): finalize,
    ("serviceaccounts", "token"): request_token,
    (REQUESTS, "approval"): approve,
    **{(prefix, "scale"): scale for prefix in SCALABLE},
}

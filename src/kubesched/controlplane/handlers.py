"""Who answers for the paths with a meaning of their own, by (store, subresource)."""

from kubesched.controlplane.accounts.requests import request_token
from kubesched.controlplane.binding import bind, bind_by_name
from kubesched.controlplane.eviction import evict
from kubesched.controlplane.kinds.certificates import REQUESTS, approve
from kubesched.controlplane.kinds.namespaces import finalize
from kubesched.controlplane.kinds.scales import SCALABLE, scale
from kubesched.controlplane.metrics_api import METRICS
from kubesched.controlplane.passing_on import PASSED_ON
from kubesched.controlplane.reviews import REVIEWS
from kubesched.controlplane.subresources import Handler

HANDLERS: dict[tuple[str, str], Handler] = {
    **REVIEWS,
    **PASSED_ON,
    **METRICS,
    ("pods", "binding"): bind,
    ("bindings", ""): bind_by_name,
    ("pods", "eviction"): evict,
    ("namespaces", "finalize"): finalize,
    ("serviceaccounts", "token"): request_token,
    (REQUESTS, "approval"): approve,
    **{(store, "scale"): scale for store in SCALABLE},
}

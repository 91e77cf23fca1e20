"""LimitRanges and ResourceQuotas of a namespace, checked before an object is stored.

From a new or changed object to a denial, or to the function that charges the quotas once it is stored.
"""

# upstream: plugin/pkg/admission/limitranger, apiserver/pkg/admission/plugin/resourcequota (v1.36)

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.quota.charging import QUOTAS, charges
from kubesched_controlplane.kinds.quota.limit_ranges import check_claim_limits, check_pod_limits
from kubesched_controlplane.registry.registry import Settle
from kubesched_controlplane.registry.strategy import StrategyContext


def admit(new: Document, old: Document | None, context: StrategyContext) -> Settle | None:
    """Check an object against the LimitRanges and quotas of its namespace; return the function to charge the quotas."""
    prefix = context.resource.prefix
    if prefix == "pods" and old is None:
        check_pod_limits(new, context)
    elif prefix == "persistentvolumeclaims" and not (old or new)["metadata"].get("deletionTimestamp"):
        check_claim_limits(new, context)
    charged = charges(new, old, context)
    if not charged:
        return None

    def settle() -> None:
        for quota in charged:
            context.store.put(QUOTAS, quota, {})

    return settle

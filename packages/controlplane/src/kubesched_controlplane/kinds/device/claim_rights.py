"""Authorization of changes to the status of a resource claim.

The permission to write the status is not enough: to allocate or reserve a claim, a user needs a permission for the
subresource `binding`; to change the status of devices, a permission for `driver` that names their driver.
"""

# upstream: pkg/registry/resource/utils.go (AuthorizedForBinding, AuthorizedForDeviceStatus) (v1.36)

from kubesched.api.field_errors import forbidden
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.registry.strategy import StrategyContext

NODE_NAME = "authentication.kubernetes.io/node-name"
_ACCOUNT = "system:serviceaccount:"
_ASSOCIATED, _ARBITRARY = "associated-node:", "arbitrary-node:"
_DEVICE = ("driver", "pool", "device", "shareID")


def right_problems(status: Document, before: Document, namespace: str, context: StrategyContext) -> list[str]:
    """Return the problems of a change of a claim's status for which the user of the request has no permission."""
    return _binding_problems(status, before, context) + _device_problems(status, before, namespace, context)


def _binding_problems(status: Document, before: Document, context: StrategyContext) -> list[str]:
    if all((status.get(field) or None) == (before.get(field) or None) for field in ("allocation", "reservedFor")):
        return []
    refusal = context.refusal(context.verb, "binding", "", "")
    if not refusal:
        return []
    what = f'resource="resourceclaims/binding", verb="{context.verb}"'
    why = f"changing status.allocation or status.reservedFor requires {what} permission: {refusal}"
    return [forbidden("status.allocation", why)]


def _device_problems(status: Document, before: Document, namespace: str, context: StrategyContext) -> list[str]:
    allocation = status.get("allocation")
    # the status of deallocated devices is dropped
    if allocation is None:
        return []
    verbs = [_ARBITRARY + context.verb]
    if _runs_on(_node_of(allocation), context):
        verbs.insert(0, _ASSOCIATED + context.verb)
    problems = []
    for driver in sorted(_changed_drivers(status, before)):
        refusals = [context.refusal(verb, "driver", namespace, driver) for verb in verbs]
        if all(refusals):
            what = f'resource="resourceclaims/driver", verb="[{" ".join(verbs)}]"'
            why = f"changing status.devices requires {what} permission: {refusals[0]}"
            problems.append(forbidden("status.devices", why))
    return problems


def _changed_drivers(status: Document, before: Document) -> set[str]:
    """Return the drivers of devices whose status differs from before."""
    now, then = (
        {tuple(each.get(field) or "" for field in _DEVICE): each for each in said.get("devices") or ()}
        for said in (status, before)
    )
    return {key[0] for key in now.keys() | then.keys() if now.get(key) != then.get(key)}


def _node_of(allocation: Document) -> str:
    """Return the node of an allocation that selects one node by name, an empty text otherwise."""
    match (allocation.get("nodeSelector") or {}).get("nodeSelectorTerms"):
        case [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [str(name)]}]} as term]:
            return "" if term.get("matchExpressions") else name
    return ""


def _runs_on(node: str, context: StrategyContext) -> bool:
    """Return whether the user of the request is a service account of a pod on a node."""
    user = context.user
    return bool(node) and user.name.startswith(_ACCOUNT) and user.extra.get(NODE_NAME) == (node,)

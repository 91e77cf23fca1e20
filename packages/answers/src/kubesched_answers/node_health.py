"""The trouble of a node that its controllers keep pods away from.

From a node to its trouble in a few words, None if it is healthy. The taints of a node's lifecycle follow its
conditions: a controller restores a removed one, so such a node must recover before it takes pods.
"""

from typing import Final

from kubesched.api.nodes import Node
from kubesched.api.pods import Taint

# the trouble behind each lifecycle taint
_SAID: Final = {
    "node.kubernetes.io/not-ready": "not ready",
    "node.kubernetes.io/unreachable": "not ready",
    "node.kubernetes.io/memory-pressure": "under memory pressure",
    "node.kubernetes.io/disk-pressure": "under disk pressure",
    "node.kubernetes.io/pid-pressure": "under pid pressure",
    "node.kubernetes.io/network-unavailable": "without a network",
    "node.kubernetes.io/out-of-service": "out of service",
    "node.cloudprovider.kubernetes.io/uninitialized": "not initialized by its cloud provider",
    "node.cloudprovider.kubernetes.io/shutdown": "shut down",
}
READY: Final = "Ready"


def is_of_lifecycle(taint: Taint) -> bool:
    """Return whether a controller sets and removes a taint by the state of its node."""
    return taint.key in _SAID


def trouble_of(node: Node) -> str | None:
    """Return the trouble of a node, such as `not ready since 2026-05-01T10:00:00Z: ...`; None if it is healthy."""
    ready = next((each for each in node.status.conditions if each.type == READY), None)
    if ready is not None and ready.status != "True":
        since = ready.last_transition_time
        when = f" since {since.isoformat().replace('+00:00', 'Z')}" if since is not None else ""
        why = ready.message or ready.reason
        return f"not ready{when}" + (f": {why.rstrip('.')}" if why else "")
    found = (taint for taint in node.spec.taints if is_of_lifecycle(taint))
    first = next(found, None)
    return _SAID[first.key] if first is not None else None

"""How endpoints are packed into EndpointSlices of limited size, with as few writes as possible.

From existing slices and wanted endpoints to slices to update, to create and to delete.
"""

# upstream: k8s.io/endpointslice/reconciler.go (reconcileByPortMapping) (v1.36)

from collections.abc import Sequence
from typing import NamedTuple

from kubesched_controlplane.api.documents import Document

MOST_IN_A_SLICE = 100


class PackedSlices(NamedTuple):
    """Slices to update, the endpoints of each slice to create, and slices to delete."""

    changed: list[Document]
    created: list[list[Document]]
    deleted: list[Document]


def pack(slices: Sequence[Document], wanted: Sequence[Document]) -> PackedSlices:
    """Return the writes that bring the slices of one set of ports to the wanted endpoints."""
    missing = {_key(endpoint): endpoint for endpoint in wanted}
    changed: list[Document] = []
    same: list[Document] = []
    deleted: list[Document] = []
    # 1. Endpoints that are still wanted stay in their slices.
    for each in slices:
        before = each.get("endpoints") or []
        kept = [found for endpoint in before if (found := missing.pop(_key(endpoint), None)) is not None]
        if not kept:
            deleted.append(each)
        elif kept == before:
            same.append(each)
        else:
            changed.append({**each, "endpoints": kept})
    left = list(missing.values())
    # 2. New endpoints go into slices that are updated anyway, the fullest first.
    for each in sorted(changed, key=lambda found: -len(found["endpoints"])):
        left = _fill(each["endpoints"], left)
    # 3. The rest goes into one slice with enough room, or into new slices.
    created: list[list[Document]] = []
    while left:
        roomy = [each for each in same if len(each["endpoints"]) + len(left) <= MOST_IN_A_SLICE]
        if roomy:
            fullest = max(roomy, key=lambda found: len(found["endpoints"]))
            same.remove(fullest)
            changed.append({**fullest, "endpoints": [*fullest["endpoints"], *left]})
            break
        if deleted:
            # a slice that would be deleted is reused
            taken = {**deleted.pop(0), "endpoints": []}
            left = _fill(taken["endpoints"], left)
            changed.append(taken)
        else:
            created.append([])
            left = _fill(created[-1], left)
    return PackedSlices(changed, created, deleted)


def _fill(endpoints: list[Document], left: list[Document]) -> list[Document]:
    """Fill a slice up to its limit; return the endpoints that are left."""
    room = max(0, MOST_IN_A_SLICE - len(endpoints))
    endpoints += left[:room]
    return left[room:]


def _key(endpoint: Document) -> tuple[str, ...]:
    """Return the identity of an endpoint, its addresses and its target, without its conditions."""
    reference = endpoint.get("targetRef") or {}
    return (*endpoint["addresses"], reference.get("uid") or reference.get("name") or "")

"""How endpoints are put into slices of at most so many, with as few writes as possible.

From the slices there are and the endpoints there should be to slices that change, that are new, and that go.
"""

# upstream: k8s.io/endpointslice/reconciler.go (reconcileByPortMapping) (v1.36)

from collections.abc import Sequence
from typing import NamedTuple

from kubesched.controlplane.api.documents import Document

MOST_IN_A_SLICE = 100


class PackedSlices(NamedTuple):
    """Slices with other endpoints than before, endpoints for new slices, and slices that are not needed any more."""

    changed: list[Document]
    created: list[list[Document]]
    deleted: list[Document]


def pack(slices: Sequence[Document], wanted: Sequence[Document]) -> PackedSlices:
    """Return the changes that give slices of the same ports the wanted endpoints."""
    missing = {_key(endpoint): endpoint for endpoint in wanted}
    changed: list[Document] = []
    same: list[Document] = []
    deleted: list[Document] = []
    # 1. What is there stays where it is.
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
    # 2. What is new goes where something changes anyway, the fullest first.
    for each in sorted(changed, key=lambda found: -len(found["endpoints"])):
        left = _fill(each["endpoints"], left)
    # 3. The rest goes into one slice with enough room, or into new ones.
    created: list[list[Document]] = []
    while left:
        roomy = [each for each in same if len(each["endpoints"]) + len(left) <= MOST_IN_A_SLICE]
        if roomy:
            fullest = max(roomy, key=lambda found: len(found["endpoints"]))
            same.remove(fullest)
            changed.append({**fullest, "endpoints": [*fullest["endpoints"], *left]})
            break
        if deleted:
            # one that would go takes them
            taken = {**deleted.pop(0), "endpoints": []}
            left = _fill(taken["endpoints"], left)
            changed.append(taken)
        else:
            created.append([])
            left = _fill(created[-1], left)
    return PackedSlices(changed, created, deleted)


def _fill(endpoints: list[Document], left: list[Document]) -> list[Document]:
    """Put as many endpoints into a slice as it takes; return the others."""
    room = max(0, MOST_IN_A_SLICE - len(endpoints))
    endpoints += left[:room]
    return left[room:]


def _key(endpoint: Document) -> tuple[str, ...]:
    """Return the key under which an endpoint is the same one in another state."""
    reference = endpoint.get("targetRef") or {}
    return (*endpoint["addresses"], reference.get("uid") or reference.get("name") or "")

"""Strategic merge patches, as far as the scheduler writes them.

From an object and a patch, both as plain values, to the patched object. Lists with a merge key are merged by it; other
lists are replaced.
"""

# upstream: apimachinery/pkg/util/strategicpatch (v1.36)

from collections.abc import Mapping
from typing import Any

_DELETE_ENTRIES = "$deleteFromPrimitiveList/"
_DIRECTIVE = "$patch"
_ORDER = "$setElementOrder/"
# lists that are merged -> their merge key
_KEYS = {
    "conditions": "type",
    "ownerReferences": "uid",
    "reservedFor": "uid",
    "resourceClaimStatuses": "name",
    "nodeAllocatableResourceClaimStatuses": "resourceClaimName",
}


def strategic_merge(document: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with the patch applied; neither is changed."""
    merged = dict(document)
    for field, change in patch.items():
        if field.startswith(_DELETE_ENTRIES):
            name = field.removeprefix(_DELETE_ENTRIES)
            merged[name] = [entry for entry in merged.get(name) or () if entry not in change]
        elif field.startswith(_ORDER):
            # entries keep their order, and new ones come last, as the scheduler's patches expect
            continue
        elif change is None:
            merged.pop(field, None)
        elif isinstance(change, Mapping):
            merged[field] = strategic_merge(merged.get(field) or {}, change)
        elif field in _KEYS:
            merged[field] = _merged_entries(merged.get(field) or (), change, _KEYS[field])
        else:
            merged[field] = change
    return merged


def _merged_entries(entries: Any, changes: Any, key: str) -> list[Any]:
    """Return the entries with changes applied: entries are merged, added or (by directive) deleted."""
    by_key = {entry.get(key): entry for entry in entries}
    for change in changes:
        if change.get(_DIRECTIVE) == "delete":
            by_key.pop(change.get(key), None)
        else:
            by_key[change.get(key)] = strategic_merge(by_key.get(change.get(key)) or {}, change)
    return list(by_key.values())

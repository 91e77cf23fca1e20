"""Three-way patches: what `kubectl apply` sends.

From an object, a manifest and the manifest that was applied before to a strategic merge patch: everything that the
manifest says, and the removal of what only the earlier one said. What neither says stays as it is.
"""

# upstream: apimachinery/pkg/util/strategicpatch/patch.go (v1.36), CreateThreeWayMergePatch

from typing import Any

from kubesched_controlplane.schema.merging import Map
from kubesched_controlplane.schema.shapes import Field, ListType, Shape, Type


def three_way_patch(type_: Type, live: Map, manifest: Map, earlier: Map) -> Map:
    """Return the strategic merge patch that makes a live object match a manifest."""
    patch: Map = {}
    for name, value in manifest.items():
        field = type_.fields.get(name) if isinstance(type_, Shape) else None
        patch[name] = value
        if field is not None and name in live:
            patch.update(_field_patch(field, live[name], value, earlier.get(name)))
    removed = [name for name in earlier if name not in manifest and name in live]
    return {**patch, **dict.fromkeys(removed)}


def _field_patch(field: Field, live: Any, value: Any, earlier: Any) -> Map:
    """Return the patch of a field that the live object has, with its directives."""
    if isinstance(value, dict) and isinstance(live, dict) and "replace" not in field.strategies:
        patch = three_way_patch(field.type, live, value, earlier if isinstance(earlier, dict) else {})
        return {field.name: _retaining(field, patch, value)}
    if isinstance(value, list) and isinstance(live, list) and "merge" in field.strategies:
        return _list_patch(field, live, value, earlier if isinstance(earlier, list) else [])
    return {field.name: value}


def _list_patch(field: Field, live: list[Any], value: list[Any], earlier: list[Any]) -> Map:
    """Return the patch of a list that is merged by a key, or as a set."""
    assert isinstance(field.type, ListType), "only lists are merged by key"
    key = field.merge_key
    if not key:
        removed = [each for each in earlier if each not in value and each in live]
        return {field.name: value, **({f"$deleteFromPrimitiveList/{field.name}": removed} if removed else {})}
    lives, before = _by_key(key, live), _by_key(key, earlier)
    wanted = _by_key(key, value)
    patch = [
        _element_patch(field, lives[each[key]], each, before.get(each[key], {})) if _key(key, each) in lives else each
        for each in value
    ]
    return {field.name: patch + [{"$patch": "delete", key: name} for name in before if name in lives.keys() - wanted]}


def _element_patch(field: Field, live: Map, value: Map, earlier: Map) -> Map:
    assert isinstance(field.type, ListType), "only lists have elements"
    return _retaining(field, three_way_patch(field.type.element, live, value, earlier), value)


def _retaining(field: Field, patch: Map, value: Map) -> Map:
    """Return a patch with the directive to keep no other keys, for a field that is a union."""
    return {**patch, "$retainKeys": sorted(value)} if "retainKeys" in field.strategies else patch


def _by_key(key: str, elements: list[Any]) -> dict[Any, Map]:
    return {name: each for each in elements if (name := _key(key, each)) is not None}


def _key(key: str, element: Any) -> Any:
    return element.get(key) if isinstance(element, dict) else None

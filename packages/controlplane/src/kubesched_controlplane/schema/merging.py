"""Strategic merge patches: maps merge, lists merge by the merge key of their field, and directives override this.

From a document, a patch and a shape to the patched document; neither is changed. Directives are `$patch` (delete,
replace, merge), `$retainKeys`, `$deleteFromPrimitiveList/FIELD` and `$setElementOrder/FIELD`.
"""

# upstream: apimachinery/pkg/util/strategicpatch/patch.go, util/mergepatch/errors.go (v1.36)

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from kubesched_controlplane.schema.go_words import kind_name, printed, type_name
from kubesched_controlplane.schema.shapes import Field, ListType, MapType, Shape, Type

Map = dict[str, Any]

_DIRECTIVE, _RETAIN = "$patch", "$retainKeys"
_DELETE, _ORDER = "$deleteFromPrimitiveList", "$setElementOrder"
_BAD_DELETE = "invalid patch format of primitive list"
_BAD_ORDER = "invalid patch format of setElementOrder list"
_BAD_RETAIN = "invalid patch format of retainKeys"


class MergeError(ValueError):
    """A patch that cannot be applied."""


class ListOfListsError(MergeError):
    """A patch with lists of lists, which cannot be merged."""


def strategic_merge(shape: Shape, document: Map, patch: Map) -> Map:
    """Return a document with a patch applied; raises MergeError."""
    return _merged_map(shape, document, patch)


def _merged_map(type_: Type, original: Map, patch: Map) -> Map:
    if _DIRECTIVE in patch:
        return _by_directive(patch)
    merged, changes = dict(original), dict(patch)
    if _RETAIN in changes:
        merged = _retained(merged, changes)
    for name in [name for name in changes if name.startswith(_ORDER)]:
        _merge_ordered(type_, merged, changes, name)
    for name, change in changes.items():
        if name.startswith(_DELETE):
            name = _after_slash(name, _DELETE, _BAD_DELETE)
            if isinstance(change, list) and isinstance(merged.get(name), list):
                merged[name] = _merged_value(type_, name, merged[name], change, deleting=True)
            elif change is None:
                merged.pop(name, None)
        elif change is None:
            merged.pop(name, None)
        elif name in merged and type_name(merged[name]) == type_name(change):
            merged[name] = _merged_value(type_, name, merged[name], change)
        elif _is_directed(change):
            merged.pop(name, None)
        else:
            merged[name] = _undirected(_without_nulls(change))
    return merged


def _merged_value(type_: Type, name: str, original: Any, change: Any, *, deleting: bool = False) -> Any:
    """Return the value of a field with a change of the same type applied."""
    if isinstance(change, dict):
        field = _field(type_, name)
        return change if "replace" in field.strategies else _merged_map(field.type, original, change)
    if isinstance(change, list):
        field, element = _list_field(type_, name)
        if "merge" in field.strategies or deleting:
            return _merged_list(element, field.merge_key, original, change, deleting=deleting)
    return change


def _by_directive(patch: Map) -> Map:
    directive = patch[_DIRECTIVE]
    if directive == "replace":
        return {name: change for name, change in patch.items() if name != _DIRECTIVE}
    if directive == "delete":
        return {}
    raise _unknown_directive(patch)


def _unknown_directive(patch: Map) -> MergeError:
    return MergeError(f"unknown patch type: {printed(patch[_DIRECTIVE])} in map: {printed(patch)}")


def _retained(original: Map, changes: Map) -> Map:
    """Return the fields that a patch retains; removes the directive from the changes."""
    retained = changes.pop(_RETAIN)
    if not isinstance(retained, list):
        raise MergeError(_BAD_RETAIN)
    names = {name for name in retained if isinstance(name, str)}
    for name, change in changes.items():
        if change is not None and not name.startswith((_DELETE, _ORDER)) and name not in names:
            raise MergeError(_BAD_RETAIN)
    return {name: value for name, value in original.items() if name in names}


def _after_slash(name: str, prefix: str, problem: str) -> str:
    start, slash, rest = name.partition("/")
    if not slash or start != prefix:
        raise MergeError(problem)
    return rest


def _is_directed(change: Any) -> bool:
    return isinstance(change, dict) and _DIRECTIVE in change


def _undirected(change: Any) -> Any:
    """Return a change without its maps that have a directive."""
    if isinstance(change, dict):
        return {name: _undirected(each) for name, each in change.items() if not _is_directed(each)}
    if isinstance(change, list):
        return [_undirected(each) for each in change if not _is_directed(each)]
    return change


def _without_nulls(change: Any) -> Any:
    if isinstance(change, dict):
        return {name: _without_nulls(each) for name, each in change.items() if each is not None}
    if isinstance(change, list):
        return [_without_nulls(each) for each in change]
    return change


# -- fields of a shape


def _field(type_: Type, name: str) -> Field:
    if isinstance(type_, Shape):
        field = type_.fields.get(name)
        if field is not None:
            return field
        struct = type_.name
    elif isinstance(type_, MapType | ListType):
        kind = "map" if isinstance(type_, MapType) else "slice"
        raise MergeError(f"merging an object in json but data type is not struct, instead is: {kind}")
    else:
        struct = type_.go.rpartition(".")[2]
    raise MergeError(f'unable to find api field in struct {struct} for the json field "{name}"')


def _list_field(type_: Type, name: str) -> tuple[Field, Type]:
    """Return a field that is a list, and the type of its elements."""
    field = _field(type_, name)
    if not isinstance(field.type, ListType):
        raise MergeError("expected slice or array type, but got: struct")
    return field, field.type.element


# -- lists


def _merged_list(
    element: Type, key: str, original: list[Any], patch: list[Any], *, deleting: bool = False
) -> list[Any]:
    if not original and not patch:
        return original
    if not _are_maps(original, patch):
        if deleting:
            unwanted = {_identity(each) for each in patch}
            return [each for each in original if _identity(each) not in unwanted]
        both = list({_identity(each): each for each in [*original, *patch]}.values())
        return _in_order(both, patch, original, _identity)
    if not key:
        raise MergeError("cannot merge lists without merge key for struct")
    original, patch = _without_directed(original, patch, key)
    return _in_order(_merged_elements(element, key, original, patch), patch, original, _identity_by(key))


def _are_maps(*lists: list[Any]) -> bool:
    """Return whether the elements of lists are maps; raises MergeError if they are lists or of several kinds."""
    kinds = [kind_name(each) for elements in lists for each in elements]
    if not kinds:
        raise MergeError("no elements in any of the given slices")
    if kinds[0] == "slice":
        raise ListOfListsError("lists of lists are not supported")
    if len(set(kinds)) > 1 or kinds[0] == "nil":
        raise MergeError(f"list element types are not identical: {printed(list(lists))}")
    return kinds[0] == "map"


def _without_directed(original: list[Map], patch: list[Map], key: str) -> tuple[list[Map], list[Map]]:
    """Apply the elements of a patch that have a directive; return the original list and the rest of the patch."""
    identity = _identity_by(key)
    plain, deleted, replacing = [], set(), False
    for each in patch:
        if _DIRECTIVE not in each:
            plain.append(each)
        elif each[_DIRECTIVE] == "delete":
            deleted.add(identity(each))
        elif each[_DIRECTIVE] == "replace":
            replacing = True
        elif each[_DIRECTIVE] == "merge":
            raise MergeError("merging lists cannot yet be specified in the patch")
        else:
            raise _unknown_directive(each)
    if replacing:
        return plain, []
    if deleted:
        original = [each for each in original if key not in each or identity(each) not in deleted]
    return original, plain


def _merged_elements(element: Type, key: str, original: list[Map], patch: list[Map]) -> list[Map]:
    """Merge the elements of a patch into those with the same key, or append them."""
    identity = _identity_by(key)
    merged = list(original)
    places: dict[Hashable, int] = {}
    for place, each in enumerate(merged):
        if key in each:
            places.setdefault(identity(each), place)
    for each in patch:
        place = places.setdefault(identity(each), len(merged))
        if place < len(merged):
            merged[place] = _merged_map(element, merged[place], each)
        else:
            merged.append(each)
    return merged


def _in_order(
    merged: list[Any], wanted: list[Any], original: list[Any], identity: Callable[[Any], Hashable]
) -> list[Any]:
    """Return merged elements in the order of a patch, with other elements before those they preceded."""
    wanted_places = _places(wanted, identity)
    original_places = _places(original, identity)
    theirs = [each for each in merged if identity(each) in wanted_places]
    ours = [each for each in merged if identity(each) not in wanted_places]
    theirs.sort(key=lambda each: wanted_places[identity(each)])
    ours.sort(key=lambda each: original_places[identity(each)])
    result: list[Any] = []
    left = iter(ours)
    waiting = next(left, None)
    for each in theirs:
        place = original_places.get(identity(each))
        while waiting is not None and place is not None and original_places[identity(waiting)] < place:
            result.append(waiting)
            waiting = next(left, None)
        result.append(each)
    if waiting is not None:
        result += [waiting, *left]
    return result


def _places(elements: Iterable[Any], identity: Callable[[Any], Hashable]) -> dict[Hashable, int]:
    """Return the first index of each element."""
    places: dict[Hashable, int] = {}
    for place, each in enumerate(elements):
        places.setdefault(identity(each), place)
    return places


def _identity(value: Any) -> Hashable:
    """Return the identity of a value; as in Go, numbers, strings and booleans are never equal."""
    if isinstance(value, str):
        return value
    return (kind_name(value), printed(value) if isinstance(value, dict | list) else value)


def _identity_by(key: str) -> Callable[[Mapping[str, Any]], Hashable]:
    def identity(element: Mapping[str, Any]) -> Hashable:
        if not isinstance(element, dict):
            raise MergeError(f"expected a map[string]interface {{}}, but received a {type_name(element)}")
        if key not in element:
            raise MergeError(f"map: {printed(element)} does not contain declared merge key: {key}")
        return _identity(element[key])

    return identity


# -- $setElementOrder


def _merge_ordered(type_: Type, merged: Map, changes: Map, directive: str) -> None:
    """Merge a list by the order of $setElementOrder; removes the directive and the list from the changes."""
    order = changes.pop(directive)
    _check_is_list(order)
    name = _after_slash(directive, _ORDER, _BAD_ORDER)
    original, patch = merged.get(name, []), changes.get(name, [])
    _check_is_list(original)
    _check_is_list(patch)
    key = _list_field(type_, name)[0].merge_key
    _check_order(patch, order, key)
    if name not in merged and name not in changes:
        return
    if name not in changes:
        result = original
    elif name not in merged:
        result = _undirected(patch)
    else:
        result = _merged_value(type_, name, original, patch)
    _are_maps(original, patch)
    identity = _identity_by(key) if key else _identity
    merged[name] = _in_order(result, order, [*original, *result], identity)
    changes.pop(name, None)


def _check_is_list(value: Any) -> None:
    if not isinstance(value, list):
        raise MergeError(f"expected a []interface {{}}, but received a {type_name(value)}")


def _check_order(patch: list[Any], order: list[Any], key: str) -> None:
    """Raise MergeError unless the elements of a patch are in the order of its $setElementOrder."""
    if not patch or not order:
        return
    identity = _identity_by(key) if key else _identity
    said = iter(order)
    for each in patch:
        if _is_directed(each):
            continue
        if all(identity(other) != identity(each) for other in said):
            message = f"The order in patch list:\n{printed(patch)}\n doesn't match {_ORDER} list:\n{printed(order)}\n"
            raise MergeError(message)

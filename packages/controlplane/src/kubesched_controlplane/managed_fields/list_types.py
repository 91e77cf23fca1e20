"""Types of lists that are owned element by element: associative lists with keys, and sets.

From lists, in any order, to field sets; and from two lists to one, in the order of the applied list.
"""

# upstream: structured-merge-diff/v6/typed/{helpers,compare,merge,remove}.go

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from kubesched_controlplane.managed_fields.field_sets import MEMBER, SELF, Fields, is_member
from kubesched_controlplane.managed_fields.types import LEAF, MISSING, Changed, FieldType, note
from kubesched_controlplane.schema.go_words import printed

_json = msgspec.json.Encoder().encode


class FieldTypeError(ValueError):
    """A list that cannot be owned element by element."""


class Elements(FieldType):
    """A list that is owned element by element."""

    is_leaf = False

    def __init__(self) -> None:
        super().__init__(())

    def key(self, element: Any) -> str:
        """Return the key of an element; raises FieldTypeError."""
        raise NotImplementedError

    def element(self) -> FieldType:
        """Return the type of an element."""
        return LEAF

    def added(self, value: Any) -> Fields:
        """Return all elements of a new list, and the fields below them."""
        if not value:
            return MEMBER
        field_type = self.element()
        return {SELF: MEMBER, **{key: field_type.added(each) for key, each in self._by_key(value).items()}}

    def to_field_set(self, value: Any) -> Fields | None:
        """Return the elements of a list and their leaves."""
        if not isinstance(value, list):
            return None
        found: Fields = {}
        for each in value:
            below = self.element().to_field_set(each)
            found[self.key(each)] = MEMBER if not below else {SELF: MEMBER, **below}
        return found or None

    def changed(self, old: Any, new: Any) -> Changed:
        """Return the difference of two lists, ignoring their order; null equals an empty list unless both are empty."""
        if not old and not new:
            return super().changed(old, new)
        before, after = self._by_key(old or ()), self._by_key(new or ())
        field_type = self.element()
        changed: Fields = {}
        removed: Fields = {}
        for key, each in after.items():
            previous = before.get(key, MISSING)
            if previous is MISSING:
                changed[key] = field_type.added(each)
            elif previous != each:
                note(changed, removed, key, field_type.changed(previous, each))
        for key in before.keys() - after.keys():
            removed[key] = field_type.added(before[key])
        return changed or None, removed or None

    def _by_key(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, list | tuple):
            raise FieldTypeError(f"expected list, got {printed(value)}")
        # differs (D-132): in the reference, a manager owns elements with the same key together; here it owns the last
        # one
        return {self.key(each): each for each in value}

    def merged(self, live: Any, wanted: Any) -> Any:
        """Merge the applied elements into a list: in the applied order, other elements before those they preceded."""
        if wanted is None and live:
            return live
        if not isinstance(live, list) or not isinstance(wanted, list):
            return wanted
        there = self._by_key(live)
        field_type = self.element()
        want = {
            key: field_type.merged(there[key], each) if key in there else each
            for key, each in self._by_key(wanted).items()
        }
        return list(_in_order([(self.key(each), each) for each in live], want))

    def reduced(self, value: Any, fields: Fields) -> Any:
        """Return a list without the elements in a set, and elements without the fields in it."""
        if not value or not isinstance(value, list):
            return None
        left = []
        for each in value:
            node = fields.get(self.key(each))
            if node is None:
                left.append(each)
            elif not is_member(node):
                left.append(self.element().reduced(each, node))
        return left or None

    def named(self, fields: Fields) -> Fields:
        """Return a set in which the fields that lead to a member are members, too."""
        field_type = self.element()
        return {key: field_type.named(node) if node and key != SELF else node for key, node in fields.items()}


class KeyedList(Elements):
    """A list of maps with key fields."""

    def __init__(self, keys: dict[str, Any], element: FieldType) -> None:
        super().__init__()
        # key fields -> defaults, None without a default
        self._keys = dict(sorted(keys.items()))
        self._only = next(iter(keys)) if len(keys) == 1 else ""
        self._element = element

    def element(self) -> FieldType:
        """Return the type of an element."""
        return self._element

    def key(self, element: Any) -> str:
        """Return the key fields of an element as its path element; raises FieldTypeError if all are missing."""
        if self._only and type(element) is dict and type(element.get(self._only)) is str:
            return _text_key(self._only, element[self._only])
        if not isinstance(element, dict):
            kind = "a null element" if element is None else "non-map elements"
            raise FieldTypeError(f"associative list with keys may not have {kind}")
        found = {}
        for name, default in self._keys.items():
            value = element.get(name, default)
            if value is not None or name in element:
                found[name] = value
        if not found:
            keys = " ".join(f'"{name}"' for name in self._keys)
            why = f"omits all key fields [{keys}] (and doesn't have default values for any key fields)"
            raise FieldTypeError(f"associative list with keys has an element that {why}")
        return "k:" + _json(found).decode()


@lru_cache(maxsize=1024)
def _text_key(name: str, value: str) -> str:
    return "k:" + _json({name: value}).decode()


class SetList(Elements):
    """A list of unique scalars."""

    def key(self, element: Any) -> str:
        """Return the value of an element as its path element; raises FieldTypeError if it is not a scalar."""
        if isinstance(element, dict):
            raise FieldTypeError("associative list without keys has an element that's a map type")
        if isinstance(element, list):
            raise FieldTypeError("not supported: associative list with lists as elements")
        if element is None:
            raise FieldTypeError("associative list without keys has an element that's an explicit null")
        return "v:" + _json(element).decode()


def _in_order(live: list[tuple[str, Any]], wanted: dict[str, Any]) -> Iterator[Any]:
    """Yield the applied elements in their order, and each other element before the one it preceded."""
    there = {key for key, _ in live}
    shared = iter([key for key in wanted if key in there])
    following = next(shared, None)
    left, right = 0, list(wanted.items())
    taken: set[str] = set()
    at = 0
    while left < len(live) or at < len(right):
        if left < len(live) and at < len(right):
            key = live[left][0]
            if key == right[at][0]:
                yield right[at][1]
                taken.add(key)
                left, at = left + 1, at + 1
                following = next(shared, None)
                continue
            if key in wanted and following is not None and following != key:
                left += 1
                continue
        if left < len(live):
            key, each = live[left]
            if key not in wanted:
                yield each
                left += 1
                continue
            if key in taken:
                left += 1
        if at < len(right):
            key, each = right[at]
            yield each
            taken.add(key)
            at += 1
            if following == key:
                following = next(shared, None)

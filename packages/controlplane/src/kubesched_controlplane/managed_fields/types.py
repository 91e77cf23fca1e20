"""Types of values for managedFields: leaves, atomic parts, maps and structs (`list_types` has the ones of lists).

From values to field sets: of a new value, of a configuration, of a change. A type also merges an applied value into the
live one, and removes fields from a value.
"""

# upstream: structured-merge-diff/v6/typed/{compare,tofieldset,merge,remove,validate}.go, fieldpath/set.go
# (EnsureNamedFieldsAreMembers)

from typing import Any

from kubesched_controlplane.managed_fields.field_sets import MEMBER, SELF, Fields, is_member

# a difference: the added or changed fields, and the removed fields; None for none
Changed = tuple[Fields | None, Fields | None]
_SAME: Changed = (None, None)
MISSING: Any = object()
_MOST_KINDS = 64


class FieldType:
    """A leaf: owned as a whole."""

    # no part of the value has its own owner
    is_leaf = True

    def __init__(self, empty: Any = None) -> None:
        # the value of a missing field that Go always writes
        self.empty = empty

    def added(self, value: Any) -> Fields:
        """Return all fields of a new value, on every level."""
        return MEMBER

    def to_field_set(self, value: Any) -> Fields | None:
        """Return the field set of a configuration: leaves and list elements; None if it is empty."""
        return MEMBER

    def changed(self, old: Any, new: Any) -> Changed:
        """Return the difference of two values."""
        return _SAME if old == new else (MEMBER, None)

    def merged(self, live: Any, wanted: Any) -> Any:
        """Return the live value with the applied value merged into it; the applied value is not MISSING."""
        return wanted

    def reduced(self, value: Any, fields: Fields) -> Any:
        """Return a value without the members of a set; None if nothing is left."""
        return value

    def named(self, fields: Fields) -> Fields:
        """Return a set in which the fields that lead to a member are members, too."""
        return fields


LEAF = FieldType()


class AtomicPart(FieldType):
    """A list or map that is owned as a whole."""

    def reduced(self, value: Any, fields: Fields) -> Any:
        """Return None: an atomic value is removed as a whole."""
        return None


ATOMIC_PART = AtomicPart()


class _Mapping(FieldType):
    """A map: owned entry by entry."""

    is_leaf = False

    def __init__(self) -> None:
        super().__init__({})

    def field_type(self, name: str) -> FieldType:
        """Return the type of an entry."""
        raise NotImplementedError

    def is_there(self, name: str) -> bool:
        """Return whether Go writes an entry even if it is not set."""
        return False

    def is_named(self, name: str) -> bool:
        """Return whether an entry is a field of a struct rather than a key of a map."""
        return False

    def added(self, value: Any) -> Fields:
        """Return all entries of a new map, and the fields below them."""
        if not value or not isinstance(value, dict):
            return MEMBER
        found: Fields = {SELF: MEMBER}
        for name, each in value.items():
            found["f:" + name] = self.field_type(name).added(each)
        return found

    def to_field_set(self, value: Any) -> Fields | None:
        """Return the leaves of a map; keys are members, and so are fields that are empty."""
        if not isinstance(value, dict):
            return None
        found: Fields = {}
        for name, each in value.items():
            below = self.field_type(name).to_field_set(each)
            if each is None or each == {}:
                below = MEMBER
            elif not self.is_named(name):
                below = MEMBER if not below else {SELF: MEMBER, **below}
            if below is not None:
                found["f:" + name] = below
        return found or None

    def changed(self, old: Any, new: Any) -> Changed:
        """Return the difference of two maps; null equals an empty map unless both are empty."""
        if not isinstance(old, dict) or not isinstance(new, dict):
            if not (old or new) or not isinstance(old or {}, dict) or not isinstance(new or {}, dict):
                return super().changed(old, new)
            old, new = old or {}, new or {}
        changed: Fields = {}
        removed: Fields = {}
        for name, each in new.items():
            before = old.get(name, MISSING)
            if before is each or before == each:
                continue
            field_type, key = self.field_type(name), "f:" + name
            if before is MISSING:
                if not self.is_there(name):
                    changed[key] = MEMBER if field_type.is_leaf else field_type.added(each)
                    continue
                before = field_type.empty
            if not field_type.is_leaf:
                note(changed, removed, key, field_type.changed(before, each))
            elif before != each:
                changed[key] = MEMBER
        for name in old.keys() - new.keys():
            field_type = self.field_type(name)
            if self.is_there(name):
                note(changed, removed, "f:" + name, field_type.changed(old[name], field_type.empty))
            else:
                removed["f:" + name] = field_type.added(old[name])
        return changed or None, removed or None

    def merged(self, live: Any, wanted: Any) -> Any:
        """Merge the applied entries into a map."""
        if wanted is None and live:
            return live
        if not isinstance(live, dict) or not isinstance(wanted, dict):
            return wanted
        found = dict(live)
        for name, each in wanted.items():
            found[name] = self.field_type(name).merged(live[name], each) if name in live else each
        return found

    def reduced(self, value: Any, fields: Fields) -> Any:
        """Return a map without the entries in a set, None if nothing is left."""
        if not value or not isinstance(value, dict):
            return None
        left = {}
        for name, each in value.items():
            node = fields.get("f:" + name)
            if node is None:
                left[name] = each
            elif not is_member(node):
                left[name] = self.field_type(name).reduced(each, node)
        return left or None

    def named(self, fields: Fields) -> Fields:
        """Return a set in which the fields that lead to a member are members, too."""
        found: Fields = {}
        for key, node in fields.items():
            name = key[2:]
            if not node or key == SELF:
                found[key] = node
                continue
            below = self.field_type(name).named(node) if key.startswith("f:") else node
            if self.is_named(name) and not is_member(below):
                below = {SELF: MEMBER, **below}
            found[key] = below
        return found


class Map(_Mapping):
    """A map whose keys are owned one by one."""

    def __init__(self, value: FieldType) -> None:
        super().__init__()
        self._value = value

    def field_type(self, name: str) -> FieldType:
        """Return the type of an entry."""
        return self._value


class Struct(_Mapping):
    """A type with fields that are owned one by one."""

    def __init__(self) -> None:
        super().__init__()
        # by name: the field's key in sets, its type, and whether Go always writes it
        self.members: dict[str, tuple[str, FieldType, bool]] = {}
        # cache for structs whose fields are all leaves: the field set by the names of an object's fields
        self._kinds: dict[tuple[str, ...], Fields] | None = None

    def complete(self, members: dict[str, tuple[str, FieldType, bool]]) -> None:
        """Set the fields of the struct."""
        self.members = members
        if all(field_type.is_leaf for _, field_type, _ in members.values()):
            self._kinds = {}

    def field_type(self, name: str) -> FieldType:
        """Return the type of a field."""
        member = self.members.get(name)
        return LEAF if member is None else member[1]

    def is_there(self, name: str) -> bool:
        """Return whether Go writes a field even if it is not set."""
        return name in self.members and self.members[name][2]

    def is_named(self, name: str) -> bool:
        """Return whether the struct has a field."""
        return name in self.members

    def added(self, value: Any) -> Fields:
        """Return all fields of a new object, on every level."""
        if not value or not isinstance(value, dict):
            return MEMBER
        kinds = self._kinds
        if kinds is not None:
            names = tuple(value)
            known = kinds.get(names)
            if known is None:
                known = {SELF: MEMBER, **{"f:" + name: MEMBER for name in names}}
                if len(kinds) < _MOST_KINDS:
                    kinds[names] = known
            return known
        found: Fields = {SELF: MEMBER}
        members = self.members
        for name, each in value.items():
            key, field_type, _ = members.get(name) or ("f:" + name, LEAF, False)
            found[key] = MEMBER if field_type.is_leaf else field_type.added(each)
        return found


class Untyped(_Mapping):
    """Any JSON: maps are owned key by key, everything else as a whole."""

    def field_type(self, name: str) -> FieldType:
        """Return the type of an entry."""
        return self

    def to_field_set(self, value: Any) -> Fields | None:
        """Return the leaves of a value."""
        return super().to_field_set(value) if isinstance(value, dict) else MEMBER

    def reduced(self, value: Any, fields: Fields) -> Any:
        """Return a value without the entries in a set."""
        return super().reduced(value, fields) if isinstance(value, dict) else value


UNTYPED = Untyped()


def note(changed: Fields, removed: Fields, key: str, found: Changed) -> None:
    """Add the difference of the value at a key to the changed and the removed fields."""
    if found[0] is not None:
        changed[key] = found[0]
    if found[1] is not None:
        removed[key] = found[1]

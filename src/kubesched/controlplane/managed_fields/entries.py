"""Owners: who has which fields of an object, and since when, as metadata.managedFields shows it.

From writes to a tuple of owners that is kept beside the object's bytes. The fields of an owner are kept as text, which
is what is sent; objects that are alike share it.
"""

# upstream: apimachinery/pkg/util/managedfields/internal/{managedfields,managedfieldsupdater,capmanagers,
# stripmeta,skipnonapplied}.go, structured-merge-diff/v6/merge/update.go (v1.36)

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from kubesched.controlplane.managed_fields.field_sets import (
    MEMBER,
    Fields,
    FieldsError,
    covers,
    decoded,
    difference,
    encoded,
    intersection,
    read,
    union,
    without,
)
from kubesched.controlplane.managed_fields.types import Changed

APPLY, UPDATE = "Apply", "Update"
FIELDS_TYPE = "FieldsV1"
ANCIENT, BEFORE_APPLY = "ancient-changes", "before-first-apply"
MOST_UPDATERS = 10
_SERVER_OWNED = ("name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation")
# what nobody owns
STRIPPED: Fields = {
    "f:apiVersion": MEMBER,
    "f:kind": MEMBER,
    "f:metadata": {f"f:{name}": MEMBER for name in (*_SERVER_OWNED, "managedFields", "resourceVersion")},
}


class Manager(msgspec.Struct, frozen=True, gc=False):
    """Who writes, and how."""

    name: str
    operation: str
    api_version: str
    subresource: str = ""

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """Return what tells owners apart; whoever applies is the same in all versions."""
        version = "" if self.operation == APPLY else self.api_version
        return self.name, self.operation, version, self.subresource


class Owner(msgspec.Struct, frozen=True, gc=False):
    """A manager, the time of its last change, and its fields as text."""

    manager: Manager
    time: str
    text: bytes

    def fields(self) -> Fields:
        """Return the fields."""
        return decoded(self.text)

    def json(self) -> bytes:
        """Return the entry as it is sent."""
        start, end = _around(self.manager, self.time)
        return start + self.text + end


Owners = tuple[Owner, ...]


@lru_cache(maxsize=1024)
def _around(manager: Manager, time: str) -> tuple[bytes, bytes]:
    """Return what stands before and after the fields of an entry."""
    entry = {"manager": manager.name, "operation": manager.operation, "apiVersion": manager.api_version}
    if time:
        entry["time"] = time
    start = msgspec.json.encode({**entry, "fieldsType": FIELDS_TYPE})[:-1] + b',"fieldsV1":'
    end = b',"subresource":' + msgspec.json.encode(manager.subresource) if manager.subresource else b""
    return start, end + b"}"


def whole(body: bytes, owners: Owners) -> bytes:
    """Return an object's bytes with its owners in them; metadata stands behind kind and version alone."""
    if not owners:
        return body
    at = body.index(b'"metadata":{') + len(b'"metadata":{')
    entries = b",".join([owner.json() for owner in owners])
    return b"".join((body[:at], b'"managedFields":[', entries, b"],", body[at:]))


def shown(owners: Owners) -> list[Any]:
    """Return owners as a document has them."""
    return [msgspec.json.decode(owner.json()) for owner in owners]


# -- what clients say of owners


class _Entry(msgspec.Struct, rename="camel"):
    """An entry as a client sends it."""

    manager: str = ""
    operation: str = ""
    api_version: str = ""
    time: str | None = None
    fields_type: str = ""
    fields_v1: Any = msgspec.field(default=None, name="fieldsV1")
    subresource: str = ""


def given(entries: Any, live: Owners) -> Owners:
    """Return the owners that a client says an object has: an empty entry resets them, nonsense changes nothing."""
    if entries is None:
        return live
    if entries in ([], [{}]):
        return ()
    try:
        found = [_owner(entry) for entry in msgspec.convert(entries, list[_Entry])]
    except (FieldsError, msgspec.ValidationError, RecursionError):
        return live
    return in_order({owner.manager.identity: owner for owner in found if owner.text != b"{}"}.values()) or live


def _owner(entry: _Entry) -> Owner:
    if entry.operation not in (APPLY, UPDATE) or not entry.api_version or entry.fields_type != FIELDS_TYPE:
        raise FieldsError("no entry of managedFields")
    manager = Manager(entry.manager, entry.operation, entry.api_version, entry.subresource)
    return Owner(manager, entry.time or "", encoded(read(entry.fields_v1 or {})))


def in_order(owners: Any) -> Owners:
    """Return owners in the order in which they are shown."""
    return tuple(sorted(owners, key=_rank))


def _rank(owner: Owner) -> tuple[str, str, str, str, str]:
    manager = owner.manager
    return manager.operation, owner.time, manager.name, manager.api_version, manager.subresource


# -- writes


def updated(owners: Owners, manager: Manager, time: str, changes: Changed, excluded: Fields = MEMBER) -> Owners:
    """Return the owners after a change that somebody made: what has changed is his, and nobody's who had it."""
    changed, removed = _tracked(changes, excluded)
    if not changed and not removed:
        return owners
    found: list[Owner] = []
    is_new = True
    for owner in owners:
        after: Owner | None = owner
        if owner.manager == manager:
            after, is_new = _after(owner, time, changed, removed), False
        elif _is_touched(owner, changed, removed):
            after = _less(owner, changed, removed)
        if after is not None:
            found.append(after)
    if is_new and changed:
        found.append(Owner(manager, time, encoded(changed)))
    return capped(in_order(found))


def _tracked(changes: Changed, excluded: Fields) -> tuple[Fields, Fields]:
    """Return what of a change is tracked."""
    changed, removed = (part or MEMBER for part in changes)
    if "f:metadata" in changed or "f:kind" in changed:
        changed = without(changed, STRIPPED)
    if excluded:
        changed, removed = without(changed, excluded), without(removed, excluded)
    return changed, removed


def _after(owner: Owner, time: str, changed: Fields, removed: Fields) -> Owner | None:
    """Return whoever has made a change after it, None if he has nothing left."""
    if changed and not removed and covers(owner.fields(), changed):
        return Owner(owner.manager, time, owner.text)
    fields = union(difference(owner.fields(), removed), changed)
    return Owner(owner.manager, time if changed else owner.time, encoded(fields)) if fields else None


def _is_touched(owner: Owner, changed: Fields, removed: Fields) -> bool:
    """Return whether an owner may have what has changed; most have nothing of the parts that it is in."""
    text = owner.text
    return any(f'"{part}":'.encode() in text for part in (*changed, *removed))


def _less(owner: Owner, changed: Fields, removed: Fields) -> Owner | None:
    """Return an owner without what others have changed, None if nothing is left."""
    before = owner.fields()
    fields = difference(difference(before, intersection(before, changed)), removed)
    if fields == before:
        return owner
    return Owner(owner.manager, owner.time, encoded(fields)) if fields else None


def capped(owners: Owners) -> Owners:
    """Return owners of whom no more than a few have come by updates: the oldest become one."""
    updaters = [owner for owner in owners if owner.manager.operation == UPDATE]
    if len(updaters) <= MOST_UPDATERS:
        return owners
    found = {owner.manager.identity: owner for owner in owners}
    firsts: dict[str, Owner] = {}
    number = len(updaters)
    for owner in updaters:
        if number <= MOST_UPDATERS:
            break
        version = owner.manager.api_version
        first = firsts.setdefault(version, owner)
        if first is owner:
            continue
        bucket = Manager(ANCIENT, UPDATE, version)
        before = found.pop(bucket.identity, None) or found.pop(first.manager.identity)
        found.pop(owner.manager.identity, None)
        text = encoded(union(owner.fields(), before.fields()))
        found[bucket.identity] = Owner(bucket, owner.time, text)
        number -= 1
    return in_order(found.values())


def same(owners: Sequence[Owner], others: Sequence[Owner]) -> bool:
    """Return whether owners have the same fields, whenever they got them."""
    if owners is others:
        return True
    return [(owner.manager, owner.text) for owner in owners] == [(other.manager, other.text) for other in others]

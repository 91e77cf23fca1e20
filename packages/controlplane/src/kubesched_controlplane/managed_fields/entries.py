"""The entries of metadata.managedFields: which manager owns which fields of an object, and since when.

From writes to a tuple of entries that is stored beside the object's bytes. The fields of an entry are kept as the text
that is sent; objects of one template share it.
"""

# upstream: apimachinery/pkg/util/managedfields/internal/{managedfields,managedfieldsupdater,capmanagers,
# stripmeta,skipnonapplied}.go, structured-merge-diff/v6/merge/update.go (v1.36)

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from kubesched_controlplane.managed_fields.field_sets import (
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
from kubesched_controlplane.managed_fields.types import Changed

APPLY, UPDATE = "Apply", "Update"
FIELDS_TYPE = "FieldsV1"
ANCIENT, BEFORE_APPLY = "ancient-changes", "before-first-apply"
MOST_UPDATERS = 10
_SERVER_OWNED = ("name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation")
# fields without a manager
STRIPPED: Fields = {
    "f:apiVersion": MEMBER,
    "f:kind": MEMBER,
    "f:metadata": {f"f:{name}": MEMBER for name in (*_SERVER_OWNED, "managedFields", "resourceVersion")},
}


class Manager(msgspec.Struct, frozen=True, gc=False):
    """A field manager: its name, operation, version and subresource."""

    name: str
    operation: str
    api_version: str
    subresource: str = ""

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """Return the key of the manager's entry; a manager that applies has one entry for all versions."""
        version = "" if self.operation == APPLY else self.api_version
        return self.name, self.operation, version, self.subresource


class Entry(msgspec.Struct, frozen=True, gc=False):
    """An entry: a manager, the time of its last change, and its fields as text."""

    manager: Manager
    time: str
    text: bytes

    def fields(self) -> Fields:
        """Return the fields."""
        return decoded(self.text)

    def json(self) -> bytes:
        """Return the entry as JSON."""
        start, end = _around(self.manager, self.time)
        return start + self.text + end


ManagedFields = tuple[Entry, ...]


@lru_cache(maxsize=1024)
def _around(manager: Manager, time: str) -> tuple[bytes, bytes]:
    """Return the JSON before and after the fields of an entry."""
    entry = {"manager": manager.name, "operation": manager.operation, "apiVersion": manager.api_version}
    if time:
        entry["time"] = time
    start = msgspec.json.encode({**entry, "fieldsType": FIELDS_TYPE})[:-1] + b',"fieldsV1":'
    end = b',"subresource":' + msgspec.json.encode(manager.subresource) if manager.subresource else b""
    return start, end + b"}"


def with_managed_fields(body: bytes, managed_fields: ManagedFields) -> bytes:
    """Return an object's bytes with managedFields in them; metadata comes right after kind and version."""
    if not managed_fields:
        return body
    at = body.index(b'"metadata":{') + len(b'"metadata":{')
    entries = b",".join([entry.json() for entry in managed_fields])
    return b"".join((body[:at], b'"managedFields":[', entries, b"],", body[at:]))


def as_documents(managed_fields: ManagedFields) -> list[Any]:
    """Return entries as the documents of metadata.managedFields."""
    return [msgspec.json.decode(entry.json()) for entry in managed_fields]


# -- managedFields that clients send


class _SentEntry(msgspec.Struct, rename="camel"):
    """An entry of managedFields in a request."""

    manager: str = ""
    operation: str = ""
    api_version: str = ""
    time: str | None = None
    fields_type: str = ""
    fields_v1: Any = msgspec.field(default=None, name="fieldsV1")
    subresource: str = ""


def entries_from_client(entries: Any, live: ManagedFields) -> ManagedFields:
    """Return the managedFields that a client sends: an empty entry resets them, invalid entries change nothing."""
    if entries is None:
        return live
    if entries in ([], [{}]):
        return ()
    try:
        found = [_entry(entry) for entry in msgspec.convert(entries, list[_SentEntry])]
    except (FieldsError, msgspec.ValidationError, RecursionError):
        return live
    return sorted_entries({entry.manager.identity: entry for entry in found if entry.text != b"{}"}.values()) or live


def _entry(entry: _SentEntry) -> Entry:
    if entry.operation not in (APPLY, UPDATE) or not entry.api_version or entry.fields_type != FIELDS_TYPE:
        raise FieldsError("no entry of managedFields")
    manager = Manager(entry.manager, entry.operation, entry.api_version, entry.subresource)
    return Entry(manager, entry.time or "", encoded(read(entry.fields_v1 or {})))


def sorted_entries(managed_fields: Any) -> ManagedFields:
    """Return entries in the order of managedFields."""
    return tuple(sorted(managed_fields, key=_rank))


def _rank(entry: Entry) -> tuple[str, str, str, str, str]:
    manager = entry.manager
    return manager.operation, entry.time, manager.name, manager.api_version, manager.subresource


# -- writes


def after_update(
    managed_fields: ManagedFields, manager: Manager, time: str, changes: Changed, excluded: Fields = MEMBER
) -> ManagedFields:
    """Return managedFields after an update: the manager owns the changed fields, other managers lose them."""
    changed, removed = _tracked(changes, excluded)
    if not changed and not removed:
        return managed_fields
    found: list[Entry] = []
    is_new = True
    for entry in managed_fields:
        after: Entry | None = entry
        if entry.manager == manager:
            after, is_new = _after(entry, time, changed, removed), False
        elif _is_touched(entry, changed, removed):
            after = _less(entry, changed, removed)
        if after is not None:
            found.append(after)
    if is_new and changed:
        found.append(Entry(manager, time, encoded(changed)))
    return capped(sorted_entries(found))


def _tracked(changes: Changed, excluded: Fields) -> tuple[Fields, Fields]:
    """Return the changed and removed fields that are tracked."""
    changed, removed = (part or MEMBER for part in changes)
    if "f:metadata" in changed or "f:kind" in changed:
        changed = without(changed, STRIPPED)
    if excluded:
        changed, removed = without(changed, excluded), without(removed, excluded)
    return changed, removed


def _after(entry: Entry, time: str, changed: Fields, removed: Fields) -> Entry | None:
    """Return the entry of the updating manager after the update, None if no field is left."""
    if changed and not removed and covers(entry.fields(), changed):
        return Entry(entry.manager, time, entry.text)
    fields = union(difference(entry.fields(), removed), changed)
    return Entry(entry.manager, time if changed else entry.time, encoded(fields)) if fields else None


def _is_touched(entry: Entry, changed: Fields, removed: Fields) -> bool:
    """Return whether an entry may hold changed fields, by their top-level names."""
    text = entry.text
    return any(f'"{part}":'.encode() in text for part in (*changed, *removed))


def _less(entry: Entry, changed: Fields, removed: Fields) -> Entry | None:
    """Return an entry without fields that another manager changed, None if nothing is left."""
    before = entry.fields()
    fields = difference(difference(before, intersection(before, changed)), removed)
    if fields == before:
        return entry
    return Entry(entry.manager, entry.time, encoded(fields)) if fields else None


def capped(managed_fields: ManagedFields) -> ManagedFields:
    """Return entries with a bounded number of update managers: the oldest ones are merged."""
    updaters = [entry for entry in managed_fields if entry.manager.operation == UPDATE]
    if len(updaters) <= MOST_UPDATERS:
        return managed_fields
    found = {entry.manager.identity: entry for entry in managed_fields}
    firsts: dict[str, Entry] = {}
    number = len(updaters)
    for entry in updaters:
        if number <= MOST_UPDATERS:
            break
        version = entry.manager.api_version
        first = firsts.setdefault(version, entry)
        if first is entry:
            continue
        bucket = Manager(ANCIENT, UPDATE, version)
        before = found.pop(bucket.identity, None) or found.pop(first.manager.identity)
        found.pop(entry.manager.identity, None)
        text = encoded(union(entry.fields(), before.fields()))
        found[bucket.identity] = Entry(bucket, entry.time, text)
        number -= 1
    return sorted_entries(found.values())


def same(managed_fields: Sequence[Entry], others: Sequence[Entry]) -> bool:
    """Return whether entries have the same managers and fields, at any time."""
    if managed_fields is others:
        return True
    return [(entry.manager, entry.text) for entry in managed_fields] == [
        (other.manager, other.text) for other in others
    ]

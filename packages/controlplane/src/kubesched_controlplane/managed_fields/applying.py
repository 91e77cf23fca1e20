"""Server-side apply as set algebra: merge the applied fields, prune the fields that are no longer applied.

From an object, its managedFields and a configuration to the object and its managedFields. A field that another manager
owns with another value is a conflict, unless the apply is forced.
"""

# upstream: structured-merge-diff/v6/merge/{update,conflict}.go, apimachinery/pkg/util/managedfields/internal/
# {structuredmerge,skipnonapplied,lastappliedmanager,lastappliedupdater,conflict}.go (v1.36)

from typing import Any, NamedTuple

import msgspec

from kubesched.api.go_text import quote, to_json
from kubesched.api.last_applied import LAST_APPLIED
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.object_meta import MOST_ANNOTATION_BYTES
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.managed_fields.entries import (
    BEFORE_APPLY,
    STRIPPED,
    UPDATE,
    Entry,
    ManagedFields,
    Manager,
    after_update,
    sorted_entries,
)
from kubesched_controlplane.managed_fields.field_sets import (
    NOTHING,
    Fields,
    difference,
    encoded,
    intersection,
    paths,
    union,
    without,
)
from kubesched_controlplane.managed_fields.list_types import FieldTypeError
from kubesched_controlplane.managed_fields.types import FieldType

KUBECTL = "kubectl"


class ConflictsError(Exception):
    """Conflicts: applied fields that other managers own, with other values."""

    def __init__(self, conflicts: list[tuple[Entry, Fields]]) -> None:
        self.conflicts = conflicts

    def refusal(self) -> ApiError:
        """Return the error 409 with the fields and their managers."""
        named = [(_named(entry), path) for entry, fields in self.conflicts for path in paths(fields)]
        causes = [
            {"reason": "FieldManagerConflict", "message": f"conflict with {who}", "field": path} for who, path in named
        ]
        if len(named) == 1:
            message = f"Apply failed with 1 conflict: conflict with {named[0][0]}: {named[0][1]}"
        else:
            lines = []
            for entry, fields in self.conflicts:
                lines += [f"conflicts with {_named(entry)}:", *(f"- {path}" for path in paths(fields))]
            text = "\n".join(lines)
            message = f"Apply failed with {len(named)} conflicts: {text}"
        return ApiError(409, "Conflict", message, {"causes": causes})


def _named(entry: Entry) -> str:
    manager = entry.manager
    text = quote(manager.name)
    if manager.subresource:
        text += f" with subresource {quote(manager.subresource)}"
    return f"{text} using {manager.api_version}" if manager.operation == UPDATE else text


class Application(NamedTuple):
    """An applied configuration; `reset` holds the fields that this subresource may not write."""

    field_type: FieldType
    manager: Manager
    config: Document
    force: bool
    time: str
    reset: Fields = NOTHING


class Applied(NamedTuple):
    """The result of an apply: the object and its managedFields."""

    document: Document
    managed_fields: ManagedFields


def apply(live: Document, managed_fields: ManagedFields, wanted: Application) -> Applied:
    """Apply a configuration to an object, an empty one if it does not exist; raises ConflictsError.

    The result shares parts with the arguments.
    """
    if not managed_fields:
        before = Manager(BEFORE_APPLY, UPDATE, wanted.manager.api_version, wanted.manager.subresource)
        managed_fields = after_update((), before, wanted.time, wanted.field_type.changed({}, live), wanted.reset)
    try:
        found = _merge(live, managed_fields, wanted)
    except ConflictsError as error:
        if wanted.manager.name != KUBECTL:
            raise
        allowed = _last_applied(wanted.field_type, live)
        left = [(entry, difference(fields, allowed)) for entry, fields in error.conflicts]
        if any(fields for _, fields in left):
            raise ConflictsError([(entry, fields) for entry, fields in left if fields]) from None
        found = _merge(live, managed_fields, wanted._replace(force=True))
    if wanted.manager.name == KUBECTL:
        _keep_last_applied(found.document, wanted.config)
    return found


def _merge(live: Document, managed_fields: ManagedFields, wanted: Application) -> Applied:
    field_type, manager = wanted.field_type, wanted.manager
    # 1. The fields that the manager applies now, and those of its last apply.
    to_field_set = without(field_type.to_field_set(wanted.config) or NOTHING, wanted.reset)
    last = next((entry for entry in managed_fields if entry.manager.identity == manager.identity), None)
    others = [entry for entry in managed_fields if entry is not last]
    # 2. Merge the configuration; prune the fields that the manager no longer applies.
    merged = field_type.merged(live, wanted.config)
    if last is not None:
        managed = to_field_set
        for entry in others:
            managed = union(managed, entry.fields())
        merged = _pruned(field_type, merged, last.fields(), managed)
    # 3. Conflicts, and the fields that other managers lose.
    changed, removed = (without(part or NOTHING, wanted.reset) for part in field_type.changed(live, merged))
    conflicts = [(entry, intersection(entry.fields(), changed)) for entry in others]
    conflicts = [(entry, fields) for entry, fields in conflicts if fields]
    if conflicts and not wanted.force:
        raise ConflictsError(sorted(conflicts, key=lambda each: each[0].manager.identity))
    found = []
    for entry in others:
        fields = difference(difference(entry.fields(), changed), removed)
        if fields:
            found.append(Entry(entry.manager, entry.time, encoded(fields)))
    # 4. The fields of the manager.
    is_same = merged == live
    mine = without(to_field_set, STRIPPED)
    if mine:
        time = wanted.time if not is_same else last.time if last is not None else ""
        found.append(Entry(manager, time, encoded(mine)))
    return Applied(merged, sorted_entries(found))


def _pruned(field_type: FieldType, merged: Document, last: Fields, managed: Fields) -> Document:
    """Return an object without the fields that the manager no longer applies and no other manager owns."""
    last, managed, there = field_type.named(last), field_type.named(managed), _named_fields(field_type, merged)
    # remove all fields that the manager owned, then put back fields that any manager still owns
    left: Any = field_type.reduced(merged, last) or {}
    left = field_type.reduced(merged, difference(there, union(_named_fields(field_type, left), managed))) or {}
    gone = intersection(difference(there, _named_fields(field_type, left)), last)
    found: Document = field_type.reduced(merged, gone) or {}
    return found


def _named_fields(field_type: FieldType, document: Any) -> Fields:
    return field_type.named(field_type.to_field_set(document) or NOTHING)


# -- the last-applied annotation of client-side apply


def _last_applied(field_type: FieldType, live: Document) -> Fields:
    """Return the fields of kubectl's last-applied annotation that still have the values in it."""
    text = (live["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    try:
        last = msgspec.json.decode(text or "", type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return NOTHING
    if last.get("apiVersion") != live.get("apiVersion"):
        return NOTHING
    try:
        to_field_set, (changed, removed) = field_type.to_field_set(last) or NOTHING, field_type.changed(last, live)
    except FieldTypeError:
        return NOTHING
    return difference(difference(to_field_set, changed or NOTHING), removed or NOTHING)


def _keep_last_applied(document: Document, config: Document) -> None:
    """Update kubectl's last-applied annotation, if the object has one."""
    annotations = (document.get("metadata") or {}).get("annotations") or {}
    if not annotations.get(LAST_APPLIED):
        return
    meta = dict(config.get("metadata") or {})
    if meta.get("annotations"):
        meta["annotations"] = {key: value for key, value in meta["annotations"].items() if key != LAST_APPLIED}
    text = to_json({**config, "metadata": meta}) + "\n"
    found = {**annotations, LAST_APPLIED: text}
    if sum(len(key) + len(value) for key, value in found.items()) > MOST_ANNOTATION_BYTES:
        del found[LAST_APPLIED]
    document["metadata"] = {**document["metadata"], "annotations": found}

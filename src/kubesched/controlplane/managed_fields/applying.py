"""Applying: somebody says which fields he wants and how; what he wanted before and no longer says goes.

From an object, a configuration and the object's owners to the object and its owners. A field that others have with
another value is a conflict, unless it is taken by force.
"""

# upstream: structured-merge-diff/v6/merge/{update,conflict}.go, apimachinery/pkg/util/managedfields/internal/
# {structuredmerge,skipnonapplied,lastappliedmanager,lastappliedupdater,conflict}.go (v1.36)

from typing import Any, NamedTuple

import msgspec

from kubesched.api.go_text import quote, to_json
from kubesched.controlplane.api.documents import Document
from kubesched.controlplane.api.object_meta import MOST_ANNOTATION_BYTES
from kubesched.controlplane.api.statuses import ApiError
from kubesched.controlplane.managed_fields.entries import (
    BEFORE_APPLY,
    STRIPPED,
    UPDATE,
    Manager,
    Owner,
    Owners,
    in_order,
    updated,
)
from kubesched.controlplane.managed_fields.field_sets import (
    NOTHING,
    Fields,
    difference,
    encoded,
    intersection,
    paths,
    union,
    without,
)
from kubesched.controlplane.managed_fields.list_types import WayError
from kubesched.controlplane.managed_fields.types import Way

KUBECTL = "kubectl"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class ConflictsError(Exception):
    """Fields that others own."""

    def __init__(self, conflicts: list[tuple[Owner, Fields]]) -> None:
        self.conflicts = conflicts

    def refusal(self) -> ApiError:
        """Return the refusal that names who owns what."""
        named = [(_named(owner), path) for owner, fields in self.conflicts for path in paths(fields)]
        causes = [
            {"reason": "FieldManagerConflict", "message": f"conflict with {who}", "field": path} for who, path in named
        ]
        if len(named) == 1:
            message = f"Apply failed with 1 conflict: conflict with {named[0][0]}: {named[0][1]}"
        else:
            lines = []
            for owner, fields in self.conflicts:
                lines += [f"conflicts with {_named(owner)}:", *(f"- {path}" for path in paths(fields))]
            text = "\n".join(lines)
            message = f"Apply failed with {len(named)} conflicts: {text}"
        return ApiError(409, "Conflict", message, {"causes": causes})


def _named(owner: Owner) -> str:
    manager = owner.manager
    text = quote(manager.name)
    if manager.subresource:
        text += f" with subresource {quote(manager.subresource)}"
    return f"{text} using {manager.api_version}" if manager.operation == UPDATE else text


class Application(NamedTuple):
    """What somebody applies to an object; `reset` is what cannot be written on this path."""

    way: Way
    manager: Manager
    config: Document
    force: bool
    time: str
    reset: Fields = NOTHING


class Applied(NamedTuple):
    """What has become of an object, and of its owners."""

    document: Document
    owners: Owners


def apply(live: Document, owners: Owners, wanted: Application) -> Applied:
    """Apply a configuration to an object, an empty one if it does not exist; raises ConflictsError.

    What comes out shares parts with what went in.
    """
    if not owners:
        before = Manager(BEFORE_APPLY, UPDATE, wanted.manager.api_version, wanted.manager.subresource)
        owners = updated((), before, wanted.time, wanted.way.changed({}, live), wanted.reset)
    try:
        found = _merge(live, owners, wanted)
    except ConflictsError as error:
        if wanted.manager.name != KUBECTL:
            raise
        allowed = _last_applied(wanted.way, live)
        left = [(owner, difference(fields, allowed)) for owner, fields in error.conflicts]
        if any(fields for _, fields in left):
            raise ConflictsError([(owner, fields) for owner, fields in left if fields]) from None
        found = _merge(live, owners, wanted._replace(force=True))
    if wanted.manager.name == KUBECTL:
        _keep_last_applied(found.document, wanted.config)
    return found


def _merge(live: Document, owners: Owners, wanted: Application) -> Applied:
    way, manager = wanted.way, wanted.manager
    # 1. What he says now, and what he said last time.
    said = without(way.said(wanted.config) or NOTHING, wanted.reset)
    last = next((owner for owner in owners if owner.manager.identity == manager.identity), None)
    others = [owner for owner in owners if owner is not last]
    # 2. The object with what he says, without what he no longer says.
    merged = way.merged(live, wanted.config)
    if last is not None:
        managed = said
        for owner in others:
            managed = union(managed, owner.fields())
        merged = _pruned(way, merged, last.fields(), managed)
    # 3. Who loses what?
    changed, removed = (without(part or NOTHING, wanted.reset) for part in way.changed(live, merged))
    conflicts = [(owner, intersection(owner.fields(), changed)) for owner in others]
    conflicts = [(owner, fields) for owner, fields in conflicts if fields]
    if conflicts and not wanted.force:
        raise ConflictsError(sorted(conflicts, key=lambda each: each[0].manager.identity))
    found = []
    for owner in others:
        fields = difference(difference(owner.fields(), changed), removed)
        if fields:
            found.append(Owner(owner.manager, owner.time, encoded(fields)))
    # 4. What is his.
    is_same = merged == live
    mine = without(said, STRIPPED)
    if mine:
        time = wanted.time if not is_same else last.time if last is not None else ""
        found.append(Owner(manager, time, encoded(mine)))
    return Applied(merged, in_order(found))


def _pruned(way: Way, merged: Document, last: Fields, managed: Fields) -> Document:
    """Return an object without what somebody owned and says no more, unless others own it."""
    last, managed, there = way.named(last), way.named(managed), _named_fields(way, merged)
    # all that he owned goes, what anybody still owns comes back, and so does what was not his
    left: Any = way.reduced(merged, last) or {}
    left = way.reduced(merged, difference(there, union(_named_fields(way, left), managed))) or {}
    gone = intersection(difference(there, _named_fields(way, left)), last)
    found: Document = way.reduced(merged, gone) or {}
    return found


def _named_fields(way: Way, document: Any) -> Fields:
    return way.named(way.said(document) or NOTHING)


# -- what kubectl applied on its own side


def _last_applied(way: Way, live: Document) -> Fields:
    """Return what kubectl said when it still applied by itself, as far as it is still so."""
    text = (live["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    try:
        last = msgspec.json.decode(text or "", type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return NOTHING
    if last.get("apiVersion") != live.get("apiVersion"):
        return NOTHING
    try:
        said, (changed, removed) = way.said(last) or NOTHING, way.changed(last, live)
    except WayError:
        return NOTHING
    return difference(difference(said, changed or NOTHING), removed or NOTHING)


def _keep_last_applied(document: Document, config: Document) -> None:
    """Write what kubectl applies where it kept it when it applied by itself, if it did."""
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

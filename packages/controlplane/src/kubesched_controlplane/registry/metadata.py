"""Object metadata: the fields that the server sets, and validation.

From a client's document to a storable one.
"""

# upstream: apimachinery/pkg/api/validation/objectmeta.go, apiserver/pkg/registry/rest/{create,meta}.go (v1.36)

from collections.abc import Mapping, Sequence
from typing import Any

from kubesched.api.field_errors import as_json, child, forbidden, index, invalid, required
from kubesched.api.labels import label_key_problems, label_value_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.object_meta import (
    FIRST_DEPENDENTS,
    IMMUTABLE,
    ORPHANS,
    annotations_problems,
    qualification_problems,
)
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.registry.registry import ResourceRegistry
from kubesched_controlplane.registry.strategy import Strategy

MOST_NAMES_TRIED = 8
LONGEST_GENERATED = 63
# fields that an update cannot change
_KEPT = ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink")


def fill_in(document: Document, resource: Resource, registry: ResourceRegistry) -> None:
    """Set the UID, creation timestamp, generation and, from generateName, the name of a new object."""
    meta = document["metadata"]
    for field in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields", "resourceVersion"):
        meta.pop(field, None)
    if not meta.get("name") and meta.get("generateName"):
        meta["name"] = _made_up_name(meta, resource, registry)
    meta["uid"] = registry.new_uid()
    meta["creationTimestamp"] = timestamp(registry.clock())
    if registry.strategy(resource).has_generation:
        meta["generation"] = 1
    else:
        meta.pop("generation", None)


def _made_up_name(meta: Mapping[str, Any], resource: Resource, registry: ResourceRegistry) -> str:
    start = str(meta["generateName"])[: LONGEST_GENERATED - 5]
    for _ in range(MOST_NAMES_TRIED):
        name = start + registry.name_suffix()
        if registry.store.get(resource.prefix, meta.get("namespace", ""), name) is None:
            return name
    details = {"name": meta["generateName"], "kind": resource.plural, "group": resource.group}
    message = f'{resource.qualified} "{name}" already exists, the server was not able to generate a unique name'
    raise ApiError(409, "AlreadyExists", message, details)


def kept_metadata(new: Document, old: Document) -> list[str]:
    """Restore the metadata that an update cannot change; return problems for names, UIDs and finalizers."""
    meta, before = new["metadata"], old["metadata"]
    problems = []
    for field in ("name", "namespace", "uid"):
        if field in meta and meta[field] and meta[field] != before.get(field, ""):
            problems.append(invalid(f"metadata.{field}", str(meta[field]), IMMUTABLE))
    for field in _KEPT:
        if field in before:
            meta[field] = before[field]
        else:
            meta.pop(field, None)
    meta["name"], meta["uid"] = before["name"], before["uid"]
    if "namespace" in before:
        meta["namespace"] = before["namespace"]
    if before.get("deletionTimestamp"):
        added = set(meta.get("finalizers") or ()) - set(before.get("finalizers") or ())
        if added:
            why = "no new finalizers can be added if the object is being deleted, found new finalizers "
            problems.append(forbidden("metadata.finalizers", why + as_json(sorted(added))))
    return problems


def metadata_problems(document: Document, strategy: Strategy) -> list[str]:
    """Return the problems of the metadata."""
    meta = document["metadata"]
    problems = []
    if prefix := meta.get("generateName"):
        found = strategy.name_problems(_without_trailing_dash(prefix))
        problems += [invalid("metadata.generateName", prefix, problem) for problem in found]
    name = meta.get("name")
    if not name:
        problems.append(required("metadata.name", "name or generateName is required"))
    else:
        problems += [invalid("metadata.name", name, problem) for problem in strategy.name_problems(name)]
    for key, value in (meta.get("labels") or {}).items():
        path = "metadata.labels"
        problems += [invalid(path, key, problem) for problem in label_key_problems(key)]
        problems += [invalid(path, value, problem) for problem in label_value_problems(value)]
    problems += annotations_problems("metadata.annotations", meta.get("annotations"))
    problems += _owner_problems(meta.get("ownerReferences") or ())
    return problems + _finalizer_problems(meta.get("finalizers") or [], qualified=strategy.qualifies_finalizers)


def _finalizer_problems(finalizers: Sequence[str], *, qualified: bool) -> list[str]:
    path = "metadata.finalizers"
    problems = [invalid(path, each, why) for each in finalizers for why in label_key_problems(each)]
    if {ORPHANS, FIRST_DEPENDENTS} <= set(finalizers):
        why = f"finalizer {ORPHANS} and {FIRST_DEPENDENTS} cannot be both set"
        problems.append(invalid(path, as_json(finalizers), why))
    for number, each in enumerate(finalizers):
        if qualified:
            problems += qualification_problems(index(path, number), each)
    return problems


def _without_trailing_dash(prefix: str) -> str:
    """Return a prefix of names as it is validated: its last character may be a dash."""
    return f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix


def _owner_problems(owners: Sequence[Document]) -> list[str]:
    path, problems = "metadata.ownerReferences", []
    controller = ""
    for owner in owners:
        version = str(owner.get("apiVersion") or "")
        if not version.strip("/") or version.count("/") > 1:
            problems.append(invalid(child(path, "apiVersion"), version, "version must not be empty"))
        for field in ("kind", "name", "uid"):
            if not owner.get(field):
                problems.append(invalid(child(path, field), "", "must not be empty"))
        if (version, owner.get("kind")) == ("v1", "Event"):
            problems.append(invalid(path, as_json(owner), "/v1, Kind=Event is disallowed from being an owner"))
        if owner.get("controller"):
            this = f"{owner.get('kind')}/{owner.get('name')}"
            if controller:
                why = 'Only one reference can have Controller set to true. Found "true" in references for '
                problems.append(invalid(path, as_json(list(owners)), f"{why}{controller} and {this}"))
            controller = controller or this
    return problems


def without_repeated_owners(document: Document, when: str = "") -> list[str]:
    """Remove owner references that are repeated; return the warning about them. `when` says when they were found."""
    meta = document["metadata"]
    kept: list[Document] = []
    repeated = []
    for owner in meta.get("ownerReferences") or ():
        if owner in kept:
            repeated.append(str(owner.get("uid") or ""))
        else:
            kept.append(owner)
    if not repeated:
        return []
    meta["ownerReferences"] = kept
    return [
        f".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and "
        "may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
        + ", ".join(repeated)
    ]

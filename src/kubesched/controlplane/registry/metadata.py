"""Object metadata: the fields that the server sets, and validation.

From a client's document to one that can be stored.
"""

# upstream: apimachinery/pkg/api/validation/objectmeta.go, apiserver/pkg/registry/rest/{create,meta}.go (v1.36)

from collections.abc import Mapping
from typing import Any

from kubesched.api.field_errors import as_json, child, forbidden, invalid, required
from kubesched.api.labels import label_key_problems, label_value_problems
from kubesched.controlplane.api.documents import Document
from kubesched.controlplane.api.object_meta import IMMUTABLE, annotations_problems
from kubesched.controlplane.api.resources import Resource
from kubesched.controlplane.api.statuses import ApiError
from kubesched.controlplane.api.times import timestamp
from kubesched.controlplane.registry.registry import ResourceRegistry
from kubesched.controlplane.registry.strategy import Strategy

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
    return problems


def _owner_problems(owners: Any) -> list[str]:
    problems = []
    controllers = 0
    for number, owner in enumerate(owners):
        path = f"metadata.ownerReferences[{number}]"
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field):
                problems.append(invalid(child(path, field), owner.get(field) or "", f"{field} must not be empty"))
        controllers += bool(owner.get("controller"))
    if controllers > 1:
        why = "Only one reference can have Controller set to true"
        problems.append(invalid("metadata.ownerReferences", as_json(list(owners)), why))
    return problems

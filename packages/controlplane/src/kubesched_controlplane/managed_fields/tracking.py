"""Tracking: each write makes its field manager the owner of the changed fields.

From a request, and an object before and after it, to the object's managedFields. Fields that the server itself writes
(binding, the start of a deletion, defaults of admission) have no manager.
"""

# upstream: apiserver/pkg/endpoints/handlers/{create,update}.go, apimachinery/pkg/util/managedfields/internal/
# {fieldmanager,skipnonapplied}.go (v1.36)

from functools import lru_cache
from typing import Any

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.query_options import LONGEST_FIELD_MANAGER
from kubesched_controlplane.api.requests import Request, Target
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.conversion import from_storage
from kubesched_controlplane.managed_fields.entries import UPDATE, ManagedFields, Manager, after_update
from kubesched_controlplane.managed_fields.field_sets import NOTHING, Fields
from kubesched_controlplane.managed_fields.list_types import FieldTypeError
from kubesched_controlplane.managed_fields.shape_types import type_of_shape
from kubesched_controlplane.managed_fields.types import UNTYPED, FieldType
from kubesched_controlplane.schema import Schemas

_EMPTY: Document = {}


def manager_of(request: Request, resource: Resource, operation: str = UPDATE, subresource: str = "") -> Manager:
    """Return the field manager of a request: the query's `fieldManager`, or the program in the user agent."""
    name = request.option("fieldManager") or _program(request.headers.get("user-agent", ""))
    return Manager(name, operation, resource.api_version, subresource)


@lru_cache(maxsize=256)
def _program(agent: str) -> str:
    """Return the program name in a user agent."""
    name = "".join(character for character in agent.partition("/")[0] if character.isprintable())
    return name.encode()[:LONGEST_FIELD_MANAGER].decode(errors="ignore") or "unknown"


def type_of_objects(schemas: Schemas, resource: Resource) -> FieldType:
    """Return the type of a resource's objects; untyped JSON if their shape is not known."""
    shape = schemas.for_kind(resource.api_version, resource.kind)
    return UNTYPED if shape is None else type_of_shape(shape)


def managed_fields_of_new(
    field_type: FieldType, target: Target, request: Request, document: Document, excluded: Fields, time: str
) -> ManagedFields:
    """Return the managedFields of a new object: its creator owns all fields except the excluded ones."""
    resource = target.resource
    manager = manager_of(request, resource)
    return _updated((), manager, time, field_type, (_EMPTY, from_storage(resource, document)), excluded)


def managed_fields_after(
    field_type: FieldType,
    target: Target,
    request: Request,
    change: tuple[Document, Document],
    managed_fields: ManagedFields,
    time: str,
) -> ManagedFields:
    """Return the managedFields of an object after a write; `change` is the object before and after it.

    An object without managedFields is not tracked until the first server-side apply.
    """
    resource = target.resource
    if not managed_fields:
        return managed_fields
    manager = manager_of(request, resource, UPDATE, target.subresource)
    before, after = (from_storage(resource, document) for document in change)
    return _updated(managed_fields, manager, time, field_type, (before, after), NOTHING)


def _updated(
    managed_fields: ManagedFields,
    manager: Manager,
    time: str,
    field_type: FieldType,
    change: tuple[Any, Any],
    excluded: Fields,
) -> ManagedFields:
    try:
        return after_update(managed_fields, manager, time, field_type.changed(*change), excluded)
    except FieldTypeError:
        # differs (D-133): the reference drops all entries of such an object
        return managed_fields

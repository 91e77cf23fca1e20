"""Tracking: every write of a client leaves its name at what it has changed.

From a request, and an object before and after it, to the object's owners. What the server itself does (binding, the
beginning of a deletion, what admission fills in) is nobody's.
"""

# upstream: apiserver/pkg/endpoints/handlers/{create,update}.go, apimachinery/pkg/util/managedfields/internal/
# {fieldmanager,skipnonapplied}.go (v1.36)

from functools import lru_cache
from typing import Any

from kubesched.controlplane.api.documents import Document
from kubesched.controlplane.api.query_options import LONGEST_FIELD_MANAGER
from kubesched.controlplane.api.requests import Request, Target
from kubesched.controlplane.api.resources import Resource
from kubesched.controlplane.conversion import from_storage
from kubesched.controlplane.managed_fields.entries import UPDATE, Manager, Owners, updated
from kubesched.controlplane.managed_fields.field_sets import NOTHING, Fields
from kubesched.controlplane.managed_fields.list_types import WayError
from kubesched.controlplane.managed_fields.shape_types import way_of
from kubesched.controlplane.managed_fields.types import UNTYPED, Way
from kubesched.controlplane.schema import Schemas

_EMPTY: Document = {}


def manager_of(request: Request, resource: Resource, operation: str = UPDATE, subresource: str = "") -> Manager:
    """Return who writes: as he calls himself, or by the program that asks."""
    name = request.option("fieldManager") or _program(request.headers.get("user-agent", ""))
    return Manager(name, operation, resource.api_version, subresource)


@lru_cache(maxsize=256)
def _program(agent: str) -> str:
    """Return the name of the program that asks."""
    name = "".join(character for character in agent.partition("/")[0] if character.isprintable())
    return name.encode()[:LONGEST_FIELD_MANAGER].decode(errors="ignore") or "unknown"


def way_of_objects(schemas: Schemas, resource: Resource) -> Way:
    """Return the way in which objects of a resource are owned; all of JSON where their shape is not known."""
    if resource.custom is not None:
        way: Way = resource.custom.way
        return way
    shape = schemas.for_kind(resource.api_version, resource.kind)
    return UNTYPED if shape is None else way_of(shape)


def owners_of_new(
    schemas: Schemas, target: Target, request: Request, document: Document, excluded: Fields, time: str
) -> Owners:
    """Return the owners of a new object: whoever creates it, except for what is excluded."""
    resource = target.resource
    way = way_of_objects(schemas, resource)
    manager = manager_of(request, resource)
    return _updated((), manager, time, way, (_EMPTY, from_storage(resource, document)), excluded)


def owners_after(
    schemas: Schemas, target: Target, request: Request, change: tuple[Document, Document], owners: Owners, time: str
) -> Owners:
    """Return the owners of an object after a write; `change` is the object before and after it.

    An object without owners is not tracked until somebody applies something to it.
    """
    resource = target.resource
    if not owners:
        return owners
    manager = manager_of(request, resource, UPDATE, target.subresource)
    way = way_of_objects(schemas, resource)
    before, after = (from_storage(resource, document) for document in change)
    return _updated(owners, manager, time, way, (before, after), NOTHING)


def _updated(
    owners: Owners, manager: Manager, time: str, way: Way, change: tuple[Any, Any], excluded: Fields
) -> Owners:
    try:
        return updated(owners, manager, time, way.changed(*change), excluded)
    except WayError:
        # differs (owners of fields of an object that cannot be tracked): the reference forgets all owners of what it
        # cannot track
        return owners

"""Parts that all Kubernetes objects share: the struct base, metadata, selectors as written, conditions.

From JSON or YAML documents to frozen structs. Structs hold only what scheduling reads; unknown fields are skipped
while decoding. Lists are tuples and every struct is immutable, so objects may be shared freely and need no garbage
collection.
"""

from datetime import datetime
from typing import Annotated

import msgspec

RawQuantity = str | int | float
ResourceList = dict[str, RawQuantity]
# Go refuses numbers that do not fit.
Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
# Go refuses a time without an offset, and Python cannot compare one with a time that has one.
Timestamp = Annotated[datetime, msgspec.Meta(tz=True)]


class ApiStruct(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """Base of every API struct: frozen, camelCase on the wire, unset fields left out."""


class OwnerReference(ApiStruct, frozen=True):
    """One entry of metadata.ownerReferences."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(ApiStruct, frozen=True):
    """metadata of any object."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Int64 = 0
    creation_timestamp: Timestamp | None = None
    deletion_timestamp: Timestamp | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()

    @property
    def controller(self) -> OwnerReference | None:
        """Return the owner reference of the controller, None if nothing controls the object."""
        # a loop instead of next(): this is asked for every pod
        for owner in self.owner_references:
            if owner.controller:
                return owner
        return None


class LabelSelectorRequirement(ApiStruct, frozen=True):
    """One matchExpressions entry of a label selector."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(ApiStruct, frozen=True):
    """A label selector as written in an object."""

    match_labels: dict[str, str] = {}
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class Condition(ApiStruct, frozen=True):
    """One status condition."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: Timestamp | None = None
    last_probe_time: Timestamp | None = None
    observed_generation: Int64 | None = None


class TypedLocalObjectReference(ApiStruct, frozen=True):
    """A reference to an object by group, kind and name."""

    api_group: str | None = None
    kind: str = ""
    name: str = ""
    namespace: str = ""


class ObjectReference(ApiStruct, frozen=True):
    """A reference to an object of any kind."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    resource_version: str = ""
    field_path: str = ""


class ApiObject(ApiStruct, frozen=True):
    """Base of the kinds: the fields of every object."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()

    @property
    def name(self) -> str:
        """Return metadata.name."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """Return metadata.namespace."""
        return self.metadata.namespace

    @property
    def uid(self) -> str:
        """Return metadata.uid."""
        return self.metadata.uid

    @property
    def full_name(self) -> str:
        """Return `namespace/name`, or the bare name of a cluster-scoped object."""
        meta = self.metadata
        return f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name

"""Resources: groups, versions, names, verbs, subresources; `kinds.declarations` has the built-in ones.

From here come routing, discovery, storage and authorisation. Resources that share a `prefix` are one set of objects in
several versions (events, autoscalers).
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Protocol

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.media_types import PATCHES

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


class Conversion:
    """Converts objects between the version of a resource and the stored one; the default: they are the same."""

    # objects are stored in another version, or may be older than the definition of their kind
    is_needed = False

    def to_storage(self, document: Document) -> Document:
        """Convert a document to the storage version."""
        return document

    def from_storage(self, document: Document) -> Document:
        """Convert a stored document to the version of the resource; the document may be changed in place."""
        return document

    def completed(self, document: Document) -> Document:
        """Convert a document to the stored version; fields unknown to that version are removed."""
        return document

    def refreshed(self, document: Document) -> Document:
        """Prune and default a stored document by the current definition of its kind."""
        return document


SAME_VERSION = Conversion()


class RowPrinter(Protocol):
    """The columns of a kind's table, and the cells of an object."""

    @property
    def columns(self) -> Sequence[Any]:
        """Return the columns."""

    @property
    def cells(self) -> Callable[[Document, datetime], list[Any]]:
        """Return the function from an object and the time to its cells."""

    @property
    def conditions(self) -> Callable[[Document], list[Any]]:
        """Return the function from an object to the conditions of its row."""


class Resource(msgspec.Struct, frozen=True):
    """One resource in one version.

    `subresources` maps a name to its verbs; `prefix` is its place in the store, which a second version shares; without
    verbs beyond `create` nothing is kept (reviews).
    """

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: dict[str, tuple[str, ...]] = {}
    same_prefix_as: str = ""
    conversion: Conversion = SAME_VERSION
    # the version in which objects are stored, if it is not the first one with this prefix
    stored_version: str = ""
    patch_types: tuple[str, ...] = PATCHES
    # an update of the status leaves the metadata as it was
    status_keeps_metadata: bool = False
    # sent with every response
    warnings: tuple[str, ...] = ()
    # the printer of the resource's table; without one it has name and age
    printer: RowPrinter | None = None
    # of kinds without a shape in `schema`: the OpenAPI schema
    schema: Document | None = None
    singular_name: str = ""
    list_kind_name: str = ""

    @property
    def api_version(self) -> str:
        """Return the apiVersion of objects: group/version, or the version in the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """Return the name with its group, for messages."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def singular(self) -> str:
        """Return the singular name."""
        return self.singular_name or self.kind.lower()

    @property
    def list_kind(self) -> str:
        """Return the kind of a list."""
        return self.list_kind_name or f"{self.kind}List"

    @property
    def prefix(self) -> str:
        """Return the prefix of the resource's objects in the store."""
        return self.same_prefix_as or self.qualified


class Catalog:
    """The resources, found by group, version and name."""

    def __init__(self, resources: tuple[Resource, ...]) -> None:
        self._built_in = resources
        # called after the served resources have changed
        self.watchers: list[Callable[[], None]] = []
        self._take(resources)

    def define(self, resources: Iterable[Resource]) -> None:
        """Serve these resources besides the built-in ones."""
        self._take((*self._built_in, *resources))
        for told in list(self.watchers):
            told()

    def _take(self, resources: tuple[Resource, ...]) -> None:
        self.resources = resources
        self._by_path = {(each.group, each.version, each.plural): each for each in resources}
        self._by_kind = {(each.api_version, each.kind): each for each in resources}
        # of several versions the first
        self.by_prefix = {each.prefix: each for each in reversed(resources)}

    def is_built_in(self, group: str, version: str) -> bool:
        """Return whether a version of a group is served without any CustomResourceDefinition."""
        return any((each.group, each.version) == (group, version) for each in self._built_in)

    def is_taken(self, group: str, version: str, plural: str) -> bool:
        """Return whether a built-in kind has the paths of a defined one, or its place in the store."""
        return self.is_built_in(group, version) or any(
            (each.group, each.plural) == (group, plural) for each in self._built_in
        )

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        """Return a resource by the parts of its path."""
        return self._by_path.get((group, version, plural))

    def of_kind(self, api_version: str, kind: str) -> Resource | None:
        """Return a resource by the apiVersion and kind of its objects."""
        return self._by_kind.get((api_version, kind))

    def versions(self) -> dict[str, list[str]]:
        """Return the versions of each group, in order; the core group is the empty text."""
        found: dict[str, list[str]] = {}
        for each in self.resources:
            if each.version not in found.setdefault(each.group, []):
                found[each.group].append(each.version)
        return found

    def in_version(self, group: str, version: str) -> list[Resource]:
        """Return the resources of a group in a version."""
        return [each for each in self.resources if (each.group, each.version) == (group, version)]

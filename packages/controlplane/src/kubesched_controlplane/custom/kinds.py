"""Custom kinds: a resource, a decoder, a conversion and a strategy for each served version of a definition.

From an accepted definition to kinds that are served like built-in ones.
"""

# upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go (v1.36)

import re
from functools import partial
from typing import Any

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.media_types import JSON_PATCH, MERGE_PATCH
from kubesched_controlplane.api.resources import Conversion, Resource
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.custom.decoder import CustomDecoder, complete
from kubesched_controlplane.custom.field_types import config_problems, type_of_objects
from kubesched_controlplane.custom.printing import printer_of
from kubesched_controlplane.custom.strategy import CustomStrategy
from kubesched_controlplane.custom.structure import prune
from kubesched_controlplane.registry.registry import DefinedKind

_SUBRESOURCE_VERBS = ("get", "patch", "update")
_VERSION = re.compile(r"v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?", re.ASCII)


class CustomConversion(Conversion):
    """Converts between a version of a custom kind and the storage version, by the current schemas."""

    is_needed = True

    def __init__(self, definition: Document, version: Document) -> None:
        spec = definition["spec"]
        storage = next(each for each in spec["versions"] if each["storage"])
        self.api_version = f"{spec['group']}/{version['name']}"
        self.stored_version = f"{spec['group']}/{storage['name']}"
        self._storage_name, self._kind = storage["name"], spec["names"]["kind"]
        self._by_webhook = (spec.get("conversion") or {}).get("strategy") == "Webhook"
        # objects may be stored in a version that was the storage version earlier
        self._schemas = {f"{spec['group']}/{each['name']}": _schema_of(each) for each in spec["versions"]}

    def to_storage(self, document: Document) -> Document:
        """Return a document with the apiVersion of the storage version. Raises ApiError 500 without a conversion."""
        self._check(self.api_version, self.stored_version)
        return {**document, "apiVersion": self.stored_version}

    def completed(self, document: Document) -> Document:
        """Convert a document, in place, to the stored version; fields unknown to its schema are pruned."""
        document["apiVersion"] = self.stored_version
        if self.api_version != self.stored_version:
            prune(document, self._schemas[self.stored_version], resource=True)
        return document

    def from_storage(self, document: Document) -> Document:
        """Convert a stored document, in place, to this version by the current schemas.

        Defaults come from the version that it was stored in; fields unknown to this version are pruned. Raises
        ApiError 500 if only a webhook can convert the document.
        """
        stored = document.get("apiVersion", "")
        self._check(stored, self.api_version)
        own = self._schemas[self.api_version]
        schema = self._schemas.get(stored, own)
        document["apiVersion"] = self.api_version
        prune(document, schema, resource=True)
        complete(document, schema)
        if stored != self.api_version:
            prune(document, own, resource=True)
        return document

    def _check(self, given: str, wanted: str) -> None:
        """Raise ApiError 500 if a webhook would have to convert between two versions."""
        # differs (D-157): the reference calls the webhook
        if self._by_webhook and given != wanted:
            why = f"this server calls no conversion webhooks; use the storage version {self._storage_name}"
            raise ApiError(500, "", f"conversion webhook for {given}, Kind={self._kind} failed: {why}")

    def refreshed(self, document: Document) -> Document:
        """Prune and default a stored document by the current definition."""
        return self.to_storage(self.from_storage(document))


class CustomKind:
    """One version of a custom kind: its resource, its decoder and its entry in the registry."""

    def __init__(self, definition: Document, version: Document) -> None:
        spec, names = definition["spec"], definition["status"]["acceptedNames"]
        schema, wanted = _schema_of(version), version.get("subresources") or {}
        conversion = CustomConversion(definition, version)
        self.resource = Resource(
            spec["group"],
            version["name"],
            names["plural"],
            names["kind"],
            namespaced=spec["scope"] == "Namespaced",
            short_names=tuple(names.get("shortNames") or ()),
            categories=tuple(names.get("categories") or ()),
            subresources={name: _SUBRESOURCE_VERBS for name in ("status", "scale") if wanted.get(name) is not None},
            conversion=conversion,
            stored_version=conversion.stored_version,
            # custom kinds have no strategic merge patch
            patch_types=(JSON_PATCH, MERGE_PATCH),
            status_keeps_metadata=True,
            warnings=tuple(deprecation_warnings(spec, version)),
            schema=schema,
            printer=printer_of(version.get("additionalPrinterColumns"), conversion.from_storage),
            singular_name=names["singular"],
            list_kind_name=names["listKind"],
        )
        scale: Document = wanted.get("scale") or {}
        selectable = tuple(each["jsonPath"] for each in version.get("selectableFields") or ())
        is_terminating = bool(condition_of(definition, "Terminating").get("status") == "True")
        strategy = CustomStrategy(schema, scale or None, selectable, is_terminating=is_terminating)
        self.defined = DefinedKind(strategy, type_of_objects(schema), partial(config_problems, schema=schema), scale)
        self.decoder = CustomDecoder(self.resource.api_version, self.resource.kind, schema)

    @property
    def key(self) -> tuple[str, str]:
        """Return apiVersion and kind."""
        return self.resource.api_version, self.resource.kind


def _schema_of(version: Document) -> Document:
    found: Document = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    return found


def condition_of(definition: Document, kind: str) -> Document:
    """Return a condition of a definition, an empty document if it is not set."""
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each["type"] == kind), {})


def kinds_of(definition: Document) -> list[CustomKind]:
    """Return the served versions of an established definition."""
    return [CustomKind(definition, version) for version in definition["spec"]["versions"] if version["served"]]


def version_rank(name: str) -> tuple[Any, ...]:
    """Return the sort key of a version: GA, beta, alpha, each newest first; then other names alphabetically."""
    found = _VERSION.fullmatch(name)
    if found is None:
        return (1, name)
    stage = {None: 0, "beta": 1, "alpha": 2}[found[2]]
    return (0, stage, -int(found[1]), -int(found[3] or 0))


def deprecation_warnings(spec: Document, version: Document) -> list[str]:
    """Return the warnings for clients that use a deprecated version."""
    if not version.get("deprecated"):
        return []
    if version.get("deprecationWarning") is not None:
        return [version["deprecationWarning"]]
    group, kind = spec["group"], spec["names"]["kind"]
    words = f"{group}/{version['name']} {kind} is deprecated"
    newer = [
        each["name"]
        for each in spec["versions"]
        if each["served"] and not each.get("deprecated") and version_rank(each["name"]) < version_rank(version["name"])
    ]
    return [f"{words}; use {group}/{min(newer, key=version_rank)} {kind}" if newer else words]

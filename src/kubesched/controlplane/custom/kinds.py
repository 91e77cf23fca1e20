"""What a defined kind brings along, one for each version that is served: all that the verbs ask a resource for.

From a definition that was accepted to resources.
"""

# upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go (v1.36)

import re
from typing import Any

from kubesched.controlplane.api.documents import Document
from kubesched.controlplane.api.resources import Resource
from kubesched.controlplane.custom.decoder import CustomDecoder, complete
from kubesched.controlplane.custom.field_types import config_problems, type_of_objects
from kubesched.controlplane.custom.printing import printer_of
from kubesched.controlplane.custom.strategy import CustomStrategy
from kubesched.controlplane.custom.structure import prune
from kubesched.controlplane.managed_fields.validation import Problem

_SUBRESOURCE_VERBS = ("get", "patch", "update")
_VERSION = re.compile(r"v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?", re.ASCII)


class CustomKind:
    """One version of a defined kind."""

    def __init__(self, definition: Document, version: Document) -> None:
        spec, names = definition["spec"], definition["status"]["acceptedNames"]
        storage = next(each for each in spec["versions"] if each["storage"])
        subresources = version.get("subresources") or {}
        self.api_version = f"{spec['group']}/{version['name']}"
        self.stored_version = f"{spec['group']}/{storage['name']}"
        # objects may be stored in a version that is not the one for that any more
        self._schemas = {f"{spec['group']}/{each['name']}": _schema_of(each) for each in spec["versions"]}
        self.singular: str = names["singular"]
        self.list_kind: str = names["listKind"]
        self.schema = _schema_of(version)
        self.scale: Document = subresources.get("scale") or {}
        self.is_terminating = bool(condition_of(definition, "Terminating").get("status") == "True")
        self.warnings = deprecation_warnings(spec, version)
        selectable = tuple(each["jsonPath"] for each in version.get("selectableFields") or ())
        self.strategy = CustomStrategy(self.schema, self.scale or None, selectable, is_terminating=self.is_terminating)
        self.decoder = CustomDecoder(self.api_version, names["kind"], self.schema)
        self.field_type = type_of_objects(self.schema)
        self.printer = printer_of(version.get("additionalPrinterColumns"), self.from_storage)

    def to_storage(self, document: Document) -> Document:
        """Return a document that says that it is of the version that is stored."""
        return {**document, "apiVersion": self.stored_version}

    def kept(self, document: Document) -> Document:
        """Return a document as it is stored, changed in place: with what the version for that knows."""
        document["apiVersion"] = self.stored_version
        if self.api_version != self.stored_version:
            prune(document, self._schemas[self.stored_version], resource=True)
        return document

    def from_storage(self, document: Document) -> Document:
        """Return a stored document in this version, changed in place, as the definition has it now.

        Defaults are those of the version that it is stored in; what this version does not know is left out.
        """
        stored = document.get("apiVersion", "")
        schema = self._schemas.get(stored, self.schema)
        document["apiVersion"] = self.api_version
        prune(document, schema, resource=True)
        complete(document, schema)
        if stored != self.api_version:
            prune(document, self.schema, resource=True)
        return document

    def config_problems(self, config: Any) -> list[Problem]:
        """Return the problems of an applied configuration."""
        return config_problems(config, self.schema)


def _schema_of(version: Document) -> Document:
    found: Document = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    return found


def condition_of(definition: Document, kind: str) -> Document:
    """Return a condition of a definition, an empty one if it has none."""
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each["type"] == kind), {})


def resources_of(definition: Document) -> list[Resource]:
    """Return the resources that an established definition stands for."""
    spec, names = definition["spec"], definition["status"]["acceptedNames"]
    found = []
    for version in spec["versions"]:
        if not version["served"]:
            continue
        kind = CustomKind(definition, version)
        wanted = version.get("subresources") or {}
        found.append(
            Resource(
                spec["group"],
                version["name"],
                names["plural"],
                names["kind"],
                namespaced=spec["scope"] == "Namespaced",
                short_names=tuple(names.get("shortNames") or ()),
                categories=tuple(names.get("categories") or ()),
                subresources={name: _SUBRESOURCE_VERBS for name in ("status", "scale") if wanted.get(name) is not None},
                custom=kind,
            )
        )
    return found


def version_rank(name: str) -> tuple[Any, ...]:
    """Return the sort key of a version: stable ones first, newer ones first, then all others by name."""
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

"""The strategy of CustomResourceDefinitions: defaults, immutable fields and validation."""

# upstream: apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go,
# pkg/apis/apiextensions/{v1/defaults,v1/conversion,validation/validation}.go (v1.36)

from collections.abc import Iterator
from typing import Any

import msgspec

from kubesched.api.field_errors import index, invalid
from kubesched.api.go_text import quote
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import bad_request
from kubesched_controlplane.custom.definition_checks import name_problems, names_problems, spec_problems
from kubesched_controlplane.custom.formats import known_format
from kubesched_controlplane.custom.kinds import condition_of
from kubesched_controlplane.custom.structural_checks import schemas_in
from kubesched_controlplane.custom.structure import Schema
from kubesched_controlplane.kinds.checks import immutable
from kubesched_controlplane.registry.strategy import Strategy, StrategyContext
from kubesched_controlplane.schema import library
from kubesched_controlplane.schema.shapes import Shape
from kubesched_controlplane.schema.strict_decoder import ShapeError, StrictDecoder
from kubesched_controlplane.schema.structs import read_scalar, struct_of

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
ESTABLISHED, NAMES_ACCEPTED, TERMINATING = "Established", "NamesAccepted", "Terminating"
_VERSION = "apiextensions.k8s.io/v1"
_ONE, _MANY = ("not",), ("allOf", "oneOf", "anyOf")


class CustomResourceDefinitionStrategy(Strategy):
    """The strategy of CustomResourceDefinitions."""

    unconditional_update = False
    qualifies_finalizers = False

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults."""
        spec = _filled_in(new)
        new["status"] = {"acceptedNames": {"plural": "", "kind": ""}}
        _note_storage(spec, new["status"])

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new definition."""
        return name_problems(new) + spec_problems(new) + _stored_problems(new)

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Set defaults."""
        _note_storage(_filled_in(new), new["status"])

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        problems = spec_problems(new, old)
        spec, before = new["spec"], old["spec"]
        if condition_of(old, ESTABLISHED).get("status") == "True":
            problems += immutable("spec.scope", spec["scope"], before["scope"])
            problems += immutable("spec.names.kind", spec["names"]["kind"], before["names"]["kind"])
        problems += immutable("spec.group", spec["group"], before["group"])
        problems += immutable("spec.names.plural", spec["names"]["plural"], before["names"]["plural"])
        return problems + _stored_problems(new)

    def prepare_status(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Restore all fields of the old definition except status and metadata; complete the status."""
        super().prepare_status(new, old, context)
        status = new.setdefault("status", {})
        status.setdefault("acceptedNames", {"plural": "", "kind": ""})
        if not status.get("storedVersions"):
            _note_storage(new["spec"], status)

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        return names_problems("status.acceptedNames", new["status"]["acceptedNames"])

    def warnings(self, new: Document, old: Document | None) -> list[str]:
        """Return warnings about unknown formats that the old definition does not have."""
        before = [] if old is None else list(_unknown_formats(old))
        return [f"unrecognized format {quote(name)}" for name in _unknown_formats(new) if name not in before]

    def begin_delete(self, document: Document) -> None:
        """Add the cleanup finalizer and the Terminating condition: the objects of the kind are deleted first."""
        meta = document["metadata"]
        finalizers = meta.get("finalizers") or []
        meta["finalizers"] = finalizers if CLEANUP in finalizers else [*finalizers, CLEANUP]
        condition = {
            "type": TERMINATING,
            "status": "True",
            "lastTransitionTime": meta["deletionTimestamp"],
            "reason": "InstanceDeletionPending",
            "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        }
        others = [each for each in document["status"].get("conditions") or () if each["type"] != TERMINATING]
        document["status"]["conditions"] = [*others, condition]


def _note_storage(spec: Document, status: Document) -> None:
    """Add the storage version to status.storedVersions."""
    storage = next((each["name"] for each in spec["versions"] if each["storage"]), None)
    stored = status.get("storedVersions") or []
    if storage is not None and storage not in stored:
        stored = [*stored, storage]
    if stored:
        status["storedVersions"] = stored


def _stored_problems(document: Document) -> list[str]:
    path, stored = "status.storedVersions", document["status"].get("storedVersions") or []
    if not stored:
        return [invalid(path, None, "must have at least one stored version")]
    names = [each["name"] for each in document["spec"]["versions"]]
    storage = [each["name"] for each in document["spec"]["versions"] if each["storage"]]
    lacking = [invalid(path, stored, f"must have the storage version {name}") for name in storage if name not in stored]
    return lacking + [
        invalid(
            index(path, number),
            name,
            f"missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions "
            f"until a storage migration ensures no data remains persisted in {name} and removes {name} from "
            "status.storedVersions",
        )
        for number, name in enumerate(stored)
        if name not in names
    ]


def _filled_in(document: Document) -> Document:
    """Set the defaults of a definition; return its spec."""
    spec: Document = document["spec"]
    names = spec["names"]
    if not names.get("singular"):
        names["singular"] = names["kind"].lower()
    if not names.get("listKind") and names["kind"]:
        names["listKind"] = f"{names['kind']}List"
    if spec.get("conversion") is None:
        spec["conversion"] = {"strategy": "None"}
    service = (((spec["conversion"].get("webhook") or {}).get("clientConfig")) or {}).get("service")
    if service is not None and service.get("port") is None:
        service["port"] = 443
    spec.setdefault("versions", [])
    for version in spec["versions"]:
        schema = version.get("schema") or {}
        if schema.get("openAPIV3Schema") is not None:
            schema["openAPIV3Schema"] = _normal(schema["openAPIV3Schema"])
    return spec


# -- schemas within schemas


def _unknown_formats(document: Document) -> Iterator[str]:
    for version in document["spec"]["versions"]:
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        for each in schemas_in(schema) if schema is not None else ():
            name = each.get("format") or ""
            if name and not known_format(each.get("type") or "", name):
                yield name


def _normal(schema: Schema) -> Schema:
    """Return a schema whose nested schemas (of `items`, `additionalProperties` and others) are decoded, too."""
    found = dict(schema)
    for name in _ONE:
        if name in found:
            found[name] = _normal(found[name])
    for name in _MANY:
        if name in found:
            found[name] = [_normal(each) for each in found[name]]
    for name in ("properties", "patternProperties", "definitions"):
        if name in found:
            found[name] = {key: _normal(each) for key, each in found[name].items()}
    for name in ("additionalProperties", "additionalItems"):
        if name in found and not isinstance(found[name], bool):
            if not isinstance(found[name], dict):
                raise _unreadable("boolean or JSON schema expected")
            found[name] = _decoded(found[name])
    if "items" in found:
        items = found["items"]
        found["items"] = [_decoded(each) for each in items] if isinstance(items, list) else _decoded(items)
    return found


def _decoded(raw: Any) -> Schema:
    """Decode a nested schema, without unknown fields."""
    shape = library().named(_VERSION, "JSONSchemaProps")
    assert isinstance(shape, Shape)
    try:
        found = StrictDecoder().decode(shape, raw if isinstance(raw, dict) else {})
        schema: Schema = msgspec.to_builtins(msgspec.convert(found, struct_of(shape), dec_hook=read_scalar))
    except (ShapeError, msgspec.ValidationError) as error:
        raise _unreadable(str(error)) from None
    return _normal(schema)


def _unreadable(words: str) -> Exception:
    kind = "CustomResourceDefinition"
    return bad_request(f'{kind} in version "v1" cannot be handled as a {kind}: {words}')

"""The strategy of a custom kind, by its schema."""

# upstream: apiextensions-apiserver/pkg/registry/customresource/{strategy,status_strategy,validator}.go (v1.36)

from typing import TYPE_CHECKING, Any

from kubesched.api.field_errors import invalid
from kubesched.api.go_text import quote
from kubesched.api.labels import label_key_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.object_meta import qualification_problems
from kubesched_controlplane.api.statuses import forbidden
from kubesched_controlplane.custom.embedded import embedded_problems
from kubesched_controlplane.custom.json_paths import parts_of
from kubesched_controlplane.custom.list_types import list_problems
from kubesched_controlplane.custom.structural_checks import VALIDATIONS, schemas_in
from kubesched_controlplane.custom.structure import Schema
from kubesched_controlplane.custom.validating import MISSING, is_blocking, value_problems
from kubesched_controlplane.registry.strategy import Strategy, StrategyContext
from kubesched_controlplane.schema.go_words import printed, type_name
from kubesched_controlplane.storage.store import Stored

if TYPE_CHECKING:
    from kubesched_controlplane.custom.rules import ValidationRules

UNCHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)
TERMINATING_MESSAGE = "create not allowed while custom resource definition is terminating"
MOST_REPLICAS = 2**31 - 1


class CustomStrategy(Strategy):
    """The strategy of one version of a custom kind."""

    unconditional_update = False
    qualifies_finalizers = False

    def __init__(
        self, schema: Schema, scale: Document | None, selectable: tuple[str, ...], *, is_terminating: bool = False
    ) -> None:
        self._is_terminating = is_terminating
        self._schema = schema
        self._scale = scale
        self._selectable = {path.removeprefix("."): parts_of(path) for path in selectable}
        self._rules = _validation_rules_of(schema)

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Raise ApiError 403 if the definition is terminating."""
        if self._is_terminating:
            raise forbidden(context.resource, new["metadata"].get("name", ""), TERMINATING_MESSAGE)

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new object."""
        problems = value_problems(new, self._schema) + self._scale_problems(new, "spec", "status")
        problems += embedded_problems(new, self._schema) + list_problems(new, self._schema)
        return problems + self._by_rules(new, None, problems)

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Increment the generation if anything but the metadata changes."""
        if _without_metadata(new) != _without_metadata(old):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of an update; unchanged invalid values are ignored (ratcheting)."""
        problems = value_problems(new, self._schema, old) + self._scale_problems(new, "spec", "status")
        problems += embedded_problems(new, self._schema)
        if not list_problems(old, self._schema):
            problems += list_problems(new, self._schema)
        return problems + self._by_rules(new, old, problems)

    def prepare_status(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Restore all fields of the old object except the status."""
        status, found = new.get("status"), "status" in new
        version = new["metadata"].get("resourceVersion")
        new.clear()
        new |= old
        if version:
            new["metadata"]["resourceVersion"] = version
        new.pop("status", None)
        if found:
            new["status"] = status

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        problems: list[str] = []
        schema = self._schema.get("properties", {}).get("status")
        if "status" in new and schema is not None:
            problems += value_problems(new["status"], schema, old.get("status", MISSING), "status")
        problems += self._scale_problems(new, "status")
        if not list_problems(old, self._schema):
            problems += list_problems(new, self._schema)
        return problems + self._by_rules(new, old, problems)

    def warnings(self, new: Document, old: Document | None) -> list[str]:
        """Return warnings about added finalizers without a qualified name."""
        before = set((old or {"metadata": {}})["metadata"].get("finalizers") or ())
        warnings = []
        for name in sorted(set(new["metadata"].get("finalizers") or ()) - before):
            start = f"metadata.finalizers: {quote(name)}: "
            warnings += [start + problem for problem in label_key_problems(name)]
            if qualification_problems("", name):
                path = " including a path (/)" if "." in name else ""
                words = f"prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other"
                warnings.append(f"{start}{words} finalizer writers")
        return warnings

    def _by_rules(self, new: Document, old: Document | None, problems: list[str]) -> list[str]:
        """Return the problems by the validation rules; they are not evaluated for an object with blocking problems."""
        if self._rules is None:
            return []
        if any(map(is_blocking, problems)):
            return [invalid("", None, UNCHECKED)]
        return self._rules.problems(new, old)

    def _scale_problems(self, document: Document, *parts: str) -> list[str]:
        problems: list[str] = []
        if self._scale is None:
            return problems
        for part in parts:
            path = self._scale[f"{part}ReplicasPath"]
            value, why = nested(document, path, int)
            if why:
                problems.append(invalid(path, 0, why))
            elif value is not None and value < 0:
                problems.append(invalid(path, value, "should be a non-negative integer"))
            elif value is not None and value > MOST_REPLICAS:
                problems.append(invalid(path, value, f"should be less than or equal to {MOST_REPLICAS}"))
        selector = self._scale.get("labelSelectorPath")
        if "status" in parts and selector:
            why = nested(document, selector, str)[1]
            problems += [invalid(selector, "", why)] if why else []
        return problems

    # -- selectors

    def selectable(self) -> frozenset[str]:
        """Return the names of the fields that field selectors may use."""
        return frozenset(self._selectable)

    def field_of(self, stored: Stored, field: str) -> str:
        """Return the value of a selectable field of an object."""
        value: Any = stored.document()
        for part in self._selectable[field]:
            value = value.get(part) if isinstance(value, dict) else None
        return "" if value is None else printed(value)


def _validation_rules_of(schema: Schema) -> "ValidationRules | None":
    """Return the rules in a schema, None if there are none."""
    if not any(each.get(VALIDATIONS) for each in schemas_in(schema)):
        return None
    # CEL takes a while to import, and few kinds have rules
    from kubesched_controlplane.custom.rules import ValidationRules

    return ValidationRules(schema)


def nested(document: Document, path: str, expected: type) -> tuple[Any, str]:
    """Return the value at a path, None if there is none, and the problem of a value of another type."""
    value: Any = document
    parts = path.removeprefix(".").split(".")
    start = f".{'.'.join(parts)} accessor error: "
    for part in parts:
        if not isinstance(value, dict):
            return None, f"{start}{_is_of_type(value)}, expected map[string]interface{{}}"
        if part not in value:
            return None, ""
        value = value[part]
    if not isinstance(value, expected) or isinstance(value, bool):
        return None, f"{start}{_is_of_type(value)}, expected {_GO[expected]}"
    return value, ""


def _is_of_type(value: Any) -> str:
    return f"{printed(value)} is of the type {'<nil>' if value is None else type_name(value)}"


_GO = {int: "int64", str: "string"}


def _without_metadata(document: Document) -> Document:
    return {name: each for name, each in document.items() if name != "metadata"}

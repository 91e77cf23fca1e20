"""Validation of definitions, except for their schemas.

From definitions to problems. A part that all versions share is reported once, with the path of the definition as a
whole, as in the reference.
"""

# upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, v1/conversion.go,
# pkg/apihelpers/helpers.go (v1.36)

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from kubesched.api.field_errors import Shown, as_json, child, forbidden, index, invalid, not_supported, required
from kubesched.api.go_text import quote
from kubesched.api.labels import subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.custom.json_paths import parts_of
from kubesched_controlplane.custom.rule_forms import go_struct
from kubesched_controlplane.custom.schema_checks import schema_problems
from kubesched_controlplane.kinds.admission.webhooks import client_problems, review_version_problems
from kubesched_controlplane.kinds.checks import dns_1035_problems, too_many

APPROVED = "api-approved.kubernetes.io"
MOST_SELECTABLE = 8
LONGEST_DEPRECATION = 256
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_PULL = "see https://github.com/kubernetes/enhancements/pull/1111"
# parts of a version -> their names in paths if all versions share them
_SHARED = {
    "schema": "validation",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}


def name_problems(document: Document) -> list[str]:
    """Return the problems of the name of a definition, which must be PLURAL.GROUP."""
    spec = document["spec"]
    name = document["metadata"].get("name") or ""
    if not name or name == f"{spec['names']['plural']}.{spec['group']}":
        return []
    return [invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')]


def spec_problems(document: Document, old: Document | None = None) -> list[str]:
    """Return the problems of the spec of a definition."""
    spec = document["spec"]
    shared = {field for field in _SHARED if _is_shared(spec["versions"], field)}
    problems = _group_problems(spec) + _scope_problems(spec)
    for number, version in enumerate(spec["versions"]):
        if (version.get("schema") or {}).get("openAPIV3Schema") is None:
            problems.append(required(f"spec.versions[{number}].schema.openAPIV3Schema"))
    for number, version in enumerate(spec["versions"]):
        problems += _version_problems(f"spec.versions[{number}]", version, shared, old)
    problems += _versions_problems(spec, shared)
    for field in ("plural", "singular", "kind", "listKind"):
        if not spec["names"].get(field):
            problems.append(required(f"spec.names.{field}"))
    problems += names_problems("spec.names", spec["names"])
    if spec["versions"]:
        for field in _SHARED:
            if field in shared:
                problems += _part_problems("spec", field, spec["versions"][0], _SHARED[field], old)
    problems += _conversion_problems(spec["conversion"])
    problems += _approval_problems(document, old)
    if spec.get("preserveUnknownFields") and not (old or {"spec": {}})["spec"].get("preserveUnknownFields"):
        why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        problems.append(invalid("spec.preserveUnknownFields", as_json(True), why))
    return problems


def _is_shared(versions: list[Document], field: str) -> bool:
    return all(each.get(field) == versions[0].get(field) for each in versions)


def _group_problems(spec: Document) -> list[str]:
    group = spec["group"]
    if not group:
        return [required("spec.group")]
    found = subdomain_problems(group)
    if found:
        return [invalid("spec.group", group, ",".join(found))]
    return [] if "." in group else [invalid("spec.group", group, "should be a domain with at least one dot")]


def _scope_problems(spec: Document) -> list[str]:
    scope = spec["scope"]
    if not scope:
        return [required("spec.scope")]
    known = ("Cluster", "Namespaced")
    return [] if scope in known else [not_supported("spec.scope", scope, known)]


# -- versions


def _version_problems(path: str, version: Document, shared: set[str], old: Document | None) -> list[str]:
    problems = []
    found = dns_1035_problems(version["name"])
    if found:
        problems.append(invalid(child(path, "name"), version["name"], ",".join(found)))
    warning = version.get("deprecationWarning")
    problems += [
        invalid(child(path, "deprecationWarning"), warning, why)
        for why in _deprecation_problems(bool(version.get("deprecated")), warning)
    ]
    for field in _SHARED:
        if field not in shared:
            problems += _part_problems(path, field, version, field, old)
    return problems


def _deprecation_problems(deprecated: bool, warning: str | None) -> Iterator[str]:
    if warning is None:
        return
    if not deprecated:
        yield "can only be set for deprecated versions"
        return
    if len(warning.encode()) > LONGEST_DEPRECATION:
        yield f"must be <= {LONGEST_DEPRECATION} characters long"
    if not warning:
        yield "must not be an empty string"
    bad = next((at for at, each in enumerate(warning) if not each.isprintable()), None)
    if bad is not None:
        place = len(warning[:bad].encode())
        yield f"must only contain printable UTF-8 characters; non-printable character found at index {place}"


def _versions_problems(spec: Document, shared: set[str]) -> list[str]:
    path, versions = "spec.versions", spec["versions"]
    names = [each["name"] for each in versions]
    shown = Shown(f"[{','.join(_as_the_reference_shows(each, shared) for each in versions)}]")
    problems: list[str] = []
    if len(set(names)) < len(names):
        problems.append(invalid(path, shown, "must contain unique version names"))
    if sum(bool(each["storage"]) for each in versions) != 1:
        problems.append(invalid(path, shown, "must have exactly one version marked as storage version"))
    first = dns_1035_problems(names[0]) if names else []
    return problems + ([invalid("spec.version", names[0], ",".join(first))] if first else [])


def _as_the_reference_shows(version: Document, shared: set[str]) -> str:
    """Return a version as Go prints it, without the parts that all versions share."""
    fields = ("name", "served", "storage", "deprecated", "deprecationWarning", *_SHARED)
    found = {field: None if field in shared else version.get(field) for field in fields}
    return go_struct(found | {"deprecated": bool(version.get("deprecated"))})


def _part_problems(path: str, field: str, version: Document, name: str, old: Document | None) -> list[str]:
    """Return the problems of a part of a version, or of a part that all versions share."""
    value = version.get(field)
    here = child(path, name)
    match field:
        case "schema":
            has_status = (version.get("subresources") or {}).get("status") is not None
            schema = (value or {}).get("openAPIV3Schema")
            return [] if schema is None else schema_problems(here, schema, has_status=has_status)
        case "subresources":
            return _scale_problems(here, (value or {}).get("scale"))
        case "additionalPrinterColumns":
            columns = enumerate(value or ())
            return [each for number, column in columns for each in _column_problems(index(here, number), column)]
    return _selectable_problems(here, value or [], (version.get("schema") or {}).get("openAPIV3Schema") or {})


def _scale_problems(path: str, scale: Document | None) -> list[str]:
    if scale is None:
        return []
    problems = []
    for field, roots in (
        ("specReplicasPath", (".spec.",)),
        ("statusReplicasPath", (".status.",)),
        ("labelSelectorPath", (".spec.", ".status.")),
    ):
        here, value = f"{path}.scale.{field}", scale.get(field)
        if not value:
            problems += [] if field == "labelSelectorPath" else [required(here)]
        elif not value.startswith("."):
            problems.append(invalid(here, value, "must be a simple json path starting with ."))
        elif not value.startswith(roots):
            where = "either .spec or .status" if len(roots) > 1 else roots[0].removesuffix(".")
            problems.append(invalid(here, value, f"should be a json path under {where}"))
    return problems


def _column_problems(path: str, column: Document) -> list[str]:
    problems = [] if column["name"] else [required(child(path, "name"))]
    one_of = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not column["type"]:
        problems.append(required(child(path, "type"), one_of))
    elif column["type"] not in _COLUMN_TYPES:
        problems.append(invalid(child(path, "type"), column["type"], one_of))
    form = column.get("format")
    if form and form not in _COLUMN_FORMATS:
        problems.append(invalid(child(path, "format"), form, f"must be one of {','.join(_COLUMN_FORMATS)}"))
    json_path = column["jsonPath"]
    if not json_path:
        problems.append(required(child(path, "JSONPath")))
    elif not json_path.startswith("."):
        problems.append(invalid(child(path, "JSONPath"), json_path, "must be a simple json path starting with ."))
    return problems


def _selectable_problems(path: str, fields: list[Document], schema: Document) -> list[str]:
    problems = []
    seen: set[tuple[str, ...]] = set()
    for number, field in enumerate(fields):
        here, text = child(index(path, number), "jsonPath"), field["jsonPath"]
        if not text:
            problems.append(required(here))
            continue
        parts = parts_of(text)
        found: Any = schema
        for part in parts:
            found = (found or {}).get("properties", {}).get(part)
        if not text.startswith("."):
            start = re.split(r"[.\[]", text, maxsplit=1)[0]
            problems.append(invalid(here, text, f"is an invalid path: expected [ or . but got: {start}"))
            continue
        if found is None:
            problems.append(invalid(here, text, "is an invalid path: does not refer to a valid field"))
            continue
        if parts[:1] == ("metadata",):
            problems.append(invalid(here, text, "must not point to fields in metadata"))
        if found.get("type") not in ("string", "boolean", "integer"):
            why = (
                "must point to a field of type string, boolean or integer. Enum string fields and strings with formats "
            )
            problems.append(invalid(here, text, f"{why}are allowed."))
        if parts in seen:
            problems.append(f"{here}: Duplicate value: {quote(text)}")
        seen.add(parts)
    if len(seen) > MOST_SELECTABLE:
        problems.append(too_many(path, len(seen), MOST_SELECTABLE))
    return problems


# -- names, conversion, approval


def names_problems(path: str, names: Document) -> list[str]:
    """Return the problems of the names of a kind."""
    problems = []
    for field in ("plural", "singular", "kind", "listKind"):
        value = names.get(field) or ""
        mixed = field in ("kind", "listKind")
        found = dns_1035_problems(value.lower() if mixed else value) if value else []
        if found:
            start = "may have mixed case, but should otherwise match: " if mixed else ""
            problems.append(invalid(child(path, field), value, start + ",".join(found)))
    for number, value in enumerate(names.get("shortNames") or ()):
        if found := dns_1035_problems(value):
            problems.append(invalid(index(child(path, "shortNames"), number), value, ",".join(found)))
    if names.get("kind") and names["kind"] == names.get("listKind"):
        problems.append(invalid(child(path, "listKind"), names["kind"], "kind and listKind may not be the same"))
    for number, value in enumerate(names.get("categories") or ()):
        if found := dns_1035_problems(value):
            problems.append(invalid(index(child(path, "categories"), number), value, ",".join(found)))
    return problems


def _conversion_problems(conversion: Document) -> list[str]:
    path, strategy, webhook = "spec.conversion", conversion["strategy"], conversion.get("webhook") or {}
    problems = [] if strategy else [required(child(path, "strategy"))]
    if strategy and strategy not in ("None", "Webhook"):
        problems.append(not_supported(child(path, "strategy"), strategy, ("None", "Webhook")))
    config, versions = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    where, reviews = child(path, "webhookClientConfig"), child(path, "conversionReviewVersions")
    if strategy != "Webhook":
        why = "should not be set when strategy is not set to Webhook"
        problems += [forbidden(where, why)] if config is not None else []
        return problems + ([forbidden(reviews, why)] if versions else [])
    if config is None:
        problems.append(required(where, "required when strategy is set to Webhook"))
    else:
        problems += client_problems(where, config)
    if not versions:
        return [*problems, required(reviews)]
    problems += review_version_problems(reviews, versions)
    if not {"v1", "v1beta1"} & set(versions):
        problems.append(invalid(reviews, versions, "must include at least one of v1, v1beta1"))
    return problems


def _approval_problems(document: Document, old: Document | None) -> list[str]:
    if not re.search(r"(^|\.)(k8s|kubernetes)\.io$", document["spec"]["group"]):
        return []
    state, why = _approval(document)
    path = f"metadata.annotations[{APPROVED}]"
    if state == "approved" or (old is not None and _approval(old)[0] == state):
        return []
    if state == "missing":
        return [required(path, why)]
    return [invalid(path, document["metadata"]["annotations"][APPROVED], why)]


def _approval(document: Document) -> tuple[str, str]:
    """Return whether a definition in a protected group is approved, missing its approval or invalid, and the reason."""
    text = (document["metadata"].get("annotations") or {}).get(APPROVED) or ""
    start = f"protected groups must have approval annotation {quote(APPROVED)}"
    if not text:
        return "missing", f"{start}, {_PULL}"
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    if text.startswith("unapproved") or (parts.scheme and parts.netloc):
        return "approved", ""
    return "invalid", f'{start} with either a URL or a reason starting with "unapproved", {_PULL}'

"""Validation of values by a schema, with the messages of the reference.

From values and schemas to problems (sentences of `api.field_errors`). Unchanged invalid values of an update are ignored
(ratcheting).
"""

# upstream: kube-openapi/pkg/validation/validate/*.go, apiextensions-apiserver/pkg/apiserver/validation/
# {validation,ratcheting}.go (v1.36)

from collections.abc import Iterator
from math import isfinite
from typing import Any, NamedTuple

from kubesched.api.field_errors import Shown, WrongType, as_json, child, invalid, not_supported, required, wrong_type
from kubesched.api.go_numbers import shortest
from kubesched.api.go_text import quote, to_json
from kubesched.cel.functions.regex import RegexError, compile_regex
from kubesched_controlplane.custom.formats import has_format, known_format
from kubesched_controlplane.custom.list_types import LIST_TYPE, MAP_KEYS
from kubesched_controlplane.custom.structure import Schema, below
from kubesched_controlplane.kinds.checks import too_long, too_many

INT_OR_STRING = "x-kubernetes-int-or-string"
MISSING: Any = object()
# problems that prevent the evaluation of validation rules
_BLOCKING = ("Unsupported value", "Required value", "Too long", "Too many")
_INT32, _INT64 = 2**31, 2**63
# The most that matching a text with a pattern may cost; a unit is about a microsecond.
_MOST_UNITS = 10_000_000
_LARGEST_FLOAT32 = 3.40282346638528859811704183484516925440e38


def is_blocking(problem: str) -> bool:
    """Return whether a problem prevents the evaluation of validation rules."""
    return isinstance(problem, WrongType) or problem.partition(": ")[2].startswith(_BLOCKING)


def value_problems(value: Any, schema: Schema, old: Any = MISSING, field: str = "") -> list[str]:
    """Return the problems of a value at the path `field`; `old` is the value before an update."""
    return [problem.sentence(field) for problem in _check(value, schema, "", old).problems]


class ValidationProblem(NamedTuple):
    """A problem: its path within the value, its kind, and the bad value and the text for the message."""

    path: str
    kind: str
    value: Any = ""
    words: str = ""

    def sentence(self, field: str) -> str:
        """Return the problem as a sentence about a field."""
        path = self.path.removeprefix(".") if self.kind != "schema" else ""
        place = child(field, path) if field and path else path or field
        match self.kind:
            case "required":
                return required(place)
            case "enum":
                return not_supported(place, shown(self.value), self.words.split("\0"))
            case "long":
                return too_long(place, self.value)
            case "many":
                return too_many(place, *self.value)
            case "type":
                return wrong_type(place or "<nil>", self.value, self.words)
        return invalid(place, shown(self.value), self.words)


def shown(value: Any) -> str:
    """Format a bad value for a message: texts are quoted, numbers are as Go prints them."""
    if isinstance(value, float):
        return Shown(shortest(value))
    return value if isinstance(value, str) else as_json(value)


class Result:
    """The problems of a value, and how many checks passed: of failed alternatives the best is reported."""

    def __init__(self, *problems: ValidationProblem, count: int = 0) -> None:
        self.problems = list(problems)
        self.count = count

    def merge(self, other: "Result") -> None:
        """Add the problems and the count of another result."""
        self.problems += other.problems
        self.count += other.count


def _check(value: Any, schema: Schema, path: str, old: Any = MISSING) -> Result:
    """Return the problems of a value, none if the value is unchanged."""
    result = Result()
    for found in _checks(value, schema, path, old):
        result.merge(found)
        result.count += 1
    result.count += 1
    if result.problems and old is not MISSING and old == value:
        return Result(count=result.count)
    return result


def _checks(value: Any, schema: Schema, path: str, old: Any) -> Iterator[Result]:
    types, form = types_of(schema), known_format(_only_type(schema), schema.get("format") or "")
    if types or form:
        yield _type(value, types, form, path, nullable=bool(schema.get("nullable")))
    if value is not None:
        yield _alternatives(value, schema, path)
    if isinstance(value, str):
        yield _text(value, schema, path)
        if form and not has_format(form, value):
            yield Result(
                ValidationProblem(path, "type", value, f"{path} in body must be of type {form}: {quote(value)}")
            )
    if is_number(value):
        yield _number(value, schema, path, form)
    if isinstance(value, list):
        yield _list(value, schema, path, old)
    yield _enumeration(value, schema, path)
    if isinstance(value, dict):
        yield _object(value, schema, path, old)


def types_of(schema: Schema) -> tuple[str, ...]:
    """Return the types that a value may have, none if it may have any."""
    if schema.get(INT_OR_STRING):
        return ("integer", "string")
    return (schema["type"],) if schema.get("type") else ()


def _only_type(schema: Schema) -> str:
    types = types_of(schema)
    # the format of an int-or-string is not checked
    return types[0] if len(types) == 1 else ""


def is_number(value: Any) -> bool:
    """Return whether a value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def type_of(value: Any) -> str:
    """Return the JSON Schema type of a value."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    names = {str: "string", float: "number", list: "array", dict: "object"}
    return next((name for kind, name in names.items() if isinstance(value, kind)), "null")


def _type(value: Any, types: tuple[str, ...], form: str, path: str, *, nullable: bool) -> Result:
    found = type_of(value)
    right = found in types or not types
    if value is None:
        right = nullable or not types
    elif isinstance(value, float) and "integer" in types:
        right = right or value.is_integer()
    elif found == "integer":
        right = right or "number" in types
    elif isinstance(value, str | list) and form and not set(types) & {"number", "integer"}:
        right = True
    if right:
        return Result(count=1)
    words = f"{path} in body must be of type {','.join(types)}: {quote(found)}"
    return Result(ValidationProblem(path, "type", found, words))


# -- alternatives


def _alternatives(value: Any, schema: Schema, path: str) -> Result:
    result = Result(count=1)
    if schema.get("anyOf"):
        result.merge(_any_of(value, schema["anyOf"], path))
    if schema.get("oneOf"):
        result.merge(_one_of(value, schema["oneOf"], path))
    if schema.get("allOf"):
        found = [_check(value, each, path) for each in schema["allOf"]]
        for each in found:
            result.merge(each)
        if failed := sum(bool(each.problems) for each in found):
            more = ". None validated" if failed == len(found) else ""
            words = f"{quote(path)} must validate all the schemas (allOf){more}"
            result.problems.append(ValidationProblem(path, "schema", "", words))
    if schema.get("not") is not None and not _check(value, schema["not"], path).problems:
        words = f"{quote(path)} must not validate the schema (not)"
        result.problems.append(ValidationProblem(path, "schema", "", words))
    return result


def _any_of(value: Any, schemas: list[Schema], path: str) -> Result:
    found = []
    for each in schemas:
        result = _check(value, each, path)
        if not result.problems:
            return result
        found.append(result)
    failed = Result(ValidationProblem(path, "schema", "", f"{quote(path)} must validate at least one schema (anyOf)"))
    failed.merge(_best(found))
    return failed


def _one_of(value: Any, schemas: list[Schema], path: str) -> Result:
    found = [_check(value, each, path) for each in schemas]
    right = [each for each in found if not each.problems]
    if len(right) == 1:
        return right[0]
    more = f"Found {len(right)} valid alternatives" if right else "Found none valid"
    words = f"{quote(path)} must validate one and only one schema (oneOf). {more}"
    failed = Result(ValidationProblem(path, "schema", "", words))
    if not right:
        failed.merge(_best(found))
    return failed


def _best(found: list[Result]) -> Result:
    """Return the problems of the alternative that validated deepest, the first of several."""
    return max(found, key=lambda result: result.count)


# -- texts and numbers


def _text(value: str, schema: Schema, path: str) -> Result:
    longest, shortest, pattern = schema.get("maxLength"), schema.get("minLength"), schema.get("pattern")
    if longest is not None and len(value) > longest:
        return Result(ValidationProblem(path, "long", longest))
    if shortest is not None and len(value) < shortest:
        return Result(ValidationProblem(path, "", value, f"{path} in body should be at least {shortest} chars long"))
    problem = _mismatch(pattern, value) if pattern else ""
    return Result(ValidationProblem(path, "", value, f"{path} in body {problem}")) if problem else Result()


def _mismatch(pattern: str, value: str) -> str:
    """Return the problem of a text that a pattern does not match, an empty text if it matches."""
    try:
        regex = compile_regex(pattern)
    except RegexError:
        return f"should match '{pattern}'"
    if regex.units(value) > _MOST_UNITS:
        return f"is too long to be matched with '{pattern}'"
    return "" if regex.matches(value) else f"should match '{pattern}'"


def _number(value: Any, schema: Schema, path: str, form: str) -> Result:
    result = Result(*_out_of_range(value, schema, form, path), count=1)
    whole = isinstance(value, int)

    def add(words: str, limit: Any) -> None:
        text = str(int(limit)) if whole else shortest(float(limit))
        result.problems.append(ValidationProblem(path, "", value, f"{path} in body should be {words} {text}"))

    factor = schema.get("multipleOf")
    if factor is not None and not _is_multiple(value, factor):
        add("a multiple of", factor)
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None:
        least = int(least) if whole else least
        exclusive = bool(schema.get("exclusiveMinimum"))
        if value < least or (exclusive and value == least):
            add("greater than" if exclusive else "greater than or equal to", least)
    if most is not None:
        most = int(most) if whole else most
        exclusive = bool(schema.get("exclusiveMaximum"))
        if value > most or (exclusive and value == most):
            add("less than" if exclusive else "less than or equal to", most)
    return result


def _is_multiple(value: Any, factor: Any) -> bool:
    if factor <= 0:
        return False
    if isinstance(value, int):
        return bool(int(factor)) and value % int(factor) == 0
    times = 1 / factor * value if factor < 1 else value / factor
    return isfinite(times) and (times.is_integer() or abs(times - round(times)) < 1e-9)


def _out_of_range(value: Any, schema: Schema, form: str, path: str) -> Iterator[ValidationProblem]:
    """Yield the problem of a number that is out of the range of its type and format."""
    kind = _only_type(schema)
    outside = False
    if kind == "integer":
        limit = _INT32 if form == "int32" else _INT64
        outside = value != int(value) or not -limit <= value < limit
    elif kind == "number" and form == "float":
        outside = abs(value) > _LARGEST_FLOAT32
    if outside:
        described = f"{kind} with format {form}" if form else f"{kind} (default format)"
        yield ValidationProblem(path, "schema", "", f"Checked value must be of type {described} in {path}")


def _enumeration(value: Any, schema: Schema, path: str) -> Result:
    allowed = schema.get("enum")
    if not allowed or any(each == value and isinstance(each, bool) == isinstance(value, bool) for each in allowed):
        return Result()
    words = "\0".join(each if isinstance(each, str) else to_json(each) for each in allowed)
    return Result(ValidationProblem(path, "enum", value, words))


# -- lists and objects


def _list(value: list[Any], schema: Schema, path: str, old: Any) -> Result:
    result = Result(count=1)
    items = schema.get("items")
    if items is not None:
        before = by_keys(old, schema)
        for number, each in enumerate(value):
            earlier = before.get(key_of(each, schema), MISSING) if before else MISSING
            result.merge(_check(each, items, f"{path}[{number}]", earlier))
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and len(value) < least:
        words = f"{path} in body should have at least {least} items"
        result.problems.append(ValidationProblem(path, "", len(value), words))
    if most is not None and len(value) > most:
        result.problems.append(ValidationProblem(path, "many", (len(value), most)))
    return result


def by_keys(old: Any, schema: Schema) -> dict[str, Any]:
    """Return the old elements of a list by key; none if the list has no keys."""
    if schema.get(LIST_TYPE) != "map" or not isinstance(old, list):
        return {}
    return {key_of(each, schema): each for each in old}


def key_of(element: Any, schema: Schema) -> str:
    """Return the key of a list's element."""
    names = schema.get(MAP_KEYS) or ()
    return to_json([element.get(name) for name in names] if isinstance(element, dict) else element)


def _object(value: dict[str, Any], schema: Schema, path: str, old: Any) -> Result:
    result = Result()
    size, least, most = len(value), schema.get("minProperties"), schema.get("maxProperties")
    if least is not None and size < least:
        words = f"{path} in body should have at least {least} properties"
        result.problems.append(ValidationProblem(path, "", size, words))
    if most is not None and size > most:
        result.problems.append(ValidationProblem(path, "many", (size, most)))
    named = schema.get("properties", {})
    for name, each in value.items():
        if schema.get("additionalProperties") is False and name not in named:
            words = f"{path}.{name} in body is a forbidden property"
            result.problems.append(ValidationProblem(path, "", name, words))
            continue
        inner = below(schema, name)[1]
        if inner is not None:
            where = f"{path}.{name}" if path or name not in named else name
            earlier = old.get(name, MISSING) if isinstance(old, dict) else MISSING
            result.merge(_check(each, inner, where, earlier))
    for name in schema.get("required") or ():
        if name not in value:
            result.problems.append(ValidationProblem(f"{path}.{name}", "required"))
    return result

"""Lines of the conformance corpus: the format of a line, its answer, and the differences between two answers.

From a line of any of the corpus' formats to the computed `expected` object, and from two such objects to differences
that name pod, node, plugin and field.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from kubesched.conformance import cel, configurations, events, hints, quantities, scenarios, selectors, tables
from kubesched.conformance.shapes import check_shape
from kubesched.core.framework.building.registry import Registry
from kubesched.errors import KubeschedError

Line = Mapping[str, Any]

# The texts of these may differ; only the presence of an error must agree.
FREE_TEXTS = ("error", "scoreError", "compileError")


SCENARIOS = "scenarios"
# the function that answers a line of a format
_ANSWERS: Mapping[str, Callable[..., Any]] = {
    "cel": cel.answer,
    "configurations": configurations.answer,
    "events": events.answer,
    "hints": hints.answer,
    "quantities": quantities.answer,
    SCENARIOS: scenarios.answer,
    "selectors": selectors.answer,
    "tables": tables.answer,
}
# the formats whose answers depend on out-of-tree plugins
_WITH_PLUGINS = frozenset({SCENARIOS, "hints", "events"})


class UnknownFormatError(KubeschedError):
    """A line has none of the corpus' formats."""


def format_of(line: Line) -> str:
    """Return the format of a line, by the fields of its question."""
    if "pods" in line or ("objects" in line and "plugin" not in line):
        return SCENARIOS
    if "plugin" in line:
        return "hints"
    if "table" in line:
        return "tables"
    if "input" in line:
        return "quantities"
    if "expression" in line:
        return "cel"
    if line.keys() & {"string", "selector", "labels", "nodeSelector", "toleration", "deviceToleration"}:
        return "selectors"
    if line.keys() & {"oldObj", "newObj"} or str(line.get("name", "")).startswith("registered-"):
        return "events"
    if "name" in line or "config" in line:
        return "configurations"
    if "kind" in line:
        raise UnknownFormatError(
            "an object alone is not a question; put it under `objects`, and pods to judge in `pods`"
        )
    raise UnknownFormatError("no question has these fields: " + ", ".join(sorted(map(str, line))))


def answer(line: Line, registry: Registry | None = None, *, steered: bool = False) -> Any:
    """Return the computed `expected` of a line; with `steered`, sequences continue with the line's own choices."""
    kind = format_of(line)
    check_shape(line, kind)
    if isinstance(line.get("config"), dict):
        line = {**line, "config": msgspec.json.encode(line["config"]).decode()}
    options: dict[str, Any] = {}
    if kind in _WITH_PLUGINS:
        options["registry"] = registry
    if kind == SCENARIOS and steered:
        options["steer"] = (line.get("expected") or {}).get("results", ())
    try:
        return _ANSWERS[kind](line, **options)
    except (msgspec.ValidationError, KeyError, ValueError) as error:
        # the shape is right, but a value inside it is not
        what = f"missing field {error}" if isinstance(error, KeyError) else str(error)
        raise UnknownFormatError(f"the {kind} line is malformed: {what}") from error


def differences(expected: Any, computed: Any) -> Iterator[str]:
    """Yield a line for each difference between two answers, the most important field first."""
    if isinstance(expected, dict) and "groups" in expected and isinstance(computed, dict) and "groups" in computed:
        yield from _group_differences(expected["groups"], computed["groups"])
        expected = {field: value for field, value in expected.items() if field != "groups"}
        computed = {field: value for field, value in computed.items() if field != "groups"}
    if isinstance(expected, dict) and "results" in expected and isinstance(computed, dict):
        if "results" not in computed:
            yield f"error: expected results, got {computed.get('error')!r}"
            return
        yield from _result_differences(expected["results"], computed["results"])
    elif isinstance(expected, dict) and expected.get("stage") == "decode":
        # the texts of decode errors may differ
        yield from _differences("decode", computed.get("stage"), ("stage",))
    else:
        yield from _differences(expected, computed, ())


FIELD_ORDER = (
    "preEnqueue",
    "preFilter",
    "preFilterNodes",
    "filterSkip",
    "filter",
    "nodeStatus",
    "feasible",
    "scoreSkip",
    "raw",
    "scores",
    "total",
    "best",
)


def _result_differences(expected: list[Any], computed: list[Any]) -> Iterator[str]:
    if len(expected) != len(computed):
        yield f"results: expected {len(expected)} of them, got {len(computed)}"
    for want, have in zip(expected, computed, strict=False):
        retry = " (retry)" if want.get("retry") else ""
        fields = sorted({*want, *have}, key=lambda f: (FIELD_ORDER.index(f) if f in FIELD_ORDER else 99, f))
        for field in fields:
            for difference in _differences(want.get(field), have.get(field), (field,)):
                yield f"{want.get('pod')}{retry}: {difference}"


def _group_differences(expected: list[Any], computed: list[Any]) -> Iterator[str]:
    if len(expected) != len(computed):
        yield f"groups: expected {len(expected)} of them, got {len(computed)}"
    for want, have in zip(expected, computed, strict=False):
        name = want.get("group")
        pods = want.get("pods", []), have.get("pods", [])
        yield from (f"{name}: {line}" for line in _result_differences(*pods))
        for field in sorted({*want, *have} - {"pods"}):
            yield from (f"{name}: {line}" for line in _differences(want.get(field), have.get(field), (field,)))


def _differences(expected: Any, computed: Any, path: tuple[str, ...]) -> Iterator[str]:
    if path and path[-1] in FREE_TEXTS and isinstance(expected, str) and isinstance(computed, str) and computed:
        return
    if isinstance(expected, dict) and isinstance(computed, dict):
        for key in sorted({*expected, *computed}):
            yield from _differences(expected.get(key, _ABSENT), computed.get(key, _ABSENT), (*path, str(key)))
    elif path and path[-1] == "reasons" and isinstance(expected, list) and isinstance(computed, list):
        if sorted(expected) != sorted(computed):
            yield _difference(expected, computed, path)
    elif _kind(expected) != _kind(computed) or expected != computed:
        yield _difference(expected, computed, path)


def _kind(value: Any) -> type:
    # 1 and True are equal in Python, not in JSON
    return bool if isinstance(value, bool) else int if isinstance(value, float | int) else type(value)


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


_ABSENT = _Absent()


def _difference(expected: Any, computed: Any, path: tuple[str, ...]) -> str:
    where = " ".join(path) or "answer"
    want, have = (_ABSENT if value is None else value for value in (expected, computed))
    return f"{where}: expected {want!r}, got {have!r}"

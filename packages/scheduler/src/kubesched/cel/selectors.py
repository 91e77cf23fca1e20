"""Device selectors: an expression in, verdicts on devices out.

The expression is compiled once and cached; a device becomes the value of `device`: attributes and capacities by domain,
where the driver's name is the domain of names without one, and a domain that the device does not have is empty.
"""

# upstream: dynamic-resource-allocation/cel/{compile,cache}.go (v1.36)

from collections.abc import Callable
from typing import Any, Final

from kubesched.api.devices import Device, DeviceAttribute
from kubesched.api.quantity import InvalidQuantityError, quantity_of
from kubesched.cel import types
from kubesched.cel.checker import check
from kubesched.cel.errors import CelCompileError, CelRuntimeError
from kubesched.cel.functions.conversions import native_problem
from kubesched.cel.functions.versions import InvalidVersionError, parse_version
from kubesched.cel.parser import parse
from kubesched.cel.planner import Program, plan
from kubesched.cel.sized_cache import SizedCache
from kubesched.cel.source import Problems
from kubesched.cel.validators import validate
from kubesched.cel.values import CelMap, Optional

# The most characters of all cached expressions; a program takes up to 300 bytes for each.
_MOST_KEPT: Final = 256 << 10
# The weight of a cached expression however short it is, in characters.
_AT_LEAST: Final = 16
_EMPTY: Final = CelMap()


class CompiledSelector:
    """An expression with its program, or with the error of its compilation."""

    __slots__ = ("_list_attributes", "_program", "error", "expression")

    def __init__(self, expression: str, *, list_attributes: bool) -> None:
        self.expression = expression
        self.error = ""
        self._list_attributes = list_attributes
        self._program: Program | None = None
        try:
            self._program = _compiled(expression, list_attributes=list_attributes)
        except CelCompileError as error:
            self.error = str(error)

    def matches(self, driver: str, device: Device, spend: Callable[[int], None] | None = None) -> bool:
        """Return whether a driver's device matches; raises CelRuntimeError if the evaluation or the compilation failed.

        `spend` is called with the cost.
        """
        program = self._program
        if program is None:
            raise CelRuntimeError(self.error)
        cost = 0
        try:
            result, cost = program.evaluate(device_value(driver, device, list_attributes=self._list_attributes))
        except CelRuntimeError as error:
            cost = error.cost
            raise
        finally:
            if spend is not None:
                spend(cost)
        if type(result) is Optional and type(result.value) is bool:
            result = result.value
        if type(result) is not bool:
            raise CelRuntimeError(native_problem(result))
        return result


_kept: Final[SizedCache[tuple[str, bool], CompiledSelector]] = SizedCache(_MOST_KEPT)


def compile_selector(expression: str, *, list_attributes: bool) -> CompiledSelector:
    """Return the compiled expression, from a cache; its `error` is empty if it can be used."""
    key = (expression, list_attributes)
    found = _kept.get(key)
    if found is None:
        found = CompiledSelector(expression, list_attributes=list_attributes)
        _kept.put(key, found, len(expression) + _AT_LEAST)
    return found


def is_compiled(expression: str, *, list_attributes: bool) -> bool:
    """Return whether an expression is compiled already, and in the cache."""
    return _kept.get((expression, list_attributes)) is not None


def _compiled(expression: str, *, list_attributes: bool) -> Program:
    problems = Problems(expression)
    try:
        root = parse(expression, problems)
        if not problems:
            found = check(root, problems, list_attributes=list_attributes)
        if not problems:
            validate(root, problems)
        if problems:
            raise CelCompileError(f"compilation failed: {problems}")
        if found not in (types.BOOL, types.ANY) and not (list_attributes and found == types.DYN):
            raise CelCompileError(f"must evaluate to bool or the unknown type, not {found}")
        return plan(root)
    except RecursionError:
        # differs (D-027): Python's stack can end before the reference's limit; the message is the same
        raise CelCompileError("compilation failed: expression recursion limit exceeded") from None


def device_value(driver: str, device: Device, *, list_attributes: bool) -> CelMap:
    """Return the value of `device`."""
    attributes: dict[str, Any] = {}
    for name, attribute in device.attributes.items():
        domain, slash, identifier = name.partition("/")
        if not slash:
            domain, identifier = driver, name
        inner = attributes.get(domain)
        if inner is None:
            inner = attributes[domain] = CelMap()
        inner.entries[identifier] = _attribute_value(name, attribute, list_attributes)
    capacity: dict[str, Any] = {}
    for name, amount in device.capacity.items():
        domain, slash, identifier = name.partition("/")
        if not slash:
            domain, identifier = driver, name
        inner = capacity.get(domain)
        if inner is None:
            inner = capacity[domain] = CelMap()
        try:
            inner.entries[identifier] = quantity_of(amount.value)
        except InvalidQuantityError as error:
            raise CelRuntimeError(f"capacity {name}: {error.reason}") from None
    return CelMap(
        {
            "driver": driver,
            "allowMultipleAllocations": bool(device.allow_multiple_allocations),
            "attributes": CelMap(attributes, _EMPTY),
            "capacity": CelMap(capacity, _EMPTY),
        }
    )


def _attribute_value(name: str, attribute: DeviceAttribute, list_attributes: bool) -> Any:
    if list_attributes:
        for values in (attribute.int_values, attribute.bool_values, attribute.string_values):
            if values is not None:
                return list(values)
        if attribute.version_values is not None:
            return [_version(name, text) for text in attribute.version_values]
    if attribute.string_value is not None and attribute.int_value is None and attribute.bool_value is None:
        return attribute.string_value
    if attribute.int_value is not None:
        return attribute.int_value
    if attribute.bool_value is not None:
        return attribute.bool_value
    if attribute.version_value is not None:
        return _version(name, attribute.version_value)
    raise CelRuntimeError(f"attribute {name}: unsupported attribute value")


def _version(name: str, text: str) -> Any:
    try:
        return parse_version(text)
    except InvalidVersionError as error:
        raise CelRuntimeError(f"attribute {name}: parse semantic version: {error}") from None

"""Calls at run time: operators that may skip operands, and functions chosen by their arguments."""

# upstream: cel-go interpreter/interpretable.go, common/decls/decls.go (v0.26)

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from kubesched.cel import cost
from kubesched.cel.cost import Cost
from kubesched.cel.declarations import Function, Overload
from kubesched.cel.errors import CelAbortError, CelValueError, no_such_overload
from kubesched.cel.functions import library
from kubesched.cel.functions.library import Implementation
from kubesched.cel.functions.regex import compile_regex
from kubesched.cel.limits import LIMIT, LIMIT_EXCEEDED
from kubesched.cel.types import Type
from kubesched.cel.values import CelMap, Optional, equal, has_type, type_of
from kubesched.cel.work import WorkOf, comparison_work, refusal_work, work_after

Frame = list[Any]
Run = Callable[[Frame], Any]

# Costs of comparing texts of these lengths, the most frequent operation of selectors.
_TEXT_COSTS: Final = tuple(cost.equality(("x" * length, "x" * length)) for length in range(256))


def logical_and(left: Run, right: Run) -> Run:
    """Return the closure of `&&`: false if either operand is, even if the other fails."""
    return _logical(left, right, decisive=False)


def logical_or(left: Run, right: Run) -> Run:
    """Return the closure of `||`: true if either operand is, even if the other fails."""
    return _logical(left, right, decisive=True)


def _logical(left: Run, right: Run, *, decisive: bool) -> Run:
    """Return the closure that is `decisive` if either operand is, and the opposite if neither is."""

    def apply(frame: Frame) -> bool:
        error: CelValueError | None = None
        for run in (left, right):
            try:
                value = run(frame)
            except CelValueError as problem:
                error = error or problem
            else:
                if value is decisive:
                    return bool(decisive)
                if not isinstance(value, bool):
                    error = error or no_such_overload()
        if error is not None:
            raise error
        return not decisive

    return apply


def conditional(condition: Run, chosen: Run, other: Run) -> Run:
    """Return the closure of `?:`."""

    def apply(frame: Frame) -> Any:
        value = condition(frame)
        if value is True:
            return chosen(frame)
        if value is False:
            return other(frame)
        raise no_such_overload()

    return apply


def equals(left: Run, right: Run) -> Run:
    """Return the closure of `==`."""

    def apply(frame: Frame) -> bool:
        one, other = left(frame), right(frame)
        if type(one) is str and type(other) is str:
            length = min(len(one), len(other))
            frame[0] += _TEXT_COSTS[length] if length < 256 else cost.equality((one, other))
            return one == other
        _charge_comparison(frame, cost.equality((one, other)), one, other)
        return equal(one, other)

    return apply


def _charge_comparison(frame: Frame, charge: int, one: Any, other: Any) -> None:
    if isinstance(one, list | CelMap | Optional):
        charge = max(charge, comparison_work(one, other))
        if frame[0] + charge > LIMIT:
            raise CelAbortError(LIMIT_EXCEEDED)
    frame[0] += charge


def not_equals(left: Run, right: Run) -> Run:
    """Return the closure of `!=`: true also of values that cannot be compared."""
    charge = cost.cost_of("_!=_", "not_equals")
    assert not isinstance(charge, int)

    def apply(frame: Frame) -> bool:
        one, other = left(frame), right(frame)
        _charge_comparison(frame, charge((one, other), None), one, other)
        try:
            return not equal(one, other)
        except CelValueError:
            return True

    return apply


def or_else(left: Run, right: Run, *, unwrap: bool) -> Run:
    """Return the closure of `or` and `orValue`; a value that is not optional is returned unchanged."""

    def apply(frame: Frame) -> Any:
        value = left(frame)
        if type(value) is not Optional:
            return value
        if value.present:
            return value.value if unwrap else value
        return right(frame)

    return apply


# Functions.


def implementation_of(function: Function, overloads: Sequence[Overload], given: Sequence[Type]) -> Implementation:
    """Return the implementation for the overloads that the checker left; it checks arguments of unknown types."""
    single = library.SINGLE_FORMS.get(function.name)
    if single is not None:
        return single
    if len(overloads) == 1:
        overload = overloads[0]
        implementation = library.OVERLOADS[overload.id]
        if all(map(_surely, given, overload.arguments)):
            return implementation
        return _guarded(function.name, overload, implementation)
    return _dispatched(function)


def _surely(given: Type, wanted: Type) -> bool:
    """Return whether a value of the given type is always of the wanted one."""
    if wanted.kind in ("dyn", "any", "param"):
        return True
    return given.name == wanted.name and all(map(_surely, given.parameters, wanted.parameters))


def _unknown(name: str, args: Sequence[Any]) -> CelValueError:
    return CelValueError(f"no such overload: {name}({', '.join(type_of(each).name for each in args)})")


def _guarded(name: str, overload: Overload, implementation: Implementation) -> Implementation:
    def apply(*args: Any) -> Any:
        if not all(map(has_type, overload.arguments, args)):
            raise _unknown(name, args)
        return implementation(*args)

    return apply


def _dispatched(function: Function) -> Implementation:
    forms = tuple((each, library.OVERLOADS[each.id]) for each in function.overloads if each.id in library.OVERLOADS)

    def apply(*args: Any) -> Any:
        for overload, implementation in forms:
            if len(overload.arguments) == len(args) and all(map(has_type, overload.arguments, args)):
                return implementation(*args)
        raise _unknown(function.name, args)

    return apply


def with_pattern(function: str, pattern: str) -> Implementation:
    """Return a regular expression function for a constant pattern; raises RegexError if the pattern is invalid."""
    compile_regex(pattern)

    def apply(text: Any, _: Any, *most: Any) -> Any:
        if type(text) is not str or any(type(each) is not int for each in most):
            raise no_such_overload()
        # the program is referenced by the bounded cache alone
        regex = compile_regex(pattern)
        if function == "matches":
            return regex.matches(text)
        return regex.find(text) if function == "find" else regex.find_all(text, *most)

    return apply


def counted(implementation: Implementation, runs: list[Run], charge: Cost) -> Run:
    """Return the closure of a call, which adds its cost."""
    if not isinstance(charge, int):
        return _counted_by_size(implementation, runs, charge)
    fixed = charge
    if len(runs) == 1:
        only = runs[0]

        def unary(frame: Frame) -> Any:
            frame[0] += fixed
            value = only(frame)
            try:
                return implementation(value)
            except CelValueError:
                frame[0] += refusal_work((value,))
                raise

        return unary
    if len(runs) == 2:
        left, right = runs

        def binary(frame: Frame) -> Any:
            frame[0] += fixed
            one, other = left(frame), right(frame)
            try:
                return implementation(one, other)
            except CelValueError:
                frame[0] += refusal_work((one, other))
                raise

        return binary

    def call(frame: Frame) -> Any:
        frame[0] += fixed
        args = [run(frame) for run in runs]
        try:
            return implementation(*args)
        except CelValueError:
            frame[0] += refusal_work(args)
            raise

    return call


def bounded(function: str, implementation: Implementation, runs: list[Run], charge: Cost, work: WorkOf) -> Run:
    """Return the closure of a call that is aborted if its work is too much; it costs the higher of work and cost."""
    afterwards = work_after(function)

    def call(frame: Frame) -> Any:
        args = [run(frame) for run in runs]
        try:
            units = work(args)
        except (TypeError, AttributeError, ValueError):
            # arguments of types that the function itself refuses
            units = 0
        if frame[0] + units > LIMIT:
            raise CelAbortError(LIMIT_EXCEEDED)
        try:
            result = implementation(*args)
        except CelValueError:
            frame[0] += max(units, refusal_work(args))
            raise
        if afterwards is not None:
            units += afterwards(args, result)
        frame[0] += max(units, charge if isinstance(charge, int) else charge(args, result))
        if frame[0] > LIMIT:
            raise CelAbortError(LIMIT_EXCEEDED)
        return result

    return call


def _counted_by_size(implementation: Implementation, runs: list[Run], charge: cost.CostOf) -> Run:
    def call(frame: Frame) -> Any:
        args = [run(frame) for run in runs]
        try:
            result = implementation(*args)
        except CelValueError:
            frame[0] += refusal_work(args)
            raise
        frame[0] += charge(args, result)
        if frame[0] > LIMIT:
            raise CelAbortError(LIMIT_EXCEEDED)
        return result

    return call

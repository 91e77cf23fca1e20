"""Folds at run time: `all`, `exists`, `map`, `filter` and `cel.bind`.

The accumulator is computed when it is first read, and an error in it is kept: the next step may absorb it.
"""

# upstream: cel-go interpreter/interpretable.go, evalFold (v0.26)

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from kubesched.cel.errors import CelAbortError, CelValueError
from kubesched.cel.limits import LIMIT, LIMIT_EXCEEDED
from kubesched.cel.values import CelMap, GrowingList, go_type_name

Frame = list[Any]
Run = Callable[[Frame], Any]


class _Failure:
    """An error that was not raised yet."""

    __slots__ = ("error",)

    def __init__(self, error: CelValueError | None = None) -> None:
        self.error = error


_NOT_YET: Final = _Failure()


class Variable(NamedTuple):
    """A variable's index in the frame; an accumulator has an initial value to compute."""

    place: int
    init: Run | None = None

    def read(self) -> Run:
        """Return the closure that reads the variable."""
        place, init = self.place, self.init
        if init is None:
            return lambda frame: frame[place]

        def apply(frame: Frame) -> Any:
            value = frame[place]
            if type(value) is _Failure:
                if value is _NOT_YET:
                    value = frame[place] = _first_value(init, frame)
                if type(value) is _Failure and value.error is not None:
                    raise value.error
            return value

        return apply


def _first_value(init: Run, frame: Frame) -> Any:
    try:
        value = init(frame)
    except CelValueError as error:
        return _Failure(error)
    # an empty list or map grows in place from here on
    if isinstance(value, list) and not value:
        return GrowingList()
    if type(value) is CelMap and not value:
        return CelMap(growing=True)
    return value


def _finished(value: Any) -> Any:
    if type(value) is GrowingList:
        return list(value)
    if type(value) is CelMap and value.growing:
        return CelMap(value.entries)
    return value


def plan_bind(accumulator: Variable, result: Run) -> Run:
    """Return the closure of a fold over nothing."""
    place = accumulator.place

    def apply(frame: Frame) -> Any:
        frame[place] = _NOT_YET
        return _finished(result(frame))

    return apply


def plan_fold(over: Run, accumulator: Variable, places: list[int], parts: tuple[Run, Run, Run], least: int) -> Run:
    """Return the closure of a fold; with two places it goes over indices or keys, and values.

    An iteration costs at least `least`, since some parts of an expression are free.
    """
    condition, step, result = parts
    accu = accumulator.place

    def iterate(frame: Frame, items: Iterable[Any], place: int) -> None:
        for item in items:
            floor = frame[0] + least
            frame[place] = item
            if not _goes_on(condition, frame):
                break
            _advance(step, frame, accu, floor)

    def iterate_pairs(frame: Frame, pairs: Iterable[tuple[Any, Any]], first: int, second: int) -> None:
        for frame[first], frame[second] in pairs:
            floor = frame[0] + least
            if not _goes_on(condition, frame):
                break
            _advance(step, frame, accu, floor)

    def apply(frame: Frame) -> Any:
        value = over(frame)
        frame[accu] = _NOT_YET
        if len(places) == 1:
            iterate(frame, _items(value), places[0])
        else:
            iterate_pairs(frame, _pairs(value), places[0], places[1])
        return _finished(result(frame))

    return apply


def _goes_on(condition: Run, frame: Frame) -> bool:
    try:
        return condition(frame) is not False
    except CelValueError:
        return True


def _advance(step: Run, frame: Frame, accu: int, floor: int) -> None:
    try:
        frame[accu] = step(frame)
    except CelValueError as error:
        frame[accu] = _Failure(error)
    if frame[0] < floor:
        frame[0] = floor
    if frame[0] > LIMIT:
        raise CelAbortError(LIMIT_EXCEEDED)


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, list):
        # a growing list may grow on the way
        return list(value) if type(value) is GrowingList else value
    if type(value) is CelMap:
        return list(value.keys())
    raise CelValueError(f"got '{go_type_name(value)}', expected iterable type")


def _pairs(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, list):
        return enumerate(list(value))
    if type(value) is CelMap:
        return list(value.items())
    raise CelValueError(f"unsupported comprehension range type: {go_type_name(value)}")

"""The content of a device, without its name and pool: shared by all equal devices.

From Device structs to interned contents, with properties that are computed once: multiple allocations, taints that
prevent allocation, counters it consumes, verdicts of selectors.

Invariants: devices of a driver that differ only in their names share one content; its code is never given to another
one, also across inventories made from one another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import msgspec

from kubesched.api.devices import Device, DeviceTaint
from kubesched.cel import CelRuntimeError
from kubesched.core.devices.amounts import nanos_of

if TYPE_CHECKING:
    from kubesched.cel.selectors import CompiledSelector

_BLOCKING_EFFECTS = ("NoSchedule", "NoExecute")
_REMEMBERED_VERDICTS = 64
_ENCODER = msgspec.json.Encoder(order="deterministic")

CounterName = tuple[str, str]
"""Counter set and counter."""


class DeviceContent:
    """A kind of device; compared by identity."""

    __slots__ = ("__weakref__", "_verdicts", "blocking_taints", "code", "counters", "device", "driver", "limits")

    def __init__(self, code: int, driver: str, device: Device) -> None:
        self.code = code
        self.driver = driver
        self.device = device
        self.blocking_taints: tuple[DeviceTaint, ...] = tuple(
            taint for taint in device.taints if taint.effect in _BLOCKING_EFFECTS
        )
        self.counters = _counters(device)
        self.limits = {name: nanos_of(capacity.value) for name, capacity in device.capacity.items()}
        self._verdicts: dict[str, bool | str] = {}

    def matches(self, selector: CompiledSelector, spend: Callable[[int], None] | None = None) -> bool:
        """Return whether a selector matches the device, or raise CelRuntimeError; evaluated once per expression.

        `spend` is called with the cost of the evaluation.
        """
        verdict = self._verdicts.get(selector.expression)
        if verdict is None:
            if len(self._verdicts) >= _REMEMBERED_VERDICTS:
                self._verdicts.clear()
            costs: list[int] = []
            try:
                verdict = selector.matches(self.driver, self.device, costs.append)
            except CelRuntimeError as error:
                verdict = str(error)
            self._verdicts[selector.expression] = verdict
            if spend is not None:
                spend(sum(costs))
        if isinstance(verdict, str):
            raise CelRuntimeError(verdict)
        return verdict


class Contents:
    """The contents that are in use, by their fields; dropped with the last slice that has them."""

    __slots__ = ("_by_key", "_codes")

    def __init__(self, codes: Iterator[int]) -> None:
        self._codes = codes
        self._by_key: WeakValueDictionary[tuple[str, bytes], DeviceContent] = WeakValueDictionary()

    def of(self, driver: str, device: Device) -> DeviceContent:
        """Return the content of a device."""
        key = (driver, _ENCODER.encode(msgspec.structs.replace(device, name="")))
        content = self._by_key.get(key)
        if content is None:
            content = self._by_key[key] = DeviceContent(next(self._codes), driver, device)
        return content


def _counters(device: Device) -> tuple[tuple[CounterName, int], ...]:
    """Return the amounts that the device consumes, by counter."""
    return tuple(
        ((drawn.counter_set, name), nanos_of(counter.value))
        for drawn in device.consumes_counters
        for name, counter in drawn.counters.items()
    )

"""Answers to corpus questions about device selectors: an expression and devices in, matches and errors out."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kubesched.api.devices import Device
from kubesched.cel import CelRuntimeError, compile_selector
from kubesched.cel.selectors import CompiledSelector
from kubesched.config.feature_gates import FeatureGates


class DriversDevice(Device, frozen=True):
    """A device with the driver it belongs to."""

    driver: str = ""


def answer(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return for each device whether it matches, or the error if the expression does not compile."""
    gates = FeatureGates(line.get("featureGates") or {})
    selector = compile_selector(line["expression"], list_attributes=gates.enabled("DRAListTypeAttributes"))
    if selector.error:
        return {"compileError": selector.error}
    return {"devices": [_verdict(selector, document) for document in line.get("devices") or ()]}


def _verdict(selector: CompiledSelector, document: Mapping[str, Any]) -> dict[str, Any]:
    device = msgspec.convert(document, DriversDevice)
    try:
        return {"match": selector.matches(device.driver, device)}
    except CelRuntimeError as error:
        return {"match": False, "error": str(error)}

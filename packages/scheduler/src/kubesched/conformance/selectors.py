"""Answers to corpus questions about label selectors, node selectors and tolerations."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kubesched.api.devices import DeviceTaint, DeviceToleration
from kubesched.api.label_syntax import parse_selector
from kubesched.api.labels import InvalidSelectorError, from_label_selector
from kubesched.api.meta import LabelSelector
from kubesched.api.node_selectors import compile_node_selector
from kubesched.api.nodes import Node
from kubesched.api.pods import NodeSelector, Taint, Toleration
from kubesched.api.tolerations import tolerates, tolerates_device


def answer(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a question of any of the kinds in the file."""
    if "nodeSelector" in line:
        return _node_selector(line)
    if "toleration" in line:
        return _toleration(line)
    if "deviceToleration" in line:
        return _device_toleration(line)
    return _label_selector(line)


def _label_selector(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return canonical text, emptiness and matches of a label selector; a missing one is the null selector."""
    try:
        if "string" in line:
            selector = parse_selector(line["string"])
        else:
            selector = from_label_selector(msgspec.convert(line.get("selector"), LabelSelector | None))
    except InvalidSelectorError as error:
        return {"error": str(error)}
    sets = msgspec.convert(line["labels"], list[dict[str, str]])
    answered: dict[str, Any] = {"matches": [selector.matches(labels) for labels in sets]}
    if canonical := str(selector):
        answered["canonical"] = canonical
    if selector.empty:
        answered["empty"] = True
    return answered


def _node_selector(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the matching nodes, and the errors of strict parsing."""
    selector = compile_node_selector(msgspec.convert(line["nodeSelector"], NodeSelector))
    nodes = msgspec.convert(line["nodes"], list[Node])
    answered: dict[str, Any] = {"matches": [selector.matches(node.metadata.labels, node.name) for node in nodes]}
    if selector.error:
        answered["error"] = selector.error
    return answered


def _toleration(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tolerated taints, without and with the comparison operators."""
    toleration = msgspec.convert(line["toleration"], Toleration)
    taints = msgspec.convert(line["taints"], list[Taint])
    return {
        "tolerates": [tolerates(toleration, taint) for taint in taints],
        "toleratesWithComparison": [tolerates(toleration, taint, comparison=True) for taint in taints],
    }


def _device_toleration(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tolerated device taints."""
    toleration = msgspec.convert(line["deviceToleration"], DeviceToleration)
    taints = msgspec.convert(line["deviceTaints"], list[DeviceTaint])
    return {"tolerates": [tolerates_device(toleration, taint) for taint in taints]}

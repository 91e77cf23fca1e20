"""Structs to plain values: the form in which the reference writes its configuration (`--write-config-to`).

In: a struct of `types` or `args`. Out: dict, list, str, int, float, bool, None, ready for JSON or YAML.
"""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from kubesched.config.args import args_kind
from kubesched.config.golang import Duration
from kubesched.config.types import (
    API_VERSION,
    KIND,
    ConfigStruct,
    KubeSchedulerConfiguration,
    PluginArgs,
    PluginConfig,
    RawArgs,
)


def to_wire(value: Any) -> Any:
    """Return `value` as plain values, without the empty fields that the reference omits."""
    if isinstance(value, PluginConfig):
        return {"name": value.name, "args": _args_to_wire(value.name, value.args)}
    if isinstance(value, ConfigStruct):
        wire = _fields_to_wire(value)
        if isinstance(value, KubeSchedulerConfiguration):
            wire |= {"apiVersion": API_VERSION, "kind": KIND}
        return wire
    if isinstance(value, tuple):
        return [to_wire(item) for item in value]
    if isinstance(value, Duration):
        return str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _fields_to_wire(value: ConfigStruct) -> dict[str, Any]:
    wire: dict[str, Any] = {}
    for field in msgspec.structs.fields(value):
        item = getattr(value, field.name)
        if not (field.name in value.omit_empty and _is_empty(item, optional=field.default is None)):
            wire[field.encode_name] = to_wire(item)
    return wire


def _is_empty(item: Any, *, optional: bool) -> bool:
    """Return whether Go's omitempty omits the value: a pointer only if it is nil."""
    if item is None:
        return True
    return not item and not isinstance(item, msgspec.Struct) and (not optional or isinstance(item, tuple))


def _args_to_wire(plugin: str, args: PluginArgs | RawArgs | None) -> Any:
    if isinstance(args, PluginArgs):
        return {"apiVersion": API_VERSION, "kind": args_kind(plugin)} | _fields_to_wire(args)
    return args.value if isinstance(args, RawArgs) else None

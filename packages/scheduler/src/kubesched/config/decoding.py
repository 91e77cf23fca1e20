"""Plain values to structs, strictly: every unknown field and every value of the wrong type, each with its path.

In: the plain values of `document`. Out: a struct tree, or the list of problems. As in Go, null is the same as absent;
keys are case-sensitive, and no value is coerced.
"""

from __future__ import annotations

import functools
import types as python_types
import typing
from typing import Any

import msgspec

from kubesched.api.go_text import quote
from kubesched.config.args import ARGS_TYPES, args_kind
from kubesched.config.golang import Duration, decode_base64, float32, parse_duration
from kubesched.config.types import (
    API_VERSION,
    KIND,
    ConfigStruct,
    KubeSchedulerConfiguration,
    PluginArgs,
    PluginConfig,
    RawArgs,
)

_JSON_NAMES = {dict: "object", list: "array", str: "string", bool: "bool", int: "number", float: "number"}
_TYPE_FIELDS = frozenset({"apiVersion", "kind"})


@functools.cache
def _fields(cls: type[ConfigStruct]) -> dict[str, tuple[str, Any]]:
    """Return wire name -> (field name, type) of a struct."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {field.encode_name: (field.name, hints[field.name]) for field in msgspec.structs.fields(cls)}


def _shown(value: Any) -> str:
    """Return a value with its JSON type, short enough for a message."""
    name = _JSON_NAMES[type(value)]
    if isinstance(value, dict | list):
        return name
    text = quote(value) if isinstance(value, str) else str(value).lower()
    return f"{name} {text if len(text) <= 60 else text[:57] + '...'}"


class Decoder:
    """Decodes one document and gathers its problems in `errors`."""

    def __init__(self) -> None:
        self.errors: list[str] = []

    def configuration(self, tree: Any) -> KubeSchedulerConfiguration:
        """Return the configuration in `tree`; it is meaningful only if `errors` stays empty."""
        if not isinstance(tree, dict | None):
            self.errors.append(f"couldn't get version/kind: the document is not an object but {_shown(tree)}")
            return KubeSchedulerConfiguration()
        tree = tree or {}
        self._expect_type(tree, "", API_VERSION, KIND, required=True)
        if self.errors:
            return KubeSchedulerConfiguration()
        config: KubeSchedulerConfiguration = self._struct(tree, KubeSchedulerConfiguration, "", ignored=_TYPE_FIELDS)
        return config

    def _expect_type(self, tree: dict[str, Any], path: str, version: str, kind: str, *, required: bool) -> None:
        for field, expected in (("kind", kind), ("apiVersion", version)):
            found = tree.get(field)
            if found is None or found == "":
                if required:
                    self.errors.append(f"Object '{field}' is missing: expected {quote(expected)}")
            elif not isinstance(found, str):
                self._mismatch(found, path + field, "string")
            elif found != expected:
                self.errors.append(f"{path}{field}: {quote(found)} is not supported: expected {quote(expected)}")

    def _mismatch(self, value: Any, path: str, expected: str) -> None:
        self.errors.append(f"{path}: cannot use {_shown(value)} as {expected}")

    def _struct(self, tree: Any, cls: type[ConfigStruct], path: str, ignored: frozenset[str] = frozenset()) -> Any:
        if tree is None:
            return cls()
        if not isinstance(tree, dict):
            self._mismatch(tree, path, cls.__name__)
            return cls()
        known = _fields(cls)
        values: dict[str, Any] = {}
        for key, value in tree.items():
            if key in known:
                name, hint = known[key]
                if value is not None:
                    values[name] = self._value(value, hint, f"{path}.{key}" if path else key)
            elif key not in ignored:
                self.errors.append(f"unknown field {quote(f'{path}.{key}' if path else key)}")
        return cls(**values)

    def _plugin_config(self, tree: Any, path: str) -> PluginConfig:
        if not isinstance(tree, dict | None):
            self._mismatch(tree, path, "PluginConfig")
            return PluginConfig()
        tree = tree or {}
        name = tree.get("name")
        raw = tree.get("args")
        # The arguments' type depends on the name, so they are decoded apart from the rest.
        rest = self._struct({key: value for key, value in tree.items() if key != "args"}, PluginConfig, path)
        if isinstance(name, str) and name in ARGS_TYPES:
            return PluginConfig(name=name, args=self._args(raw, name, f"{path}.args"))
        return PluginConfig(name=rest.name, args=None if raw is None else RawArgs(value=raw))

    def _args(self, tree: Any, plugin: str, path: str) -> PluginArgs:
        cls = ARGS_TYPES[plugin]
        if isinstance(tree, dict):
            self._expect_type(tree, f"{path}.", API_VERSION, args_kind(plugin), required=False)
        args: PluginArgs = self._struct(tree, cls, path, ignored=_TYPE_FIELDS)
        return args

    def _value(self, value: Any, hint: Any, path: str) -> Any:
        origin = typing.get_origin(hint)
        if origin in (typing.Union, python_types.UnionType):
            return self._value(value, next(arg for arg in typing.get_args(hint) if arg is not type(None)), path)
        if origin is typing.Annotated:
            return self._number(value, hint.__metadata__[0], path)
        if origin is tuple:
            return self._tuple(value, typing.get_args(hint)[0], path)
        if origin is dict:
            return self._labels(value, path)
        if hint is Duration:
            return self._duration(value, path)
        if hint is PluginConfig:
            return self._plugin_config(value, path)
        if isinstance(hint, type) and issubclass(hint, ConfigStruct):
            return self._struct(value, hint, path)
        if hint is bytes:
            return self._bytes(value, path)
        if type(value) is not hint:
            self._mismatch(value, path, _JSON_NAMES[hint])
            return hint()
        return value

    def _tuple(self, value: Any, item: Any, path: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            self._mismatch(value, path, "array")
            return ()
        empty = item() if isinstance(item, type) else None
        return tuple(
            empty if element is None and empty is not None else self._value(element, item, f"{path}[{index}]")
            for index, element in enumerate(value)
        )

    def _labels(self, value: Any, path: str) -> dict[str, str]:
        if not isinstance(value, dict):
            self._mismatch(value, path, "object")
            return {}
        return {key: "" if item is None else self._value(item, str, f"{path}.{key}") for key, item in value.items()}

    def _number(self, value: Any, meta: msgspec.Meta, path: str) -> int | float:
        title = str(meta.title)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._mismatch(value, path, title)
        elif meta.ge is None or meta.le is None:
            try:
                return float32(float(value))
            except OverflowError:
                self.errors.append(f"{path}: {_shown(value)} is out of range for {title}")
        elif isinstance(value, float):
            self._mismatch(value, path, title)
        elif meta.ge <= value <= meta.le:
            return value
        else:
            self.errors.append(f"{path}: {_shown(value)} is out of range for {title}")
        return 0

    def _duration(self, value: Any, path: str) -> Duration:
        if not isinstance(value, str):
            self._mismatch(value, path, 'duration (a string such as "10s")')
            return Duration()
        try:
            return parse_duration(value)
        except ValueError as error:
            self.errors.append(f"{path}: {error}")
            return Duration()

    def _bytes(self, value: Any, path: str) -> bytes:
        if not isinstance(value, str):
            self._mismatch(value, path, "base64 string")
            return b""
        try:
            return decode_base64(value)
        except ValueError:
            self.errors.append(f"{path}: illegal base64 data")
            return b""

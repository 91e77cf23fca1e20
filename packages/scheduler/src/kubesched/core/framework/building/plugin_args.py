"""Arguments of plugins, typed: a dataclass or msgspec struct is the schema of `pluginConfig` args.

From the annotation of a constructor's parameter `args` and the arguments in the configuration to an instance: strictly
decoded, defaulted, and checked by its `__post_init__`. Fields are written in camelCase, as everywhere in a
configuration; any fault is a PluginError that begins with the field's path.
"""

import dataclasses
import difflib
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

import msgspec

from kubesched.config.types import API_VERSION
from kubesched.errors import PluginError

_PLACE = re.compile(r" - at `\$(?P<path>[^`]*)`$")


class ArgsField(NamedTuple):
    """A field of a plugin's arguments as people write it."""

    name: str
    type: str
    # the default's JSON form; None if the field is required
    default: Any
    required: bool


def args_schema(factory: Callable[..., Any]) -> type | None:
    """Return the class of a constructor's parameter `args`, None if it is not typed by a dataclass or struct."""
    function = factory.__init__ if isinstance(factory, type) else factory  # type: ignore[misc]
    try:
        if "args" not in inspect.signature(factory).parameters:
            return None
        hint = typing.get_type_hints(function).get("args")
    except (NameError, TypeError, ValueError):
        # names that exist for type checkers alone
        return None
    choices = [each for each in typing.get_args(hint) if each is not types.NoneType] or [hint]
    return choices[0] if len(choices) == 1 and _is_record(choices[0]) else None


def decoded_args(schema: type, value: Any, plugin: str = "") -> Any:
    """Return a plugin's arguments as an instance of their class; raises PluginError that begins with `args`.

    They may name their apiVersion, that of the configuration, and their kind: the plugin's name and `Args`.
    """
    value = _untyped(schema, {} if value is None else value, f"{plugin}Args")
    try:
        return msgspec.convert(_by_field(schema, value, "args"), schema)
    except msgspec.ValidationError as error:
        text = str(error)
        place = _PLACE.search(text)
        path = re.sub(r"[a-z0-9_]+", lambda name: camel(name[0]), place["path"]) if place else ""
        problem = _PLACE.sub("", text)
        missing = re.fullmatch(r"Object missing required field `(?P<name>\w+)`", problem)
        if missing:
            path, problem = f"{path}.{camel(missing['name'])}", "is required"
        if problem.partition(" ")[0].istitle():
            problem = problem[:1].lower() + problem[1:]
        raise PluginError(f"args{path}: {problem}") from None


def shown_args(args: Any) -> Any:
    """Return decoded arguments as they are written in a configuration, with every default."""
    if _is_record(type(args)):
        return {camel(name): shown_args(getattr(args, name)) for name, _ in _fields(type(args))}
    if isinstance(args, Mapping):
        return {key: shown_args(value) for key, value in args.items()}
    if isinstance(args, list | tuple | set | frozenset):
        return [shown_args(value) for value in args]
    return msgspec.to_builtins(args)


def args_fields(schema: type) -> list[ArgsField]:
    """Return the fields of a plugin's arguments."""
    found = []
    for field in msgspec.inspect.type_info(schema).fields:  # type: ignore[attr-defined]
        factory, default = field.default_factory, field.default
        value = factory() if factory is not msgspec.NODEFAULT else None if field.required else default
        hint = typing.get_type_hints(schema)[field.name]
        shown = hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)
        found.append(ArgsField(camel(field.name), shown.replace("typing.", ""), shown_args(value), field.required))
    return found


def camel(name: str) -> str:
    """Return a field's name as it is written in configurations: `target_utilization` -> `targetUtilization`."""
    first, *rest = name.strip("_").split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _untyped(schema: type, value: Any, kind: str) -> Any:
    """Return arguments without apiVersion and kind; raises PluginError if these are of something else."""
    if not isinstance(value, Mapping):
        return value
    known = {camel(name) for name, _ in _fields(schema)}
    expected = {key: text for key, text in (("apiVersion", API_VERSION), ("kind", kind)) if key not in known}
    for key, text in expected.items():
        if value.get(key, text) != text:
            raise PluginError(f"args.{key}: expected {text}, or leave it out, got {value[key]!r}")
    return {key: each for key, each in value.items() if key not in expected}


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and (dataclasses.is_dataclass(kind) or issubclass(kind, msgspec.Struct))


def _fields(kind: type) -> list[tuple[str, Any]]:
    """Return the names and types of a record's fields."""
    hints = typing.get_type_hints(kind)
    if dataclasses.is_dataclass(kind):
        return [(field.name, hints[field.name]) for field in dataclasses.fields(kind) if field.init]
    return [(field.name, hints[field.name]) for field in msgspec.structs.fields(cast(Any, kind))]


def _by_field(kind: Any, value: Any, path: str) -> Any:
    """Return a value with the names of fields in place of those in configurations; raises PluginError for unknown
    fields.
    """
    if _is_record(kind):
        if not isinstance(value, Mapping):
            raise PluginError(f"{path}: expected fields such as {{{_example(kind)}}}, got {type(value).__name__}")
        known = {camel(name): (name, hint) for name, hint in _fields(kind)}
        renamed = {}
        for key, each in value.items():
            if key not in known:
                raise PluginError(f"{path}.{key}: there is no such field{_nearest(str(key), list(known))}")
            name, hint = known[key]
            encoded = _encoded(kind, name)
            renamed[encoded] = _by_field(hint, each, f"{path}.{key}")
        return renamed
    inner = typing.get_args(kind)
    if isinstance(value, list) and inner:
        return [_by_field(inner[0], each, f"{path}[{place}]") for place, each in enumerate(value)]
    if isinstance(value, Mapping) and typing.get_origin(kind) in (dict, Mapping, typing.get_origin(Mapping[str, Any])):
        return {key: _by_field(inner[-1], each, f"{path}.{key}") for key, each in value.items()}
    records = [each for each in inner if _is_record(each)]
    if len(records) == 1 and isinstance(value, Mapping):
        return _by_field(records[0], value, path)
    return value


def _encoded(kind: type, name: str) -> str:
    """Return the name under which msgspec decodes a field."""
    if not issubclass(kind, msgspec.Struct):
        return name
    return next(field.encode_name for field in msgspec.structs.fields(kind) if field.name == name)


def _example(kind: type) -> str:
    return ", ".join(f"{camel(name)}: ..." for name, _ in _fields(kind)[:3])


def _nearest(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]}?" if close else f"; there are: {', '.join(known) or 'none'}"

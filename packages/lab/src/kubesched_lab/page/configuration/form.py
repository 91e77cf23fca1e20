"""A configuration as a form: profiles, their plugins with weights, extension points and arguments.

From a loaded configuration to plain values, and to a short text with the differences from the defaults.
"""

import types as python_types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from kubesched.config.args import ARGS_TYPES
from kubesched.config.build import ResolvedProfile
from kubesched.config.document import dump
from kubesched.config.encoding import to_wire
from kubesched.config.golang import Duration
from kubesched.config.intree import EXTENSION_POINTS, Catalog
from kubesched.config.load import Loaded, load
from kubesched.config.redacting import without_secrets
from kubesched.config.types import API_VERSION, KIND, ConfigStruct, PluginArgs, RawArgs
from kubesched_lab.page.configuration.form_changes import FIELDS, SCORE

Json = dict[str, Any]
NUMBER, BOOLEAN, TEXT, VALUE = "number", "boolean", "text", "value"
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "scoringStrategy.type": ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"),
    "defaultingType": ("System", "List"),
}


def form_of(loaded: Loaded, catalog: Catalog) -> Json:
    """Return a configuration as the form shows it."""
    wire = to_wire(loaded.config)
    return {
        "fields": [{"name": name, "value": wire[name]} for name in FIELDS],
        "profiles": [_profile(profile, loaded, catalog) for profile in loaded.profiles],
    }


def _profile(profile: ResolvedProfile, loaded: Loaded, catalog: Catalog) -> Json:
    # the build drops what no plugin uses; the form shows the arguments of all
    arguments = next(each for each in loaded.config.profiles if each.scheduler_name == profile.scheduler_name)
    runs = {point: {plugin.name for plugin in profile.at(point)} for point in EXTENSION_POINTS}
    weights = {plugin.name: plugin.weight for plugin in profile.at(SCORE)}
    ordered = dict.fromkeys(plugin.name for point in EXTENSION_POINTS for plugin in profile.at(point))
    names = [*ordered, *sorted(set(catalog) - set(ordered))]
    return {
        "schedulerName": profile.scheduler_name,
        "percentageOfNodesToScore": arguments.percentage_of_nodes_to_score,
        "plugins": [
            {
                "name": name,
                "enabled": name in ordered,
                "points": [
                    {"name": point, "enabled": name in runs[point]}
                    for point in EXTENSION_POINTS
                    if point in catalog[name]
                ],
                "weight": weights.get(name, 0) if SCORE in catalog[name] else None,
                "arguments": list(_arguments(name, arguments.args(name))),
            }
            for name in names
        ],
    }


def _arguments(plugin: str, args: PluginArgs | RawArgs | None) -> Iterator[Json]:
    """Yield the arguments of a plugin: by field for in-tree plugins, as one value for other plugins."""
    if plugin in ARGS_TYPES:
        yield from _typed(args if isinstance(args, PluginArgs) else ARGS_TYPES[plugin](), ())
    elif isinstance(args, RawArgs):
        yield _argument((), VALUE, args.value)


def _typed(struct: ConfigStruct, path: tuple[str, ...]) -> Iterator[Json]:
    hints = typing.get_type_hints(type(struct), include_extras=True)
    for field in msgspec.structs.fields(struct):
        value, hint = getattr(struct, field.name), hints[field.name]
        where = (*path, field.encode_name)
        if isinstance(hint, type) and issubclass(hint, ConfigStruct):
            yield from _typed(value, where)
        else:
            yield _argument(where, _kind(hint), to_wire(value))


def _kind(hint: Any) -> str:
    if typing.get_origin(hint) in (typing.Union, python_types.UnionType):
        hint = next(each for each in typing.get_args(hint) if each is not type(None))
    if typing.get_origin(hint) is typing.Annotated:
        return NUMBER
    return BOOLEAN if hint is bool else TEXT if hint in (str, Duration) else VALUE


def _argument(path: tuple[str, ...], kind: str, value: Any) -> Json:
    name = ".".join(path)
    return {"path": list(path), "name": name, "kind": kind, "value": value, "choices": list(CHOICES.get(name, ()))}


# -- a text for a configuration that has none


def text_of(loaded: Loaded) -> str:
    """Return a configuration as YAML with its differences from the defaults, without secrets."""
    wire = without_secrets(to_wire(loaded.config), hidden="")
    plain = to_wire(load(None, loaded.gates).config)
    shown = {"apiVersion": API_VERSION, "kind": KIND}
    for name, value in wire.items():
        if name == "profiles":
            value = [_short_profile(profile, plain["profiles"][0]) for profile in value]
        elif value == plain.get(name):
            continue
        shown[name] = value
    return dump(shown, sort_keys=False)


def _short_profile(profile: Json, plain: Json) -> Json:
    """Return a profile without its default plugins and arguments."""
    known = {each["name"]: each for each in plain["pluginConfig"]}
    arguments = [each for each in profile.get("pluginConfig", ()) if known.get(each["name"]) != each]
    plugins = {
        point: value for point, value in profile["plugins"].items() if value and value != plain["plugins"].get(point)
    }
    short = {"schedulerName": profile["schedulerName"]}
    if profile.get("percentageOfNodesToScore") is not None:
        short["percentageOfNodesToScore"] = profile["percentageOfNodesToScore"]
    return {**short, **({"plugins": plugins} if plugins else {}), **({"pluginConfig": arguments} if arguments else {})}

"""The page of KubeSchedulerConfiguration: its fields with types and defaults, arguments of plugins, default plugins.

From the structs of `config` and a completed default configuration to Markdown.
"""

import types
import typing
from collections.abc import Iterator
from typing import Any

import msgspec
import yaml

from kubesched.config import args as plugin_args
from kubesched.config.encoding import to_wire
from kubesched.config.golang import Duration
from kubesched.config.load import load
from kubesched.config.types import API_VERSION, KIND, ConfigStruct, KubeSchedulerConfiguration, PluginArgs, RawArgs
from tools.reference.cells import cell

Struct = type[ConfigStruct]
INTRODUCTION = f"""\
# Configuration

This page lists the fields of `{KIND}`
(`{API_VERSION}`), the file for `--config`. The fields are those of kube-scheduler, and
[its reference](https://kubernetes.io/docs/reference/config-api/kube-scheduler-config.v1/) describes each of them.
kubesched accepts `parallelism`, `acceptContentTypes`, `contentType` and `enableContentionProfiling`, but they have no
effect.

`kubesched config show FILE` prints a configuration with all defaults, and the plugins of each profile in order. Feature
gates are flags of [`kubesched run`](commands/run.md). This page is written by `make docs`.
"""
NAMES: dict[Any, str] = {
    str: "text",
    int: "number",
    float: "number",
    bool: "boolean",
    bytes: "base64",
    Duration: "duration",
}

# longer defaults are left out: the parts have tables of their own
LONGEST = 120


def page() -> str:
    """Return the page."""
    completed = load().config
    parts = [INTRODUCTION]
    for kind in _structs(KubeSchedulerConfiguration):
        example = completed if kind is KubeSchedulerConfiguration else _part(completed, kind)
        parts.append(_section(kind, example))
    parts.append("## Arguments of plugins\n\n`pluginConfig` has them by the plugin's name.\n")
    seen: set[Struct] = set()
    defaults = {each.name: each.args for each in completed.profiles[0].plugin_config}
    for name, kind in plugin_args.ARGS_TYPES.items():
        for each in _structs(kind, seen):
            parts.append(_section(each, defaults.get(name) if each is kind else None, depth=3))
    parts.append(_plugins(completed))
    return "\n".join(parts)


def _structs(kind: Struct, seen: set[Struct] | None = None) -> Iterator[Struct]:
    """Yield a struct and those that its fields are made of, each once."""
    seen = set() if seen is None else seen
    if kind in seen:
        return
    seen.add(kind)
    yield kind
    for field in msgspec.structs.fields(kind):
        for part in _structs_in(field.type):
            yield from _structs(part, seen)


def _structs_in(hint: Any) -> Iterator[Struct]:
    is_struct = isinstance(hint, type) and not isinstance(hint, types.GenericAlias) and issubclass(hint, ConfigStruct)
    if is_struct and hint not in (PluginArgs, RawArgs):
        yield hint
    for part in typing.get_args(hint):
        yield from _structs_in(part)


def _part(completed: Any, kind: Struct) -> Any:
    """Return the first struct of a kind in the default configuration."""
    for field in msgspec.structs.fields(completed):
        value = getattr(completed, field.name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, kind):
                return each
    return None


def _section(kind: Struct, example: Any, depth: int = 2) -> str:
    lines = [f"{'#' * depth} {kind.__name__}\n", f"{_sentence(kind)}\n"]
    lines += ["| field | type | default |", "|---|---|---|"]
    lines += [
        f"| `{each.encode_name}` | {_type(each.type)} | {_default(each, example)} |"
        for each in msgspec.structs.fields(kind)
    ]
    return "\n".join(lines) + "\n"


def _sentence(kind: Struct) -> str:
    """Return what a struct is; what its docstring says of the code comes behind a semicolon."""
    return (kind.__doc__ or "").strip().splitlines()[0].partition(";")[0].rstrip(".") + "."


def _type(hint: Any) -> str:
    origin, parts = typing.get_origin(hint), [each for each in typing.get_args(hint) if each is not type(None)]
    if origin is typing.Annotated:
        return _type(parts[0])
    if origin is tuple:
        return f"list of {_type(parts[0])}"
    if origin is dict:
        return f"map of {_type(parts[1])}"
    if origin in (types.UnionType, typing.Union):
        return "arguments" if len(parts) > 1 else _type(parts[0])
    return NAMES.get(hint) or (f"[{hint.__name__}](#{hint.__name__.lower()})" if isinstance(hint, type) else "any")


def _default(field: msgspec.structs.FieldInfo, example: Any) -> str:
    value = getattr(example, field.name) if example is not None else field.default
    if value is msgspec.NODEFAULT or value is None or value in ("", ()):
        return ""
    written = yaml.safe_dump(to_wire(value), default_flow_style=True, width=1000).removesuffix("...\n").strip()
    return f"`{cell(written)}`" if len(written) <= LONGEST else ""


def _plugins(completed: KubeSchedulerConfiguration) -> str:
    enabled = completed.profiles[0].plugins.multi_point.enabled
    lines = [
        "## Default plugins\n",
        "Enabled at `multiPoint` of every profile, in this order.\n",
        "| plugin | weight |",
        "|---|---|",
    ]
    return "\n".join([*lines, *(f"| `{each.name}` | {each.weight or ''} |" for each in enabled)]) + "\n"

"""The rights that plugins need beyond those of every scheduler.

From the custom kinds that plugins look up, and the kinds that they declare to write, to rules of a role.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from kubesched.api.kinds import API_VERSIONS
from kubesched.api.paths import plural_of

Rules = list[dict[str, Any]]
_READ = ("get", "list", "watch")


class CustomName(NamedTuple):
    """The parts of a name such as `foos.v1.example.com`."""

    plural: str
    version: str
    group: str


def custom_kinds(names: Iterable[str]) -> list[str]:
    """Return the kinds that are custom resources, such as `foos.v1.example.com`."""
    return [name for name in names if "." in name]


def name_parts(name: str) -> CustomName:
    """Return plural, version and group of a custom kind."""
    plural, _, rest = name.partition(".")
    version, _, group = rest.partition(".")
    return CustomName(plural, version, group)


def rules_of(kinds: Iterable[str], writes: Iterable[str]) -> Rules:
    """Return rules to read custom kinds, and to write `Pod/eviction`, `foos.v1.example.com/status` and the like."""
    reads = [_rule(name_parts(name).group, name_parts(name).plural, _READ) for name in custom_kinds(kinds)]
    return reads + [_write_rule(written) for written in dict.fromkeys(writes)]


def _write_rule(written: str) -> dict[str, Any]:
    kind, _, subresource = written.partition("/")
    if kind in API_VERSIONS:
        plural, group = plural_of(kind), API_VERSIONS[kind].rpartition("/")[0]
    else:
        plural, _, group = name_parts(kind)
    resource = f"{plural}/{subresource}" if subresource else plural
    return _rule(group, resource, ("create",) if subresource == "eviction" else ("patch",))


def _rule(group: str, resource: str, verbs: Iterable[str]) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}

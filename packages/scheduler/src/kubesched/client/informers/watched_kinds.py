"""The kinds that a scheduler needs: its plugins look them up or register events for them.

From the enabled plugins to the kinds, each with its path, its struct and the query that selects its objects.
"""

# upstream: eventhandlers.go (addAllEventHandlers), scheduler.go (NewInformerFactory) (v1.36)

from collections.abc import Mapping

import msgspec

from kubesched.api.custom import custom_kind
from kubesched.api.kinds import KINDS
from kubesched.api.meta import ApiObject
from kubesched.api.paths import path_of
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.framework.building.plugin_rights import name_parts
from kubesched.core.framework.building.profile import Profile, registered_events
from kubesched.core.framework.plugin import Plugin

ALWAYS = ("Node", "Pod")
# finished pods take up no resources
UNFINISHED = {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}
_OF_GATES = {"DRADeviceTaintRules": "DeviceTaintRule", "GenericWorkload": "PodGroup"}


class WatchedKind(msgspec.Struct, frozen=True):
    """A kind to watch: its path, the struct to decode to, and the query that selects its objects."""

    name: str
    path: str
    kind: type[ApiObject]
    query: Mapping[str, str] = {}
    # the plugins that look up the kind or register events for it
    needed_by: tuple[str, ...] = ()


def watched_kinds(profiles: Mapping[str, Profile], gates: FeatureGates) -> list[WatchedKind]:
    """Return the kinds that the plugins of all profiles look up or register events for."""
    names: dict[str, dict[str, None]] = {name: {} for name in ALWAYS}
    for plugin in (plugin for profile in profiles.values() for plugin in profile.plugins.values()):
        for name in kinds_of(plugin):
            names.setdefault(name, {})[plugin.name] = None
    for gate, kind in _OF_GATES.items():
        if gates.enabled(gate):
            names.setdefault(kind, {})[f"feature gate {gate}"] = None
    return [found for name, needed_by in names.items() if (found := watched_kind(name, tuple(needed_by))) is not None]


def kinds_of(plugin: Plugin) -> list[str]:
    """Return the kinds that a plugin looks up or registers events for."""
    return [*plugin.looks_up, *(each.event.resource.rpartition("/")[2] for each in registered_events(plugin))]


def watched_kind(name: str, needed_by: tuple[str, ...] = ()) -> WatchedKind | None:
    """Return the kind to watch for a resource of a registration; None for resources that are not watched."""
    if name in KINDS:
        return WatchedKind(name, path_of(name), KINDS[name], UNFINISHED if name == "Pod" else {}, needed_by)
    plural, version, group = name_parts(name)
    if not (plural and version and group):
        return None
    return WatchedKind(name, f"/apis/{group}/{version}/{plural}", custom_kind(name), {}, needed_by)

"""Changes of a configuration that users make in the form.

From the plain value of a configuration and a change (`{"do": "weight", "profile": 0, "plugin": ..., "weight": 5}`) to
the value after it. Everything that the change does not touch stays equal, so that the text can keep the rest.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kubesched.config.defaults import complete
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.intree import EXTENSION_POINTS, Catalog
from kubesched.config.load import decode
from kubesched.config.types import API_VERSION, DEFAULT_SCHEDULER_NAME, KIND, PluginSet
from kubesched.errors import KubeschedError

MULTI_POINT, SCORE = "multiPoint", "score"
FIELDS = ("percentageOfNodesToScore", "parallelism", "podInitialBackoffSeconds", "podMaxBackoffSeconds")
PROFILE_FIELDS = ("schedulerName", "percentageOfNodesToScore")
Tree = dict[str, Any]


class FormChangeError(KubeschedError):
    """A change that the form cannot make; the message names its field."""


class FormChange(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A change of the form: the operation, its place and the value; fields that `do` does not need are ignored."""

    do: str
    profile: int = 0
    plugin: str = ""
    point: str = MULTI_POINT
    field: str = ""
    path: tuple[str, ...] = ()
    weight: int = 0
    value: Any = None


def changed_tree(tree: Any, change: FormChange, gates: FeatureGates, catalog: Catalog) -> Tree:
    """Return the configuration after a change; raises FormChangeError."""
    if not isinstance(tree, dict | None):
        raise FormChangeError("the text is not a configuration: it has no fields")
    new: Tree = copy.deepcopy(tree or {}) or {"apiVersion": API_VERSION, "kind": KIND}
    make = _CHANGES.get(change.do)
    if make is None:
        raise FormChangeError(f"do: {change.do!r} is not known: write one of {', '.join(_CHANGES)}")
    make(_Configuration(new, gates, catalog), change)
    return new


class _Configuration:
    """A configuration that is changed in place."""

    def __init__(self, tree: Tree, gates: FeatureGates, catalog: Catalog) -> None:
        self.tree = tree
        self._gates = gates
        self._catalog = catalog

    def profile(self, number: int) -> Tree:
        """Return a profile; the first one exists even if the text does not have it."""
        profiles = self.tree.get("profiles") or []
        if number == 0 and not profiles:
            profiles = [{"schedulerName": DEFAULT_SCHEDULER_NAME}]
        if not isinstance(profiles, list) or not 0 <= number < len(profiles):
            raise FormChangeError(f"profile: there is no profile {number}")
        if not isinstance(profiles[number], dict):
            raise FormChangeError(f"profiles[{number}]: it is not an object: fix the text first")
        self.tree["profiles"] = profiles
        found: Tree = profiles[number]
        return found

    def plugin_lists(self, change: FormChange, point: str) -> tuple[list[Any], list[Any]]:
        """Return the entries that are enabled and disabled at an extension point, as the text has them."""
        if change.plugin not in self._catalog:
            raise FormChangeError(f"plugin: there is no plugin {change.plugin!r}")
        if point not in (MULTI_POINT, *EXTENSION_POINTS):
            raise FormChangeError(f"point: {point!r} is not an extension point")
        written = _object(_object(self.profile(change.profile), "plugins"), point)
        return _list(written, "enabled"), _list(written, "disabled")

    def is_enabled(self, change: FormChange, point: str) -> bool:
        """Return whether a plugin is enabled at an extension point, defaults included."""
        try:
            config = complete(decode(msgspec.json.encode(self.tree)), self._gates)
        except ConfigError as error:
            raise FormChangeError(f"fix the text first: {error.errors[0]}") from None
        plugins = config.profiles[change.profile].plugins
        here = plugins.at(point)
        if _lists(here, change.plugin):
            return True
        if point == MULTI_POINT or {"*", change.plugin} & {plugin.name for plugin in here.disabled}:
            return False
        return _lists(plugins.multi_point, change.plugin) and point in self._catalog[change.plugin]

    def tidy(self, change: FormChange) -> None:
        """Drop lists and objects that have become empty."""
        _without_empty(self.profile(change.profile), "plugins")
        _without_empty(self.profile(change.profile), "pluginConfig")


def _lists(plugins: PluginSet, name: str) -> bool:
    return any(plugin.name == name for plugin in plugins.enabled)


def _object(parent: Tree, key: str) -> Tree:
    found: Tree = _child(parent, key, dict)
    return found


def _list(parent: Tree, key: str) -> list[Any]:
    found: list[Any] = _child(parent, key, list)
    return found


def _child(parent: Tree, key: str, kind: type) -> Any:
    """Return a field that is an object or a list; create it if it is missing."""
    if parent.get(key) is None:
        parent[key] = kind()
    if not isinstance(parent[key], kind):
        raise FormChangeError(f"{key}: it is not {'an object' if kind is dict else 'a list'}: fix the text first")
    return parent[key]


def _without_empty(parent: Any, key: str) -> None:
    value = parent[key] if isinstance(parent, dict) and key in parent else None
    if isinstance(value, dict):
        for each in list(value):
            _without_empty(value, each)
    if value in ({}, []) and key in parent:
        del parent[key]


def _entry_named(entries: list[Any], name: str) -> Tree | None:
    return next((each for each in entries if isinstance(each, dict) and each.get("name") == name), None)


def _drop(entries: list[Any], name: str) -> None:
    entries[:] = [each for each in entries if not (isinstance(each, dict) and each.get("name") == name)]


# -- changes


def _enable(config: _Configuration, change: FormChange) -> None:
    enabled, disabled = config.plugin_lists(change, change.point)
    _drop(disabled, change.plugin)
    if not config.is_enabled(change, change.point):
        enabled.append({"name": change.plugin})
    config.tidy(change)


def _disable(config: _Configuration, change: FormChange) -> None:
    enabled, disabled = config.plugin_lists(change, change.point)
    _drop(enabled, change.plugin)
    if config.is_enabled(change, change.point):
        disabled.append({"name": change.plugin})
    config.tidy(change)


def _weigh(config: _Configuration, change: FormChange) -> None:
    """Set the weight of a plugin's scores; 0 disables its scores."""
    if not change.weight:
        _disable(config, msgspec.structs.replace(change, point=SCORE))
        return
    scores, silent = config.plugin_lists(change, SCORE)
    _drop(silent, change.plugin)
    everywhere, _ = config.plugin_lists(change, MULTI_POINT)
    entry = _entry_named(scores, change.plugin) or _entry_named(everywhere, change.plugin)
    if entry is None:
        entry = {"name": change.plugin}
        # of a plugin that is on by default, an entry of multiPoint is its weight and nothing else
        (everywhere if config.is_enabled(change, MULTI_POINT) else scores).append(entry)
    entry["weight"] = change.weight
    config.tidy(change)


def _argue(config: _Configuration, change: FormChange) -> None:
    """Set an argument of a plugin; null resets it to its default."""
    entries = _list(config.profile(change.profile), "pluginConfig")
    entry = _entry_named(entries, change.plugin)
    if entry is None:
        entry = {"name": change.plugin}
        entries.append(entry)
    if not change.path:
        entry["args"] = change.value
    else:
        *above, last = change.path
        args = _object(entry, "args")
        for each in above:
            args = _object(args, each)
        args[last] = change.value
        if change.value is None:
            del args[last]
            _without_empty(entry, "args")
    if not entry.get("args"):
        _drop(entries, change.plugin)
    config.tidy(change)


def _set_field(config: _Configuration, change: FormChange) -> None:
    _put(config.tree, FIELDS, change)


def _set_profile_field(config: _Configuration, change: FormChange) -> None:
    _put(config.profile(change.profile), PROFILE_FIELDS, change)


def _put(parent: Tree, names: tuple[str, ...], change: FormChange) -> None:
    if change.field not in names:
        raise FormChangeError(f"field: {change.field!r} is not in the form: write one of {', '.join(names)}")
    if change.value is None:
        parent.pop(change.field, None)
    else:
        parent[change.field] = change.value


def _add_profile(config: _Configuration, change: FormChange) -> None:
    config.profile(0)
    config.tree["profiles"].append({"schedulerName": str(change.value or "another-scheduler")})


def _remove_profile(config: _Configuration, change: FormChange) -> None:
    config.profile(change.profile)
    if len(config.tree["profiles"]) == 1:
        raise FormChangeError("profile: the last profile cannot be removed")
    del config.tree["profiles"][change.profile]


_CHANGES: Mapping[str, Callable[[_Configuration, FormChange], None]] = {
    "enable": _enable,
    "disable": _disable,
    "weight": _weigh,
    "argument": _argue,
    "field": _set_field,
    "profile-field": _set_profile_field,
    "add-profile": _add_profile,
    "remove-profile": _remove_profile,
}

"""Answers to corpus questions about cluster events: the registrations of plugins, and the events of an update."""

from collections.abc import Iterable, Mapping
from typing import Any

from kubesched.api.codec import decode
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.config.feature_gates import FeatureGates
from kubesched.conformance.single_plugins import SinglePlugins
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import (
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    ReservePlugin,
)
from kubesched.core.framework.values.events import Action, Registration, registrations_for_extenders
from kubesched.core.queue.update_events import node_events, pod_events
from kubesched.errors import InvalidObjectError, PluginError


def answer(line: Mapping[str, Any], registry: Registry | None = None) -> dict[str, Any]:
    """Return the events of an update, or the registrations of every plugin that can reject a pod."""
    if "oldObj" in line or "newObj" in line:
        return {"events": _change(line)}
    return {"plugins": _registered(line, registry)}


def _change(line: Mapping[str, Any]) -> list[str]:
    gates = FeatureGates(line.get("featureGates") or {})
    old, new = decode(line["oldObj"]), decode(line["newObj"])
    if isinstance(old, Pod) and isinstance(new, Pod):
        events = pod_events(old, new, gates)
    elif isinstance(old, Node) and isinstance(new, Node):
        events = node_events(old, new, gates)
    else:
        raise InvalidObjectError(f"expected two versions of a pod or a node, got {old.kind} and {new.kind}")
    return [f"{event.resource}/{event.action.text}" for event in events]


def _registered(line: Mapping[str, Any], registry: Registry | None) -> dict[str, Any]:
    plugins = SinglePlugins(line, registry)
    registered: dict[str, Any] = {}
    if plugins.loaded.config.extenders:
        pod_groups = plugins.gates.enabled("GenericWorkload")
        registered["Extender"] = _described(registrations_for_extenders(pod_groups=pod_groups))
    for name in plugins.names:
        try:
            plugin: Plugin = plugins.build(name)
        except PluginError as error:
            registered[name] = str(error)
            continue
        if _can_reject(plugin):
            registered[name] = _described(plugin.events_to_register())
    return registered


# upstream: framework/runtime/framework.go, shouldHaveEnqueueExtensions (v1.36)
def _can_reject(plugin: Plugin) -> bool:
    """Return whether the plugin can reject a pod, so that the events it registers for matter."""
    return isinstance(plugin, PreEnqueuePlugin | PreFilterPlugin | FilterPlugin | ReservePlugin | PermitPlugin)


def _described(registrations: Iterable[Registration]) -> list[dict[str, Any]]:
    return [
        {
            "resource": str(registration.event.resource),
            "actions": _actions(registration.event.action),
            "hint": registration.hint is not None,
        }
        for registration in registrations
    ]


def _actions(action: Action) -> list[str]:
    """Return the actions one by one, all updates together as Update, all actions as All."""
    if action == Action.ALL:
        return [action.text]
    whole = Action.UPDATE if action & Action.UPDATE == Action.UPDATE else Action(0)
    return [single.text for single in action & ~whole] + ([whole.text] if whole else [])

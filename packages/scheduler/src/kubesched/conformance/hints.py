"""Answers to corpus questions about queueing hints: does an event help a pod that a plugin rejected?"""

from collections.abc import Mapping
from typing import Any

from kubesched.api.codec import decode
from kubesched.api.pods import Pod
from kubesched.conformance.single_plugins import SinglePlugins
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint
from kubesched.errors import InvalidObjectError, PluginError

_ACTIONS: dict[str, Action] = {action.text: action for action in (*Action, Action.UPDATE, Action.ALL)}


def answer(line: Mapping[str, Any], registry: Registry | None = None) -> dict[str, Any]:
    """Return whether the plugin registered for the event, and its hint."""
    plugins = SinglePlugins(line, registry)
    try:
        plugin = plugins.build(line["plugin"])
    except PluginError as error:
        return {"registered": str(error)}
    event = ClusterEvent(line["resource"], _action(line["action"]))
    hints = [registration.hint for registration in plugin.events_to_register() if registration.event.matches(event)]
    if not hints:
        return {"registered": False}
    pod, old, new = (_object(line.get(field), plugins.cluster) for field in ("pod", "oldObj", "newObj"))
    hint = Hint.QUEUE_SKIP
    for function in hints:
        try:
            told = Hint.QUEUE if function is None else function(pod, old, new)
        except Exception as error:
            # Every error counts as a reason to try again.
            return {"registered": True, "hint": Hint.QUEUE.value, "error": str(error) or type(error).__name__}
        if told is Hint.QUEUE:
            hint = Hint.QUEUE
    return {"registered": True, "hint": hint.value}


def _action(text: str) -> Action:
    try:
        return _ACTIONS[text]
    except KeyError:
        raise InvalidObjectError(f"action {text!r}: expected one of {', '.join(_ACTIONS)}") from None


def _object(document: Mapping[str, Any] | None, cluster: ClusterState) -> Any:
    """Return an object in the form that hints get: a pod as PodInfo, None for a missing object."""
    if document is None:
        return None
    obj = decode(document)
    return cluster.reader.read(obj) if isinstance(obj, Pod) else obj

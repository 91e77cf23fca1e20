"""The check of queueing hints: a change that makes a rejected pod fit must wake it.

From an example to findings, in lines, or None. A pod that is not woken by a helpful event waits for minutes, until
the queue is flushed.
"""

from collections.abc import Sequence
from typing import Any

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.values.events import Action, ClusterEvent, Resource
from kubesched.core.loop.event_handlers import RESOURCE_OF_KIND
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.queue.queueing_hints import QueueingHints, QueueingStrategy
from kubesched.core.queue.update_events import node_events, pod_events
from kubesched.core.scheduling.engine import Engine
from kubesched.testing.plugin_checks.answer_checks import Found, findings_text
from kubesched.testing.plugin_checks.checked_plugin import CheckedPlugin, Seen
from kubesched.testing.plugin_checks.cluster_example import ClusterExample, ExampleChange
from kubesched.testing.plugin_checks.plugin_answers import answers_of


def hints_wide_enough(plugin: CheckedPlugin, example: ClusterExample) -> Found:
    """Check that each change that makes a rejected pod fit is an event that the plugin registered for, without
    SKIP.
    """
    pod = example.asked[0]
    before = answers_of(plugin.engine(example.objects), pod)
    for changes, objects in example.states():
        after = answers_of(plugin.engine(objects), pod)
        # a pod without any node was not rejected by the plugin
        if before.rejected and (before.verdicts or before.pre_filter):
            missed = missed_event(plugin, pod, changes[-1])
            if missed and after.fits:
                return findings_text(example, [missed], changes)
            plugin.tally[Seen.WOKEN] += after.fits
            plugin.tally[Seen.SKIPPED] += bool(missed)
        before = after
    return None


def missed_event(
    plugin: CheckedPlugin, pod: Pod, change: ExampleChange, what: str = "fits now and is not tried again"
) -> str:
    """Return why a change would not wake a pod that the plugin rejected; empty if it would."""
    engine = plugin.engine()
    hints = QueueingHints(engine.profiles)
    events = events_of(change, plugin.loaded.gates)
    queued = QueuedPod(engine.cluster.reader.read(pod), 0.0)
    queued.unschedulable_plugins = {plugin.name}
    old, new = _seen(engine, change.old), _seen(engine, change.new)
    registered = hints.events_of(plugin.name)
    covered = [event for event in events if any(each.matches(event) for each in registered)]
    if not events:
        return ""
    if not covered:
        named = " or ".join(f"{event.resource}/{event.action.text}" for event in events)
        return f"the pod {what}: events_to_register does not name {named}"
    for event in covered:
        waking = hints.helps(event, old, new)
        reached = waking is None or bool(waking & hints.waits_for(queued))
        if reached and hints.asking(event, old, new).strategy(queued) is not QueueingStrategy.SKIP:
            return ""
    event = covered[0]
    return (
        f"the pod {what}: the hint for {event.resource}/{event.action.text} "
        "says QUEUE_SKIP, or its subject leaves the pod out"
    )


def events_of(change: ExampleChange, gates: FeatureGates) -> Sequence[ClusterEvent]:
    """Return the events of a change, as the scheduler's event handlers report them."""
    obj: Any = change.new if change.new is not None else change.old
    action = Action.ADD if change.old is None else Action.DELETE if change.new is None else Action.UPDATE
    if isinstance(obj, Node):
        both = isinstance(change.old, Node) and isinstance(change.new, Node)
        return node_events(change.old, change.new, gates) if both else [ClusterEvent(Resource.NODE, action)]  # type: ignore[arg-type]
    if isinstance(obj, Pod):
        both = isinstance(change.old, Pod) and isinstance(change.new, Pod)
        return pod_events(change.old, change.new, gates) if both else [ClusterEvent(Resource.ASSIGNED_POD, action)]  # type: ignore[arg-type]
    kind = type(obj).__name__
    resource = kind if "." in kind else RESOURCE_OF_KIND.get(kind)
    return [] if resource is None else [ClusterEvent(resource, action)]


def _seen(engine: Engine, obj: ApiObject | None) -> ApiObject | PodInfo | None:
    return engine.cluster.reader.read(obj) if isinstance(obj, Pod) else obj

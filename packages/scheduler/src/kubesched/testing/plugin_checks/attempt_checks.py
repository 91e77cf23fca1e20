"""Checks of the hooks other than Filter and Score: answers, Reserve and Unreserve, gates, order in the queue.

From an example to findings, in lines, or None.
"""

from collections.abc import Iterable, Iterator
from copy import deepcopy

import msgspec

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.core.framework.calling.answers import checked_sort_key, checked_status, unchecked
from kubesched.core.framework.calling.hooks import ask
from kubesched.core.framework.values.status import Status
from kubesched.testing.plugin_checks.answer_checks import Found, findings_text
from kubesched.testing.plugin_checks.attempt_hooks import PlacedPod, attempt_problems, placed, plugin_in
from kubesched.testing.plugin_checks.checked_plugin import CheckedPlugin, Seen
from kubesched.testing.plugin_checks.cluster_example import ClusterExample
from kubesched.testing.plugin_checks.hint_checks import missed_event
from kubesched.testing.plugin_checks.plugin_answers import status_text

# number of equal pods that are tried one after the other
PODS = 4


def valid_attempt(plugin: CheckedPlugin, example: ClusterExample) -> Found:
    """Check that no hook of an attempt raises, or returns a value that makes the attempt fail."""
    engine = plugin.engine(example.objects)
    return findings_text(
        example, (problem for _, problem in attempt_problems(plugin, engine, deepcopy(example.asked[0])))
    )


# -- Reserve


def reserves(plugin: CheckedPlugin) -> bool:
    """Return whether a plugin has a reserve hook."""
    return "reserve" in plugin.points


def unreserve_undoes(plugin: CheckedPlugin, example: ClusterExample) -> Found:
    """Check that after reserve and unreserve of some pods, the plugin answers like a new one."""
    reserving = _Reserving(plugin, example)
    for pod in _like(example.asked[0], "tried"):
        place = reserving.place(pod)
        if place is not None:
            reserving.ask("reserve", place)
            reserving.undo(place)
    lines = [*reserving.failures, *_changed(plugin, example, reserving, "after reserve and unreserve of others")]
    return findings_text(example, [f"{line}; unreserve has to release what reserve took" for line in lines[:1]])


def unreserve_alone(plugin: CheckedPlugin, example: ClusterExample) -> Found:
    """Check that unreserve does nothing without reserve, and nothing when called twice."""
    for reserved, when in ((False, "unreserve without reserve"), (True, "unreserve called twice")):
        reserving = _Reserving(plugin, example)
        for pod in _like(example.asked[0], "tried"):
            place = reserving.place(pod)
            if place is not None:
                if reserved:
                    reserving.ask("reserve", place)
                    reserving.ask("unreserve", place)
                reserving.failures.clear()
                reserving.undo(place)
        lines = [*reserving.failures, *_changed(plugin, example, reserving, f"after {when} of others")]
        if lines:
            fix = "it is called for every pod whose attempt fails: release only what the pod holds, and only once"
            return findings_text(example, [f"{when}: {lines[0]}; {fix}"])
    return None


def _like(pod: Pod, name: str) -> Iterator[Pod]:
    """Yield copies of a pod with other names and UIDs."""
    for number in range(PODS):
        metadata = msgspec.structs.replace(pod.metadata, name=f"{name}{number}", uid=f"{name}{number}")
        yield deepcopy(msgspec.structs.replace(pod, metadata=metadata))


def _changed(plugin: CheckedPlugin, example: ClusterExample, reserving: "_Reserving", when: str) -> Iterator[str]:
    """Yield differences between a plugin and a new one, when both reserve for one pod after the other."""
    expected = _Reserving(plugin, example).answers(example.asked[0])
    found = reserving.answers(example.asked[0])
    for number, (before, after) in enumerate(zip(expected, found, strict=True), 1):
        if before != after:
            yield f"pod number {number} like it: a new plugin: {before}; {when}: {after}"


class _Reserving:
    """A plugin with a separate cluster, for calls of Reserve."""

    def __init__(self, plugin: CheckedPlugin, example: ClusterExample) -> None:
        self._engine = plugin.engine(example.objects)
        self._plugin = plugin_in(self._engine, plugin.name)
        self.failures: list[str] = []

    def place(self, pod: Pod) -> PlacedPod | None:
        """Return a pod on a node that accepts it, None if there is none."""
        place = placed(self._engine, pod)
        return None if isinstance(place, str) else place

    def ask(self, hook: str, place: PlacedPod) -> Status | None:
        """Return the answer of a hook; record a failure in unreserve, which would be lost otherwise."""
        status = ask(self._plugin, hook, unchecked if hook == "unreserve" else checked_status, *place)
        if status is not None and hook == "unreserve":
            self.failures.append(status.message)
        return status

    def undo(self, place: PlacedPod) -> None:
        """Unreserve, and forget the pod."""
        self.ask("unreserve", place)
        self._engine.cluster.forget(place.pod)
        self._engine.cluster.remove(place.pod.pod)

    def answers(self, pod: Pod) -> list[str]:
        """Return the answers to one pod after the other, each keeping its reservation."""
        found = []
        for each in _like(pod, "next"):
            place = placed(self._engine, each)
            if isinstance(place, str):
                found.append(place)
                continue
            status = self.ask("reserve", place)
            found.append(f"node {place.node_name}: {status_text(status)}")
            if status is not None and not status.ok:
                self.undo(place)
        return found


# -- the queue


def gates(plugin: CheckedPlugin) -> bool:
    """Return whether a plugin gates pods."""
    return "preEnqueue" in plugin.points


def events_open_gates(plugin: CheckedPlugin, example: ClusterExample) -> Found:
    """Check that each change that opens a gate is an event that the plugin registered for."""
    pod = example.asked[0]
    before = _gated(plugin, example.objects, pod)
    for changes, objects in example.states():
        after = _gated(plugin, objects, pod)
        plugin.tally[Seen.GATED] += before
        if before and not after:
            missed = missed_event(plugin, pod, changes[-1], "is no longer gated, but stays out of activeQ")
            if missed:
                return findings_text(example, [missed], changes)
            plugin.tally[Seen.OPENED] += 1
        before = after
    return None


def _gated(plugin: CheckedPlugin, objects: Iterable[ApiObject], pod: Pod) -> bool:
    engine = plugin.engine(objects)
    status = ask(
        plugin_in(engine, plugin.name), "pre_enqueue", checked_status, engine.cluster.reader.read(deepcopy(pod))
    )
    return status is not None and status.rejected


def sorts(plugin: CheckedPlugin) -> bool:
    """Return whether a plugin orders the queue."""
    return "queueSort" in plugin.points


def one_order(plugin: CheckedPlugin, example: ClusterExample) -> Found:
    """Check that keys are tuples of numbers, and always the same for the same pod."""
    pods = [*example.asked, *(obj for obj in example.objects if isinstance(obj, Pod))]
    first, again, other = (_keys(plugin, example, pods, repeated) for repeated in (1, 2, 1))
    lines = [str(key) for key in first if isinstance(key, str)][:1]
    for found_by, found in (("asked again", again), ("a new plugin", other)):
        lines += [
            f"pod {pod.name}: sort_key {was}, {found_by} {now}: pods would have no order; "
            "derive it from the pod and its timestamp alone"
            for pod, was, now in zip(pods, first, found, strict=True)
            if was != now
        ]
    return findings_text(example, lines[:1])


def _keys(plugin: CheckedPlugin, example: ClusterExample, pods: list[Pod], times: int) -> list[tuple[float, ...] | str]:
    """Return the keys of pods, computed several times; a text if the hook fails."""
    engine = plugin.engine(example.objects)
    built = plugin_in(engine, plugin.name)
    found: list[tuple[float, ...] | str] = []
    for number in range(times * len(pods)):
        read = engine.cluster.reader.read(deepcopy(pods[number % len(pods)]))
        key = ask(built, "sort_key", checked_sort_key, read, 1.0)
        found.append(key.message if isinstance(key, Status) else key)
    return found[-len(pods) :]

"""Slow scheduling cycles: logged, with the plugin that took the time; their pods back off longer.

From the loop's clock and an attempt's stopwatch to a line for the log and to `QueuedPod.took_seconds`, by which
`queue.backoff` prevents one pod from blocking all other pods.
"""

from collections.abc import Sequence

from kubesched.common.notes import Note
from kubesched.core.framework.observing.observer import Stopwatch
from kubesched.core.queue.backoff import SLOW_SECONDS, slow_backoff_seconds
from kubesched.core.scheduling.outcomes import PodAttempt

# The log names an extension point or a plugin that took at least this share of the cycle's time.
MOST_OF_IT = 0.5


def note_duration(pods: Sequence[PodAttempt], seconds: float, note: Note) -> None:
    """Store the duration of the cycle of a pod, or of the pods of a group; log it if it was slow."""
    for attempt in pods:
        attempt.queued.took_seconds = seconds
    if seconds > SLOW_SECONDS:
        name = pods[0].queued.pod.full_name
        what = f"pod {name}" if len(pods) == 1 else f"the group of pod {name}, {len(pods)} pods,"
        # each pod of a group has a stopwatch: report the one with the longest extension point
        longest = max((attempt.stopwatch for attempt in pods), key=lambda watch: watch.longest_point[1])
        wait = slow_backoff_seconds(seconds)
        note(
            f"scheduling {what} took {seconds:.1f} s{_most_of_it(longest, seconds)}; nothing else was scheduled "
            f"meanwhile. If it fails it is not tried again for {wait:.0f} s"
        )


def _most_of_it(stopwatch: Stopwatch, seconds: float) -> str:
    """Return the extension point or plugin that took most of the time, if there is one."""
    point, point_seconds = stopwatch.longest_point
    if point_seconds < MOST_OF_IT * seconds:
        return ""
    plugin, plugin_point, plugin_seconds = stopwatch.longest_plugin
    if plugin_seconds < MOST_OF_IT * seconds:
        return f", {point_seconds:.1f} s of it in {point}"
    return f", {plugin_seconds:.1f} s of it in plugin {plugin} at {plugin_point}"

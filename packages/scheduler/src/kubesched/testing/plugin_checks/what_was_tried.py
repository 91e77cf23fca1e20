"""The subjects of a check's examples: how often the plugin rejected a pod, woke it, or did not wake it.

From the tally of a checked plugin to the note beside a check, and to a warning if the examples had no such case.
"""

from collections.abc import Callable
from typing import NamedTuple

from kubesched.testing.plugin_checks.checked_plugin import CheckedPlugin, Seen
from kubesched.testing.plugin_checks.plugin_report import CheckResult, Outcome

GIVE_OBJECTS = "give nodes, pods or objects that make it so (--objects FILE)"


class ExamplesTried(NamedTuple):
    """The note about a check, and why it proves nothing; empty if it does."""

    note: str = ""
    warning: str = ""


def tried_answers(plugin: CheckedPlugin) -> ExamplesTried:
    """Return how often hooks gave the relevant answers."""
    rejected, differing = plugin.tally[Seen.REJECTED], plugin.tally[Seen.SCORES_DIFFER]
    notes, warnings = [], []
    if not plugin.points.isdisjoint(("preFilter", "filter")):
        notes.append(f"{rejected} rejected")
        if not rejected:
            warnings.append(f"no example was rejected, so rejections were not tested: {GIVE_OBJECTS}")
    if "score" in plugin.points:
        notes.append(f"{differing} with different scores")
        if not differing:
            warnings.append(f"no example had nodes with different scores: {GIVE_OBJECTS}")
    return ExamplesTried(", ".join(notes), "; ".join(warnings))


def tried_hints(plugin: CheckedPlugin) -> ExamplesTried:
    """Return how often a helpful change woke a rejected pod, and a useless one did not."""
    woken, skipped = plugin.tally[Seen.WOKEN], plugin.tally[Seen.SKIPPED]
    warning = f"no change let a rejected pod fit, so hints were not tested: {GIVE_OBJECTS}"
    return ExamplesTried(
        f"{woken} woken by a change that helps, {skipped} not woken by others", "" if woken else warning
    )


def tried_gates(plugin: CheckedPlugin) -> ExamplesTried:
    """Return how often a pod was gated, and how often a change opened its gate."""
    gated, opened = plugin.tally[Seen.GATED], plugin.tally[Seen.OPENED]
    warning = f"no change opened the gate of a pod, so hints were not tested: {GIVE_OBJECTS}"
    return ExamplesTried(f"{gated} gated, {opened} opened by a change", "" if opened else warning)


def passed(
    title: str, examples: int, tried: Callable[[CheckedPlugin], ExamplesTried] | None, plugin: CheckedPlugin
) -> CheckResult:
    """Return the result of a check without findings: passed, or a warning if it tried nothing."""
    found = ExamplesTried() if tried is None else tried(plugin)
    note = ", ".join(part for part in (f"{examples} examples", found.note) if part)
    if found.warning:
        return CheckResult(title, Outcome.WARNED, (found.warning,), note=note)
    return CheckResult(title, Outcome.PASSED, note=note)

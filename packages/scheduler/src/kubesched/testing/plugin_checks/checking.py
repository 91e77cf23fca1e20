"""`check_plugin`: does a plugin follow the contract?

From a plugin, its arguments and (if necessary) objects that it reads to a report. If the plugin cannot be built, all
further checks are skipped.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kubesched.core.framework.building.registry import plugin_class
from kubesched.core.framework.plugin import Plugin
from kubesched.errors import KubeschedError, PluginError
from kubesched.testing.plugin_checks.answer_checks import (
    asked_twice,
    forms_agree,
    has_forms,
    inputs_unchanged,
    kept_equals_fresh,
    valid_answers,
)
from kubesched.testing.plugin_checks.attempt_checks import (
    events_open_gates,
    gates,
    one_order,
    reserves,
    sorts,
    unreserve_alone,
    unreserve_undoes,
    valid_attempt,
)
from kubesched.testing.plugin_checks.attempt_hooks import has_attempt_hooks
from kubesched.testing.plugin_checks.blocking_calls import blocking_calls
from kubesched.testing.plugin_checks.checked_plugin import CheckedPlugin
from kubesched.testing.plugin_checks.cluster_example import ClusterExample
from kubesched.testing.plugin_checks.hint_checks import hints_wide_enough
from kubesched.testing.plugin_checks.mutation import mutation_result
from kubesched.testing.plugin_checks.plugin_report import CheckResult, Outcome, PluginReport
from kubesched.testing.plugin_checks.plugin_speed import speed_result
from kubesched.testing.plugin_checks.vocabulary import words_of
from kubesched.testing.plugin_checks.what_was_tried import (
    ExamplesTried,
    passed,
    tried_answers,
    tried_gates,
    tried_hints,
)
from kubesched.testing.plugin_checks.world_checks import filters, worlds_agree

if TYPE_CHECKING:
    from kubesched.testing.plugin_checks.strategies import ExampleStrategies, Objects

EXAMPLES = 100
MOST_CHANGES = 5
BUILDS = "builds at start"
BLOCKS = "no hook blocks"


def check_plugin(
    plugin: type[Plugin] | Callable[..., Any],
    *,
    args: Any = None,
    examples: int = EXAMPLES,
    nodes: "Objects | None" = None,
    pods: "Objects | None" = None,
    objects: "Objects | None" = None,
    speed: bool = True,
    stop_at_first: bool = False,
    mutate: bool = False,
) -> PluginReport:
    """Return a report about a plugin, tried on `examples` random clusters for each check.

    `args` are its arguments, as in pluginConfig or an instance of their class. `objects` are objects of the kinds
    that it looks up; `nodes` and `pods` replace random ones, if those do not exercise the plugin. Each is a list or a
    strategy of one. `speed` measures the plugin at 5000 nodes; `stop_at_first` stops at the first failed check. With
    `mutate` the report also has the mutants of the plugin, broken on purpose, that the checks would not notice.
    """
    try:
        from kubesched.testing.plugin_checks.minimal_examples import drawn_examples
        from kubesched.testing.plugin_checks.strategies import ExampleStrategies
    except ModuleNotFoundError as missing:
        raise KubeschedError(
            f'checks of plugins need {missing.name}, which is not installed: pip install "kubesched[testing]"'
        ) from None
    try:
        checked = CheckedPlugin(plugin, args)
        checked.start()
    except PluginError as error:
        return PluginReport(_name_of(plugin), (CheckResult(BUILDS, Outcome.FAILED, (str(error),)),))
    words = words_of(checked.kind, checked.args_with_defaults)
    parts = ExampleStrategies.for_words(words, nodes=nodes, pods=pods, objects=objects)
    results = [CheckResult(BUILDS, Outcome.PASSED)]
    blocking = blocking_calls(checked)
    results.append(CheckResult(BLOCKS, Outcome.FAILED if blocking else Outcome.PASSED, tuple(blocking)))
    # each example would be delayed
    if not blocking:
        results += _checked_by_examples(checked, parts, examples, one=stop_at_first)
    if mutate and not blocking:
        drawn = drawn_examples(parts.examples(asked=2, changes=MOST_CHANGES), examples, parts.simple_examples())
        results.append(mutation_result(checked, {check.title: check.finds for check in _concerning(checked)}, drawn))
    if speed and _answers(checked) and not blocking:
        results.append(speed_result(checked))
    return PluginReport(checked.name, tuple(results))


def _checked_by_examples(
    plugin: CheckedPlugin, parts: "ExampleStrategies", examples: int, *, one: bool
) -> Iterator[CheckResult]:
    from kubesched.testing.plugin_checks.minimal_examples import smallest_findings

    checks = {check.title: partial(check.finds, plugin) for check in _concerning(plugin)}
    strategy = parts.examples(asked=2, changes=MOST_CHANGES)
    findings = smallest_findings(strategy, checks, examples, parts.simple_examples(), one=one)
    for check in _CHECKS:
        if check.title in findings:
            yield CheckResult(check.title, Outcome.FAILED, ("\n".join(findings[check.title]),))
        elif findings and one:
            yield CheckResult(check.title, Outcome.SKIPPED, note="another check failed")
        elif check.title in checks:
            yield passed(check.title, examples, check.tried, plugin)
        else:
            yield CheckResult(check.title, Outcome.SKIPPED, note="the plugin has no such hooks")


def _concerning(plugin: CheckedPlugin) -> "list[ExampleCheck]":
    return [check for check in _CHECKS if check.concerns(plugin)]


def _name_of(plugin: Any) -> str:
    kind = plugin_class(plugin)
    return (kind.name or kind.__qualname__) if kind is not None else repr(plugin)


_ANSWERING = frozenset(("preFilter", "filter", "preScore", "score"))


def rejects(plugin: CheckedPlugin) -> bool:
    """Return whether a plugin can reject tried pods."""
    return not plugin.points.isdisjoint(("preFilter", "filter"))


def _answers(plugin: CheckedPlugin) -> bool:
    return not _ANSWERING.isdisjoint(plugin.points)


class ExampleCheck(NamedTuple):
    """A check: its text, its function that looks for findings in an example, and its condition on plugins."""

    title: str
    finds: Callable[[CheckedPlugin, ClusterExample], list[str] | None]
    concerns: Callable[[CheckedPlugin], bool] = _answers
    # the subjects of its examples
    tried: Callable[[CheckedPlugin], ExamplesTried] | None = None


_CHECKS = (
    ExampleCheck("hooks return valid answers, scores from 0 to 100", valid_answers, tried=tried_answers),
    ExampleCheck("the same answer when asked twice", asked_twice),
    ExampleCheck("hooks of an attempt return valid answers", valid_attempt, has_attempt_hooks),
    ExampleCheck("pods and nodes are not changed", inputs_unchanged, lambda plugin: True),
    ExampleCheck("forms agree", forms_agree, has_forms),
    ExampleCheck("kept answers equal fresh ones", kept_equals_fresh),
    ExampleCheck("what-if worlds agree with clusters", worlds_agree, filters),
    ExampleCheck("events wake rejected pods", hints_wide_enough, rejects, tried_hints),
    ExampleCheck("events open gates", events_open_gates, gates, tried_gates),
    ExampleCheck("unreserve releases what reserve took", unreserve_undoes, reserves),
    ExampleCheck("unreserve may come without reserve, and twice", unreserve_alone, reserves),
    ExampleCheck("pods have one order in the queue", one_order, sorts),
)

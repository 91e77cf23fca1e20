"""Which mutants of a plugin do the checks notice?

From a plugin and examples to a result. A mutant is noticed if a check fails for it, or if it answers differently from
the plugin. A mutant that survives is a bug that these examples cannot reveal.
"""

from collections.abc import Callable, Mapping, Sequence

from kubesched.api.custom import CustomObject
from kubesched.config.intree import IN_TREE
from kubesched.errors import PluginError
from kubesched.testing.plugin_checks.checked_plugin import CheckedPlugin
from kubesched.testing.plugin_checks.cluster_example import ClusterExample
from kubesched.testing.plugin_checks.mutants import Mutant, mutants_of
from kubesched.testing.plugin_checks.plugin_answers import answers_of
from kubesched.testing.plugin_checks.plugin_report import CheckResult, Outcome

TITLE = "mutants are noticed"
BLIND = "finds none of the objects that it looks up"
Checks = Mapping[str, Callable[[CheckedPlugin, ClusterExample], list[str] | None]]


def mutation_result(plugin: CheckedPlugin, checks: Checks, examples: Sequence[ClusterExample]) -> CheckResult:
    """Return how many mutants of a plugin were noticed, with a finding for each that survived."""
    if plugin.name in IN_TREE:
        return CheckResult(TITLE, Outcome.SKIPPED, note="in-tree plugins have no mutants")
    tried = {mutant.what: _noticed(plugin, mutant, checks, examples) for mutant in mutants_of(plugin.kind)}
    if plugin.kind.looks_up:
        tried[BLIND] = any(_differs_without_objects(plugin, example) for example in examples)
    survivors = [what for what, noticed in tried.items() if not noticed]
    findings = tuple(f"survived: a plugin that {what}" for what in survivors)
    if survivors:
        findings = (*findings, "these examples would not reveal such a bug: give other objects with --objects")
    outcome = Outcome.WARNED if survivors else Outcome.PASSED
    return CheckResult(TITLE, outcome, findings, note=f"{len(tried) - len(survivors)} of {len(tried)}")


def _noticed(plugin: CheckedPlugin, mutant: Mutant, checks: Checks, examples: Sequence[ClusterExample]) -> bool:
    try:
        broken = plugin.replaced_by(mutant.broken(plugin.kind))
        broken.start()
    except PluginError:
        return True
    return any(_differs(plugin, broken, example) for example in examples) or any(
        check(broken, example) for example in examples for check in checks.values()
    )


def _differs(plugin: CheckedPlugin, broken: CheckedPlugin, example: ClusterExample) -> bool:
    pod = example.asked[0]
    expected, found = (answers_of(each.engine(example.objects), pod) for each in (plugin, broken))
    return expected != found


def _differs_without_objects(plugin: CheckedPlugin, example: ClusterExample) -> bool:
    left = [obj for obj in example.objects if not isinstance(obj, CustomObject)]
    pod = example.asked[0]
    return len(left) < len(example.objects) and (
        answers_of(plugin.engine(example.objects), pod) != answers_of(plugin.engine(left), pod)
    )

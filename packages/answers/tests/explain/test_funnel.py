"""The funnel of a pod: what each filter leaves; it ends with the nodes that the scheduler finds feasible."""

from itertools import islice
from typing import Any

import pytest
from tests.support.corpus_models import a_model_of, scenarios
from tests.support.models import a_model

from kubesched.testing import a_node, a_pod
from kubesched_answers.explain.explain_pod import explain_named_pod
from kubesched_answers.explain.funnel import Funnel, funnel_of
from kubesched_answers.explain.pod_answer import PodAnswer


def funnel(*objects: Any, pod: str = "default/pod") -> Funnel:
    model = a_model(*objects)
    found = funnel_of(model, model.pods[pod])
    assert found is not None
    answer = explain_named_pod(model, pod)
    if answer.placement is not None:
        assert found.feasible == answer.placement.feasible
        best = found.scores[0]
        ranked = [each for each in (answer.placement.chosen, *answer.placement.runners_up) if each is not None]
        same = next(each for each in ranked if each.node == best.node)
        assert (best.total, {each.plugin: each.weighted for each in best.by_plugin}) == (same.total, same.scores)
    check_steps(found)
    return found


def check_steps(found: Funnel) -> None:
    """Check that each step takes from what the one before it leaves, down to the feasible nodes."""
    left = found.nodes
    for step in found.steps:
        assert step.rejected + step.left == left
        assert sum(reason.count for reason in step.reasons) == step.rejected
        left = step.left
    assert left == found.feasible


@pytest.mark.parametrize("name", ["volumes", "dynamic-resources", "preemption", "mixed"])
def test_funnels_of_the_corpus_end_with_the_feasible_nodes(name: str) -> None:
    points = set()
    for line in islice(scenarios(name), 12):
        model = a_model_of(line)
        for pod in list(model.cluster.pending.values())[:5]:
            found = funnel_of(model, pod)
            if found is not None and found.failure is None:
                check_steps(found)
                check_answer(found, explain_named_pod(model, pod.full_name, remedied=False))
                points |= {step.extension_point for step in found.steps if step.rejected}
    assert "Filter" in points


def check_answer(found: Funnel, answer: PodAnswer) -> None:
    """Check that a funnel and an explanation name the same plugins, the same reasons, and as many nodes."""
    if answer.verdict == "unschedulable" and answer.reasons and not answer.placement:
        steps = [step for step in found.steps if step.rejected and step.extension_point == "Filter"]
        before = {step.plugin for step in found.steps if step.rejected and step.extension_point == "PreFilter"}
        # nodes that PreFilter leaves out have a reason without a plugin, unless it rejects the pod
        assert {step.plugin for step in steps} == {each.plugin for each in answer.reasons} - before - {""}
        for step in steps:
            told = [each for each in answer.reasons if each.plugin == step.plugin]
            assert max((each.count for each in told), default=step.rejected) <= step.rejected
    elif answer.verdict == "schedulable" and answer.placement is not None:
        assert found.feasible == answer.placement.feasible


def rejected(found: Funnel) -> dict[str, int]:
    return {step.plugin: step.rejected for step in found.steps if step.rejected}


NODES = (
    a_node("cordoned", cpu="8", unschedulable=True),
    a_node("small", cpu="1"),
    a_node("tainted", cpu="8", taints=["spot=yes:NoSchedule"]),
    a_node("large", cpu="8"),
    a_node("larger", cpu="16"),
)


def test_each_filter_takes_from_what_is_left() -> None:
    found = funnel(*NODES, a_pod(cpu="2"))
    assert rejected(found) == {"NodeUnschedulable": 1, "TaintToleration": 1, "NodeResourcesFit": 1}
    assert (found.nodes, found.feasible) == (5, 2)
    assert [score.node for score in found.scores] == ["larger", "large"]
    [reason] = next(step for step in found.steps if step.plugin == "NodeResourcesFit").reasons
    assert (reason.message, reason.nodes) == ("Insufficient cpu", ("small",))


def test_a_pod_that_fits_nowhere_has_no_scores() -> None:
    found = funnel(*NODES, a_pod(cpu="64"))
    assert (found.feasible, found.scores) == (0, ())


def test_a_bound_pod_is_judged_without_itself() -> None:
    found = funnel(a_node("n", cpu="2"), a_node("m", cpu="2"), a_pod(cpu="2", node="n"))
    assert found.feasible == 2


def test_nominated_pods_are_a_step() -> None:
    waiting = a_pod("first", cpu="2", priority=9, nominated="n")
    found = funnel(a_node("n", cpu="2"), a_node("m", cpu="2"), waiting, a_pod(cpu="1"))
    assert rejected(found) == {"nominated pods": 1}


def test_another_schedulers_pod_has_none() -> None:
    model = a_model(a_node("n"), a_pod(scheduler="other"))
    assert funnel_of(model, model.pods["default/pod"]) is None

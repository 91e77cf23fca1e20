"""Pod groups of the conformance corpus: an answer about a pod says what the reference says about its group."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from tests.support.corpus_models import a_model_of, scenarios
from tests.support.whatif import state_of

from kubesched_answers.explain.explain_pod import explain_pod

# every seventh scenario is looked at
SCENARIOS = 20


def groups() -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield scenarios in which groups are tried on the cluster as it is, with the reference's answers."""
    for line in scenarios("pod-groups"):
        if line["expected"].get("groups") and not line.get("sequence"):
            yield line, line["expected"]["groups"]


def verdict_of(group: dict[str, Any], pod: dict[str, Any]) -> str:
    if "preEnqueue" in pod:
        return "gated"
    if group["code"] not in ("Success", "Unschedulable", "UnschedulableAndUnresolvable"):
        return "error"
    return "schedulable" if group["code"] == "Success" and "status" not in pod else "unschedulable"


def test_answers_are_those_of_the_reference() -> None:
    verdicts: set[str] = set()
    for line, answers in islice(groups(), SCENARIOS):
        model = a_model_of(line)
        before = state_of(model)
        for group in answers:
            for expected in group["pods"]:
                answer = explain_pod(model, model.pods[expected["pod"]])
                assert answer.verdict == verdict_of(group, expected), line["name"]
                if answer.placement is not None:
                    assert answer.placement.node == expected["node"], line["name"]
                if answer.verdict == "unschedulable" and "message" in expected and "requiresPreemption" not in expected:
                    assert answer.message == expected["message"], line["name"]
                verdicts.add(answer.verdict)
        assert state_of(model) == before, line["name"]
    assert {"schedulable", "unschedulable", "gated"} <= verdicts

"""Answers about the clusters of the corpus: each says what the scheduler's cycle does, and can be shown."""

from itertools import islice

import pytest
from tests.support.corpus_models import a_model_of, scenarios

from kubesched.core.scheduling.outcomes import Failed
from kubesched.reports.markdown import as_markdown
from kubesched_answers.explain.explain_node import explain_node
from kubesched_answers.explain.explain_pod import explain_pod
from kubesched_answers.explain.triage import triage
from kubesched_answers.placing import Placer
from kubesched_answers.reports.answer_reports import report_of

SCENARIOS = 12
PODS = 5


@pytest.mark.parametrize("name", ["volumes", "dynamic-resources", "preemption", "pod-groups", "mixed"])
def test_answers_are_what_the_cycle_does(name: str) -> None:
    asked = 0
    for line in islice(scenarios(name), SCENARIOS):
        model = a_model_of(line)
        for pod in list(model.cluster.pending.values())[:PODS]:
            answer = explain_pod(model, pod)
            assert as_markdown(report_of(answer))
            if answer.verdict in ("schedulable", "unschedulable", "error"):
                placer = Placer(model)
                outcome = placer.place(pod)
                placer.undo()
                assert isinstance(outcome, Failed) == (answer.verdict != "schedulable"), line["name"]
                assert not isinstance(outcome, Failed) or outcome.message == answer.message, line["name"]
                asked += 1
        pending = triage(model)
        assert pending.pending == len(model.cluster.pending)
        assert as_markdown(report_of(pending))
        for node in model.node_names()[:1]:
            assert as_markdown(report_of(explain_node(model, node)))
    assert asked

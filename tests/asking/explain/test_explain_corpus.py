"""Answers about the clusters of the corpus: each says what the scheduler's cycle does, and can be shown."""

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from kubesched.api.codec import decode
from kubesched.api.kinds import flattened, is_foreign
from kubesched.asking.cluster_objects import ClusterObjects
from kubesched.asking.explain.explain_node import explain_node
from kubesched.asking.explain.explain_pod import explain_pod
from kubesched.asking.explain.triage import triage
from kubesched.asking.model import ClusterModel
from kubesched.asking.placing import Placer
from kubesched.asking.reports.answer_reports import report_of
from kubesched.asking.reports.markdown import as_markdown
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import load_config
from kubesched.core.scheduling.outcomes import Failed

DATA = Path(__file__).parents[2] / "conformance" / "data"
SCENARIOS = 12
PODS = 5


def scenarios(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt") as lines:
        # one whose configuration is an error has no cluster
        with_objects = (
            line for text in lines if "objects" in (line := json.loads(text)) and "error" not in line["expected"]
        )
        yield from islice(with_objects, 0, None, 7)


def a_model_of(line: dict[str, Any]) -> ClusterModel:
    objects = tuple(decode(document) for document in flattened(line["objects"]) if not is_foreign(document))
    gates = FeatureGates(line.get("featureGates") or {})
    return ClusterModel(ClusterObjects(objects), load_config(line.get("config"), gates, validate=False))


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

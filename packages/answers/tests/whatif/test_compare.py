"""Two configurations on the same pods."""

from typing import Any

import pytest
from tests.support.models import a_model
from tests.support.whatif import state_of

from kubesched.config.load import load
from kubesched.testing import a_node, a_pod
from kubesched_answers.whatif.compare import NamedModel, compare
from kubesched_answers.whatif.configurations import with_weights
from kubesched_answers.whatif.draining import Drain
from kubesched_answers.whatif.operations import Cordon

PACKING = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
  plugins: {score: {disabled: [{name: NodeResourcesBalancedAllocation}]}}
"""
OBJECTS: list[Any] = [
    a_node("a", cpu="4"),
    a_node("b", cpu="4"),
    a_pod("there", node="a", cpu="1", owner="ReplicaSet/x"),
    a_pod("p", cpu="1"),
    a_pod("large", cpu="9"),
]


def test_pods_that_wait_are_placed_by_both_and_the_scores_say_why() -> None:
    first, second = a_model(*OBJECTS), a_model(*OBJECTS, config=PACKING)
    before = state_of(first), state_of(second)
    answer = compare(NamedModel("spread", first), NamedModel("pack", second))
    [difference] = answer.differences
    assert (difference.pod, difference.first_node, difference.second_node) == ("default/p", "b", "a")
    totals = [
        {each.node: each.total for each in scores} for scores in (difference.first_scores, difference.second_scores)
    ]
    assert totals[0]["b"] > totals[0]["a"]  # type: ignore[operator]
    assert totals[1]["a"] > totals[1]["b"]  # type: ignore[operator]
    assert (answer.pods, answer.same, answer.first.unscheduled, answer.second.scheduled) == (2, 1, 1, 1)
    assert answer.summary == "Of 2 pods 1 is placed differently. 1 stays without a node under both."
    assert (state_of(first), state_of(second)) == before


def test_a_disposable_model_gives_the_same_answer_and_is_not_taken_back() -> None:
    def models(*, disposable: bool) -> tuple[NamedModel, NamedModel]:
        spread, pack = a_model(*OBJECTS), a_model(*OBJECTS, config=PACKING)
        return NamedModel("spread", spread, disposable), NamedModel("pack", pack, disposable)

    left = models(disposable=True)
    assert compare(*left, reschedule_all=True) == compare(*models(disposable=False), reschedule_all=True)
    assert [each.model.cluster.table.pods["default-p"].spec.node_name for each in left] == ["b", "a"]


NO_PLACES = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeAffinity
    args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [
      {key: nobody, operator: Exists}]}]}}}
"""
FITS: dict[str, tuple[str, str, bool, bool]] = {
    "a pod that neither places is pending as before": (PACKING, PACKING, False, True),
    "a pod that only the first places": (PACKING, NO_PLACES, False, False),
    "a pod that only the second places": (NO_PLACES, PACKING, False, True),
    "a pod that has a node now, and none under the second": (NO_PLACES, NO_PLACES, True, False),
}


@pytest.mark.parametrize("case", FITS)
def test_it_fits_if_the_second_configuration_leaves_nobody_out(case: str) -> None:
    first, second, reschedule_all, fits = FITS[case]
    models = NamedModel("one", a_model(*OBJECTS, config=first)), NamedModel("other", a_model(*OBJECTS, config=second))
    assert compare(*models, reschedule_all=reschedule_all).fits is fits


def test_all_pods_are_placed_from_an_empty_start() -> None:
    models = NamedModel("one", a_model(*OBJECTS)), NamedModel("other", a_model(*OBJECTS, config=PACKING))
    answer = compare(*models, reschedule_all=True)
    assert answer.pods == 3
    assert answer.first.after.uses[0].requested == answer.second.after.uses[0].requested == 2000


def test_operations_come_first_in_both() -> None:
    models = NamedModel("one", a_model(*OBJECTS)), NamedModel("other", a_model(*OBJECTS, config=PACKING))
    answer = compare(*models, [Cordon(("a",))])
    assert answer.differences == ()
    assert [step.operation for step in answer.steps] == ["cordon node a"]


def test_pods_that_a_drain_moves_are_placed_by_both() -> None:
    models = NamedModel("one", a_model(*OBJECTS)), NamedModel("other", a_model(*OBJECTS, config=NO_PLACES))
    answer = compare(*models, [Drain(("a",))])
    assert [step.message for step in answer.steps] == ["1 pod is evicted in 1 round"]
    placed = {
        each.pod.partition("/")[2].partition("-")[0]: (each.first_node, each.second_node) for each in answer.differences
    }
    assert placed == {"p": ("b", None), "x": ("b", None)}
    assert not answer.fits


def test_weights_are_those_of_the_profiles_plugins() -> None:
    loaded = load(adjust=lambda config: with_weights(config, {"NodeResourcesFit": 7, "ImageLocality": 0}))
    weights = {plugin.name: plugin.weight for plugin in loaded.profiles[0].at("score")}
    assert weights["NodeResourcesFit"] == 7
    assert "ImageLocality" not in weights
    assert weights["TaintToleration"] == 3

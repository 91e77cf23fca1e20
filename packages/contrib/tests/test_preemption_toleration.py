"""PreemptionToleration: who tolerates preemption by whom, and until when."""

from typing import Any

import msgspec
import pytest
from packages.contrib.tests.examples import run_example

from kubesched import PluginError, Registry, build_engine
from kubesched.testing import SchedulerFactory, a_budget, a_custom_object, a_node, a_pod, check_plugin
from kubesched_contrib.preemption_toleration import KIND, MINIMUM, SECONDS, PreemptionToleration, toleration_policy

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      disabled: [{name: DefaultPreemption}]
      enabled: [{name: PreemptionToleration}]
  pluginConfig: [{name: PreemptionToleration, args: ARGS}]
"""


def a_class(minimum: str | None, seconds: str | None) -> Any:
    annotations = {key: text for key, text in ((MINIMUM, minimum), (SECONDS, seconds)) if text is not None}
    return a_custom_object(KIND, "careful", annotations=annotations, value=10)


def test_a_disruption_budget_is_violated_only_if_nothing_else_helps(scheduler: SchedulerFactory) -> None:
    world = scheduler(PreemptionToleration, config=CONFIG.replace("ARGS", "{}"))
    world.put(a_node("n1", cpu="2"), a_budget("kept", "app=kept", allowed=0))
    world.put(a_pod("kept", node="n1", cpu="1", labels={"app": "kept"}), a_pod("plain", node="n1", cpu="1", priority=5))
    world.put(a_pod("urgent", cpu="1", priority=10))
    world.run(20)
    assert world.evicted == ["plain"]


def test_it_keeps_to_the_contract() -> None:
    report = check_plugin(PreemptionToleration, objects=[a_class("20", "5")], examples=10, speed=False)
    assert report, str(report)


def evicted_after(
    scheduler: SchedulerFactory, priority: int, minimum: str | None, seconds: str | None, wait: float
) -> list[str]:
    """Return who was evicted some seconds after a pod of a priority came to a node that a careful pod fills."""
    world = scheduler(PreemptionToleration, config=CONFIG.replace("ARGS", "{}"))
    world.put(a_class(minimum, seconds), a_node("n1", cpu="1"))
    condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": world.date.isoformat()}
    status = a_status(condition)
    world.put(a_pod("low", node="n1", cpu="1", priority=10, priority_class_name="careful", status=status))
    world.run(1)
    world.put(a_pod("high", cpu="1", priority=priority))
    world.run(wait)
    evicted = world.evicted
    world.run(30)
    world.assert_settled()
    return evicted


def a_status(condition: dict[str, str]) -> Any:
    pod = a_pod()
    return msgspec.convert({"conditions": [condition]}, type(pod.status))


@pytest.mark.parametrize(
    ("priority", "minimum", "seconds", "wait", "gone"),
    [
        (11, None, None, 20, ["low"]),
        (11, None, "-1", 20, ["low"]),
        (50, "100", "-1", 60, []),
        (100, "100", "-1", 20, ["low"]),
        (50, "100", None, 20, ["low"]),
        (50, "100", "40", 20, []),
        (50, "100", "40", 60, ["low"]),
        (50, "nonsense", "-1", 20, ["low"]),
    ],
    ids=[
        "without annotations as by default",
        "the minimum is by default the next higher priority",
        "a negative number of seconds is for ever",
        "who has the minimum preempts",
        "no seconds, no toleration",
        "it is tolerated for a while",
        "and no longer: the preemptor is tried again by itself",
        "what cannot be read is no toleration",
    ],
)
def test_who_is_evicted(
    scheduler: SchedulerFactory,
    priority: int,
    minimum: str | None,
    seconds: str | None,
    wait: float,
    gone: list[str],
) -> None:
    assert evicted_after(scheduler, priority, minimum, seconds, wait) == gone


def test_a_policy_that_cannot_be_read_names_the_class_the_annotation_and_the_fix() -> None:
    with pytest.raises(ValueError, match=r"PriorityClass careful: .*expected a whole number in quotes"):
        toleration_policy(a_class("nonsense", None))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("{minCandidateNodesPercentage: 101}", "must be from 0 to 100"),
        ("{minCandidateNodesAbsolute: -1}", "must not be negative"),
        ("{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}", "cannot be zero at the same time"),
    ],
)
def test_arguments_that_are_wrong_are_told_at_start(args: str, message: str) -> None:
    registry = Registry()
    registry.register(PreemptionToleration)
    with pytest.raises(PluginError, match=message):
        build_engine(CONFIG.replace("ARGS", args), registry=registry)


def test_the_example_evicts_only_the_pod_that_does_not_tolerate_it() -> None:
    nodes = run_example("preemption-toleration")
    assert nodes == {"careful": "node-1", "urgent": "node-1"}

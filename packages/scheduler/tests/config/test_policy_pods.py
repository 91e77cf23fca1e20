"""Policies of v1.21, translated: where pods go under them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.policies import a_policy, by_ratio, labelled, named, weighted
from tests.support.world import World, live

from kubesched.config.policy import Migration, translate, translate_provider
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_node, a_pod


def placed(migration: Migration, *objects: Any) -> World:
    async def story(world: World, scheduler: Scheduler) -> None:
        for obj in objects:
            world.put(obj)

    return live(story, config=migration.config_text)


def nodes_of(migration: Migration) -> list[str]:
    """Return where three pods go that come to a cluster with one busy node."""
    busy = (a_node("busy", cpu="8"), a_node("idle", cpu="8"), a_pod("first", cpu="2", node="busy"))
    world = placed(migration, *busy, *(a_pod(name, cpu="1") for name in ("a", "b", "c")))
    return [world.node_of(name) for name in ("a", "b", "c")]


@pytest.mark.parametrize(
    ("priorities", "expected"),
    [
        (weighted(MostRequestedPriority=1), ["busy", "busy", "busy"]),
        ([by_ratio("BinPacking")], ["busy", "busy", "busy"]),
        ([by_ratio("Spreading", shape=[{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}])], None),
        (weighted(LeastRequestedPriority=1), None),
    ],
    ids=["most requested packs", "a rising shape packs", "a falling shape spreads", "least requested spreads"],
)
def test_pods_are_packed_or_spread(priorities: list[dict[str, Any]], expected: list[str] | None) -> None:
    nodes = nodes_of(translate(a_policy(predicates=named("GeneralPredicates"), priorities=priorities)))
    # Two go to the idle node, and the third to either, since they are even then.
    assert nodes == expected if expected else nodes[:2] == ["idle", "idle"]


def test_providers_pack_and_spread() -> None:
    assert nodes_of(translate_provider("ClusterAutoscalerProvider")) == ["busy", "busy", "busy"]
    assert nodes_of(translate_provider("DefaultProvider"))[:2] == ["idle", "idle"]


def test_the_weights_of_priorities_decide() -> None:
    def chosen(**weights: int) -> str:
        policy = a_policy(predicates=named("GeneralPredicates"), priorities=weighted(**weights))
        nodes = (a_node("tainted", cpu="8", taints=["a=b:PreferNoSchedule"]), a_node("busy", cpu="8"))
        world = placed(translate(policy), *nodes, a_pod("first", cpu="7", node="busy"), a_pod("p", cpu="1"))
        return world.node_of("p")

    assert chosen(LeastRequestedPriority=1, TaintTolerationPriority=10) == "busy"
    assert chosen(LeastRequestedPriority=10, TaintTolerationPriority=1) == "tainted"


def test_only_nodes_with_the_labels_are_used() -> None:
    policy = a_policy(predicates=[*named("GeneralPredicates"), labelled("InRack", "rack")], priorities=[])
    world = placed(translate(policy), a_node("loose"), a_node("racked", labels={"rack": "7"}), a_pod("p"))
    assert world.node_of("p") == "racked"


def test_without_predicates_the_mandatory_ones_and_scheduling_gates_still_hold() -> None:
    migration = translate(a_policy(predicates=[], priorities=[]))
    world = placed(
        migration,
        a_node("closed", unschedulable=True),
        a_node("tainted", taints=["a=b:NoSchedule"]),
        a_node("open", labels={"disk": "hdd"}),
        a_pod("picky", node_selector={"disk": "ssd"}),
        a_pod("gated", gates=["wait"]),
    )
    assert world.node_of("picky") == "open"
    assert world.node_of("gated") == ""

"""Mistakes of plugin authors, more than twenty: each is told at start or by `plugins check`, in a sentence."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest

from kubesched import (
    SKIP,
    Action,
    BindPlugin,
    ClusterEvent,
    Code,
    FilterPlugin,
    Hint,
    Permission,
    PermitPlugin,
    PostBindPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    QueueSortPlugin,
    Reads,
    Registration,
    ReservePlugin,
    Resource,
    ScorePlugin,
    Status,
    Verdict,
    unschedulable,
)
from kubesched.core.framework.plugin import Plugin, PreFilterPlugin
from kubesched.testing import check_plugin

NO = unschedulable("no")
LABELLED = [Registration(ClusterEvent(Resource.NODE, Action.UPDATE_NODE_LABEL), lambda pod, old, new: Hint.QUEUE_SKIP)]


def made(bases: type[Plugin] | tuple[type[Plugin], ...] = FilterPlugin, **members: Any) -> type[Plugin]:
    """Return a plugin class of these members."""
    members = {"name": "Mistaken", **members}
    return type("Mistaken", bases if isinstance(bases, tuple) else (bases,), members)


def full(self: Any, cycle: Any, pod: Any, node: Any) -> Any:
    return NO if node.pod_count else None


def nothing(*_: Any) -> None:
    return None


async def awaited(self: Any, cycle: Any, pod: Any, node: Any) -> None:
    return None


def crowded(self: Any, cycle: Any, pod: Any, node: Any) -> Any:
    return NO if node.node.metadata.labels.get("crowded") == "true" else None


def writes_label(self: Any, cycle: Any, pod: Any, node: Any) -> None:
    pod.labels["seen"] = "yes"


def writes_node_label(self: Any, cycle: Any, pod: Any, node: Any) -> None:
    node.labels["seen"] = "yes"


def sleeps(self: Any, cycle: Any, pod: Any, node: Any) -> None:
    time.sleep(60)


def labels_behind_taints(self: Any, cycle: Any, pod: Any, node: Any) -> Any:
    return NO if node.labels.get("crowded") else None


def ranked(self: Any, cycle: Any, pod: Any, nodes: Any) -> Any:
    return np.arange(len(nodes))


def counted(self: Any, cycle: Any, pod: Any) -> None:
    self.others = len(self.cluster.pods)


def by_count(self: Any, cycle: Any, pod: Any, node: Any) -> Any:
    return NO if self.others else None


def with_cluster(self: Any, cluster: Any) -> None:
    self.cluster = cluster


def most_pods_elsewhere(self: Any, cycle: Any, pod: Any, node: Any) -> Any:
    return NO if len(self.cluster.pods) > 1 else None


async def sleeps_later(self: Any, cycle: Any, pod: Any, node: Any) -> None:
    time.sleep(60)  # noqa: ASYNC251


async def writes_label_later(self: Any, cycle: Any, pod: Any, node: Any) -> None:
    pod.labels["seen"] = "yes"


def returning(answer: Any) -> Any:
    """Return a coroutine hook that returns something."""

    async def hook(self: Any, cycle: Any, pod: Any, node: Any) -> Any:
        return answer

    return hook


def with_places(self: Any) -> None:
    self.held = set()


def takes(self: Any, cycle: Any, pod: Any, node: Any) -> Any:
    if len(self.held) >= 3:
        return NO
    return self.held.add(pod.uid)


def removes(self: Any, cycle: Any, pod: Any, node: Any) -> None:
    self.held.remove(pod.uid)


def with_count(self: Any) -> None:
    self.free = 2


def counts_up(self: Any, cycle: Any, pod: Any, node: Any) -> Any:
    if not self.free:
        return NO
    self.free -= 1
    return None


def counts_down(self: Any, cycle: Any, pod: Any, node: Any) -> None:
    self.free += 1


@dataclass
class BadArgs:
    most: int = 2

    def __post_init__(self) -> None:
        raise ValueError("most: nothing is allowed")


def with_bad_args(self: Any, args: BadArgs) -> None:
    self.args = args


def asks_for_more(self: Any, database: Any) -> None:
    self.database = database


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "parameters that are missing": (
        lambda: made(filter=lambda self, pod, node: None),
        "filter takes (pod, node) but is called with (cycle, pod, node)",
    ),
    "a parameter too many": (
        lambda: made(ScorePlugin, score=lambda self, cycle, pod, node, weight: 1),
        "score takes (cycle, pod, node, weight) but is called with (cycle, pod, node)",
    ),
    "async where none is awaited": (lambda: made(filter=awaited), "filter is `async def`; only pre_bind, bind and"),
    "a pre_bind that is not async": (
        lambda: made(PreBindPlugin, pre_bind=nothing),
        "pre_bind must be `async def`, since it waits for the outside world",
    ),
    "a score that is a float": (
        lambda: made(ScorePlugin, score=lambda self, cycle, pod, node: 0.5),
        "score returned 0.5; return an integer from 0 to 100",
    ),
    "a score above 100": (lambda: made(ScorePlugin, score=lambda self, cycle, pod, node: 101), "invalid score 101"),
    "a pod that is changed": (lambda: made(filter=writes_label), "the plugin changed pod asked: labels.seen yes"),
    "a node that is changed": (lambda: made(filter=writes_node_label), "the plugin changed node n0: labels.seen yes"),
    "a call that blocks": (lambda: made(filter=sleeps), "time.sleep is called in sleeps, which delays all pods"),
    "a key that cannot be hashed": (
        lambda: made(filter=full, key=lambda self, pod: []),
        "failed in key: TypeError: unhashable type: 'list'",
    ),
    "a key that leaves out what matters": (
        lambda: made(
            filter=lambda self, cycle, pod, node: NO if pod.labels.get("app") == "web" else None,
            key=lambda self, pod: "same",
        ),
        "a new plugin: Unschedulable (no); one that kept: passes",
    ),
    "reads that name less than is read": (
        lambda: made(filter=labels_behind_taints, key=lambda self, pod: "same", reads=Reads.TAINTS),
        "labels of nodes are read, which `reads` does not name",
    ),
    "reads that name less than is read behind the view": (
        lambda: made(filter=crowded, key=lambda self, pod: "same", reads=Reads.TAINTS),
        "a new plugin: passes; one that kept: Unschedulable (no)",
    ),
    "pods elsewhere with a key": (
        lambda: made(__init__=with_cluster, filter=most_pods_elsewhere, key=lambda self, pod: "same"),
        'plugin "Mistaken" failed in filter',
    ),
    "events that are too few": (
        lambda: made(filter=full, events_to_register=lambda self: LABELLED),
        "events_to_register does not name AssignedPod/Delete",
    ),
    "a hint that skips": (
        lambda: made(filter=crowded, events_to_register=lambda self: LABELLED),
        "the hint for Node/UpdateNodeLabel says QUEUE_SKIP",
    ),
    "an answer by chance": (
        lambda: made(ScorePlugin, score=lambda self, cycle, pod, node: random.randint(0, 100)),
        "asked first: score",
    ),
    "forms that disagree": (
        lambda: made(
            filter=full,
            filter_nodes=lambda self, cycle, pod, nodes: Verdict.rejecting(nodes.pod_count > 1, NO),
        ),
        "filter_nodes: passes; filter: Unschedulable (no)",
    ),
    "a column that depends on its place": (
        lambda: made(ScorePlugin, score_nodes=ranked),
        "score_nodes of all nodes: score 1; score_nodes of this node alone: score 0",
    ),
    "a filter that returns False": (
        lambda: made(filter=lambda self, cycle, pod, node: False),
        "filter returned False; return None or a status: unschedulable('why')",
    ),
    "a text in place of a status": (
        lambda: made(filter=lambda self, cycle, pod, node: "full"),
        "filter returned 'full'; return None or a status: unschedulable('why')",
    ),
    "no name": (lambda: made(name="", filter=full), "has no name; set the class attribute `name`"),
    "no hook": (lambda: made(PermitPlugin), "is enabled at permit but does not define permit"),
    "a reserve without reserve": (lambda: made(ReservePlugin, unreserve=nothing), "does not define reserve"),
    "arguments that cannot be built": (
        lambda: made(__init__=with_bad_args, filter=full),
        "args: most: nothing is allowed",
    ),
    "a service that nobody provides": (
        lambda: made(__init__=asks_for_more, filter=full),
        "asks for 'database', which nobody provides",
    ),
    "worlds that differ": (
        lambda: made((PreFilterPlugin, FilterPlugin), __init__=with_cluster, pre_filter=counted, filter=by_count),
        "in the cluster: Unschedulable (no); in a what-if world: passes",
    ),
    "a permit that returns nothing": (
        lambda: made(PermitPlugin, permit=nothing),
        "permit returned None; return a permission: Permission(SUCCESS)",
    ),
    "a permit that waits for no time": (
        lambda: made(PermitPlugin, permit=lambda *_: Permission(Status(Code.WAIT))),
        "permit lets the pod wait for 0 seconds, after which it is rejected; say how long",
    ),
    "a permit that waits for a text": (
        lambda: made(PermitPlugin, permit=lambda *_: Permission(Status(Code.WAIT), cast(float, "1m"))),
        "permit lets the pod wait for '1m'; give a number of seconds",
    ),
    "a permit that skips": (
        lambda: made(PermitPlugin, permit=lambda *_: Permission(SKIP)),
        "permit returned Skip, which makes the attempt fail; return Permission(SUCCESS) or a rejection",
    ),
    "a reserve that waits": (
        lambda: made(ReservePlugin, reserve=lambda *_: Status(Code.WAIT)),
        "reserve returned Wait, which makes the attempt fail; return None or a rejection",
    ),
    "a reserve that is not undone": (
        lambda: made(ReservePlugin, __init__=with_places, reserve=takes),
        "of others: node n0: Unschedulable (no); unreserve has to release what reserve took",
    ),
    "an unreserve that fails without reserve": (
        lambda: made(ReservePlugin, __init__=with_places, reserve=takes, unreserve=removes),
        'unreserve without reserve: plugin "Mistaken" failed in unreserve: KeyError: \'tried',
    ),
    "an unreserve that gives back what was not taken": (
        lambda: made(ReservePlugin, __init__=with_count, reserve=counts_up, unreserve=counts_down),
        "release only what the pod holds, and only once",
    ),
    "a pod that is changed in reserve": (
        lambda: made(ReservePlugin, reserve=writes_label),
        "the plugin changed pod asked: labels.seen yes",
    ),
    "a pod that is changed in post_bind": (
        lambda: made(PostBindPlugin, post_bind=writes_label_later),
        "the plugin changed pod asked: labels.seen yes",
    ),
    "a reserve that blocks": (
        lambda: made(ReservePlugin, reserve=sleeps),
        "time.sleep is called in sleeps, which delays all pods",
    ),
    "a pre_bind that blocks": (
        lambda: made(PreBindPlugin, pre_bind=sleeps_later),
        "time.sleep is called in sleeps_later, which delays all pods",
    ),
    "a sort_key that blocks": (
        lambda: made(QueueSortPlugin, sort_key=lambda self, pod, timestamp: sleeps(self, None, pod, None)),
        "time.sleep is called in <lambda>, which delays all pods",
    ),
    "a pre_bind that returns a text": (
        lambda: made(PreBindPlugin, pre_bind=returning("done")),
        "pre_bind returned 'done'; return None or a status",
    ),
    "a bind that returns True": (
        lambda: made(BindPlugin, bind=returning(True)),
        "bind returned True; return None or a status",
    ),
    "a pre_bind that waits for Permit": (
        lambda: made(PreBindPlugin, pre_bind=returning(Status(Code.WAIT))),
        "pre_bind returned Wait, which makes the attempt fail",
    ),
    "a pre_enqueue that returns False": (
        lambda: made(PreEnqueuePlugin, pre_enqueue=lambda self, pod: False),
        "pre_enqueue returned False; return None or a status",
    ),
    "a gate that no event opens": (
        lambda: made(
            PreEnqueuePlugin,
            __init__=with_cluster,
            pre_enqueue=lambda self, pod: NO if self.cluster.pods else None,
            events_to_register=lambda self: LABELLED,
        ),
        "is no longer gated, but stays out of activeQ: events_to_register does not name AssignedPod/Delete",
    ),
    "a sort_key that is a text": (
        lambda: made(QueueSortPlugin, sort_key=lambda self, pod, timestamp: pod.name),
        "sort_key returned 'asked'; return a tuple of numbers, the smallest is popped first",
    ),
    "an order by chance": (
        lambda: made(QueueSortPlugin, sort_key=lambda self, pod, timestamp: (random.random(),)),
        "pods would have no order; derive it from the pod and its timestamp alone",
    ),
    "a function": (lambda: full, "is no plugin; derive a class from FilterPlugin"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_is_told_in_a_sentence(mistake: str) -> None:
    build, sentence = MISTAKES[mistake]
    report = check_plugin(build(), speed=False, examples=5, stop_at_first=True)
    assert not report.ok, report.text
    assert sentence in report.text

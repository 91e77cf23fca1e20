"""The dry run over all worlds at once equals one that goes node by node, pod by pod.

The oracle is plain arithmetic on CPU: what remains on a node when some pods are gone.
"""

from typing import Any, NamedTuple

from hypothesis import event, given, settings
from hypothesis import strategies as st

from kubesched.core.assembly import build_engine
from kubesched.core.framework.results.outcomes import PostFilterResult
from kubesched.core.framework.values.sampling import CANDIDATE_DRAW
from kubesched.core.plugins.default_preemption import DefaultPreemption
from kubesched.core.scheduling.engine import Engine
from kubesched.testing import a_budget, a_node, a_pod

NODE_CPU = 8
FEW = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: DefaultPreemption
    args: {minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 2}
"""


class There(NamedTuple):
    """A pod on a node, or nominated to it."""

    name: str
    node: int
    cpu: int
    priority: int
    minute: int
    app: str
    nominated: bool


@st.composite
def pods(draw: st.DrawFn) -> list[There]:
    """Return pods on four nodes, none of them empty; start times are distinct, so that importance is an order."""
    found = []
    for index in range(draw(st.integers(4, 16))):
        found.append(
            There(
                f"b{index}",
                index if index < 4 else draw(st.integers(0, 3)),
                draw(st.integers(1, 5)),
                draw(st.sampled_from([-5, 0, 1, 10])),
                index,
                draw(st.sampled_from(["", "a", "b"])),
                index >= 4 and draw(st.sampled_from([False, False, False, True])),
            )
        )
    order = draw(st.permutations(range(len(found))))
    return [found[index] for index in order]


budgets = st.lists(st.tuples(st.sampled_from(["a", "b", "in (a,b)"]), st.integers(0, 2)), max_size=3)


def meant(selector: str, app: str) -> bool:
    return app in ("a", "b") if selector.startswith("in") else app == selector


def by_hand(there: list[There], limits: list[tuple[str, int]], cpu: int, priority: int) -> dict[int, Any]:
    """Return node -> (victims, violations), found pod by pod."""
    found = {}
    for node in range(4):
        held = sum(pod.cpu for pod in there if pod.node == node and pod.nominated and pod.priority >= priority)
        here = [pod for pod in there if pod.node == node and not pod.nominated]
        lower = sorted((pod for pod in here if pod.priority < priority), key=lambda pod: (-pod.priority, pod.minute))
        room = NODE_CPU - held - sum(pod.cpu for pod in here)
        if room >= cpu or not lower or room + sum(pod.cpu for pod in lower) < cpu:
            continue
        left = [allowed for _, allowed in limits]
        violating = set()
        for pod in lower:
            for index, (selector, _) in enumerate(limits):
                if pod.app and meant(selector, pod.app):
                    left[index] -= 1
                    if left[index] < 0:
                        violating.add(pod)
        room += sum(pod.cpu for pod in lower)
        gone = []
        for pod in sorted(lower, key=lambda pod: pod not in violating):
            if room - pod.cpu >= cpu:
                room -= pod.cpu
            else:
                gone.append(pod)
        victims = [pod for pod in lower if pod in gone]
        found[node] = ([pod.name for pod in victims], len(violating & set(gone)))
    return found


def too_much(there: list[There], by: int) -> int:
    """Return more CPU than any node has left, but no more than a node has: no node is empty."""
    used = [sum(pod.cpu for pod in there if pod.node == node and not pod.nominated) for node in range(4)]
    return min(max(NODE_CPU - min(used), 0) + by, NODE_CPU)


def filled(engine: Engine, there: list[There], limits: list[tuple[str, int]]) -> None:
    for node in range(4):
        engine.cluster.add(a_node(f"n{node}", cpu=str(NODE_CPU)))
    for pod in there:
        engine.cluster.add(
            a_pod(
                pod.name,
                cpu=str(pod.cpu),
                priority=pod.priority,
                labels={"app": pod.app} if pod.app else {},
                node="" if pod.nominated else f"n{pod.node}",
                nominated=f"n{pod.node}" if pod.nominated else "",
                start=None if pod.nominated else f"2024-01-01T00:{pod.minute:02}:00Z",
            )
        )
    for index, (selector, allowed) in enumerate(limits):
        text = f"app {selector}" if selector.startswith("in") else f"app={selector}"
        engine.cluster.add(a_budget(f"budget{index}", text, allowed=allowed))


def preempt(engine: Engine, cpu: int, priority: int, draw: int | None = None) -> PostFilterResult:
    evaluation = engine.evaluation_of(engine.cluster.reader.read(a_pod("p", cpu=str(cpu), priority=priority)))
    assert not evaluation.feasible().count
    if draw is not None:
        evaluation.cycle.write(CANDIDATE_DRAW, draw)
    plugin = engine.profiles["default-scheduler"].plugins["DefaultPreemption"]
    assert isinstance(plugin, DefaultPreemption)
    return plugin.post_filter(evaluation.cycle, evaluation.pod, evaluation.verdicts())


def as_found(result: PostFilterResult) -> dict[str, tuple[list[str], int]]:
    return {c.node_name: ([v.name for v in c.victims], c.pdb_violations) for c in result.candidates}


@settings(deadline=None, max_examples=150)
@given(pods(), budgets, st.integers(1, 4), st.sampled_from([-5, 0, 1, 5, 20, 20]))
def test_all_worlds_at_once_equal_one_by_one(
    there: list[There], limits: list[tuple[str, int]], by: int, priority: int
) -> None:
    cpu = too_much(there, by)
    engine = build_engine()
    filled(engine, there, limits)
    result = preempt(engine, cpu, priority)
    expected = {f"n{node}": victims for node, victims in by_hand(there, limits, cpu, priority).items()}
    assert as_found(result) == expected
    assert result.status.ok == bool(expected)
    event(f"{len(expected)} candidates")


@settings(deadline=None, max_examples=60)
@given(pods(), budgets, st.integers(1, 4), st.integers(0, 50))
def test_a_part_of_the_cluster_gives_a_part_of_the_candidates(
    there: list[There], limits: list[tuple[str, int]], by: int, draw: int
) -> None:
    cpu = too_much(there, by)
    engine = build_engine(FEW)
    filled(engine, there, limits)
    everything, part = preempt(engine, cpu, 100), preempt(engine, cpu, 100, draw)
    complete, found = as_found(everything), as_found(part)
    assert found.items() <= complete.items()
    assert len(found) >= min(2, len(complete))
    assert part.status == everything.status
    assert any(not broken for _, broken in found.values()) == any(not broken for _, broken in complete.values())

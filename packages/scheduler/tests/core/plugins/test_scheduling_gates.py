"""SchedulingGates: who is held back, and what lets go."""

import pytest
from tests.support.asking import hint

from kubesched.core.framework.values.events import Action, Hint, Resource
from kubesched.core.framework.values.status import unresolvable
from kubesched.core.plugins.scheduling_gates import SchedulingGates
from kubesched.testing import a_cluster, a_pod


@pytest.mark.parametrize(
    ("gates", "refusal"),
    [
        pytest.param([], None, id="no gate, no refusal"),
        pytest.param(["a"], "waiting for scheduling gates: [a]", id="one gate"),
        pytest.param(["b", "a"], "waiting for scheduling gates: [b a]", id="gates are named in their order"),
        pytest.param([""], "waiting for scheduling gates: []", id="a gate without a name is a gate"),
    ],
)
def test_gated_pods_are_held_back(gates: list[str], refusal: str | None) -> None:
    pod = a_cluster().reader.read(a_pod(gates=gates))
    assert SchedulingGates().pre_enqueue(pod) == (None if refusal is None else unresolvable(refusal))


def test_only_the_pods_own_last_gate_counts() -> None:
    cluster, pod = a_cluster(), a_pod(gates=["a"])
    event = (Resource.UNSCHEDULED_POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
    assert hint(SchedulingGates(), cluster, pod, event, pod, a_pod()) is Hint.QUEUE
    assert hint(SchedulingGates(), cluster, pod, event, a_pod("other"), a_pod("other")) is Hint.QUEUE_SKIP
    assert hint(SchedulingGates(), cluster, pod, (Resource.UNSCHEDULED_POD, Action.UPDATE_POD_LABEL)) is None

"""The invariants of a scheduler when nothing is under way, with any plugins.

From the objects of an API and a scheduler to an AssertionError that names the pod or node.
"""

from kubesched.core.loop.comparer import compare
from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.queue.queued_pod import Place
from kubesched.testing.fake_api import FakeApi


def assert_settled(api: FakeApi, scheduler: Scheduler) -> None:
    """Check the invariants of a settled scheduler: every pod in one place, no node overcommitted, no leftovers."""
    scheduler.queue.validate()
    assert not api.invalid, api.invalid
    assert not scheduler.busy, "something is still under way"
    table, queue = scheduler.cluster.table, scheduler.queue
    for pod in api.pods():
        queued = queue.get(pod.uid)
        if pod.spec.node_name:
            assert queued is None, f"{pod.full_name} is bound and still queued"
            assert pod.uid in table.pods, f"{pod.full_name} is bound and not accounted"
        else:
            assert pod.uid not in table.pods, f"{pod.full_name} holds a place that is not accounted for"
            assert queued is not None, f"{pod.full_name} is lost"
            assert queued.place is not Place.IN_FLIGHT, f"{pod.full_name} is stuck"
    known = {pod.uid for pod in api.pods()}
    assert set(table.pods) <= known, "deleted pods hold places"
    assert {queued.uid for queued in queue.pods()} <= known, "deleted pods are queued"
    for row in table.present_rows().tolist():
        free = [table.scalars.free(row, name) for name in table.scalars.asked[row]]
        free += (table.allocatable[:, row] - table.requested[:, row]).tolist()
        assert min(free) >= 0, f"{table.names[row]} is overcommitted"
    waiting = {pod.uid for pod in api.pods() if not pod.spec.node_name and not pod.terminal}
    assert set(scheduler.cluster.pending) == waiting, "the cluster knows who waits"
    wrong = compare(api.objects.values(), scheduler.cluster, queue, scheduler.engine.profiles)
    assert not wrong, wrong

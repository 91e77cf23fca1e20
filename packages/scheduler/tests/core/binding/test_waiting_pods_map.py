"""Pods that wait for permission: allowed by all, or turned away by the first rejection, timeout or preemption."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.core.binding.waiting_pods_map import PermitWait, PodsInPreBind, WaitingPodsMap
from kubesched.core.framework.values.status import SUCCESS, Code, Status
from kubesched.testing import a_cluster, a_pod

Deed = Callable[[PermitWait], Awaitable[None]]


async def all_allow(pod: PermitWait) -> None:
    pod.allow("A")
    assert pod.pending_plugins == ["B"]
    pod.allow("B")


async def one_allows_and_time_passes(pod: PermitWait) -> None:
    pod.allow("A")
    await asyncio.sleep(60)


async def one_rejects(pod: PermitWait) -> None:
    assert pod.reject("B", "not now")
    assert not pod.reject("A", "too late")


async def preempted(pod: PermitWait) -> None:
    assert pod.preempt("DefaultPreemption", "preempted")
    pod.allow("A")
    pod.allow("B")


@pytest.mark.parametrize(
    ("deed", "decision"),
    [
        pytest.param(all_allow, SUCCESS, id="every plugin allows it"),
        pytest.param(
            one_allows_and_time_passes,
            Status(Code.UNSCHEDULABLE, ("rejected due to timeout after waiting 30s at plugin B",), "B"),
            id="one plugin does not say anything in time",
        ),
        pytest.param(one_rejects, Status(Code.UNSCHEDULABLE, ("not now",), "B"), id="the first rejection counts"),
        pytest.param(
            preempted, Status(Code.ERROR, ("preempted",), "DefaultPreemption"), id="called back for a better one"
        ),
    ],
)
def test_what_becomes_of_a_waiting_pod(deed: Deed, decision: Status) -> None:
    async def play() -> Status:
        pods = WaitingPodsMap()
        pods.add(PermitWait(a_cluster().reader.read(a_pod("p")), "n1", {"A": 10.0, "B": 30.0}))
        waiting = pods.get("default-p")
        assert waiting is not None
        assert [pod.node_name for pod in pods] == ["n1"]
        await deed(waiting)
        decided = await waiting.decision()
        pods.remove("default-p")
        assert len(pods) == 0
        return decided

    assert run_in_virtual_time(play()) == decision


def test_a_pod_in_pre_bind_is_called_back_until_it_is_done() -> None:
    async def play() -> None:
        pods = PodsInPreBind()

        async def prepare() -> Status | None:
            await asyncio.sleep(10)
            return None

        task = asyncio.ensure_future(prepare())
        pods.begin("uid", task)
        await asyncio.sleep(1)
        assert not pods.call_back("another", "why")
        assert pods.call_back("uid", "preempted")
        with pytest.raises(asyncio.CancelledError):
            await task
        assert pods.call_back("uid", "again"), "the pod is not bound, so nobody has to delete it"
        assert pods.why_cancelled("uid") == "preempted"
        pods.end("uid")
        assert (pods.why_cancelled("uid"), pods.call_back("uid", "late"), len(pods)) == ("", False, 0)

    run_in_virtual_time(play())

"""Hostile pods among good ones: whatever a tenant writes into a pod, the pods of others are bound as fast as ever.

One pod of each kind of hostility among a thousand good ones. What is bounded is work: how many attempts there are until
the last good pod is bound, and that none of them takes as long as an attempt may before its pod has to wait longer.
"""

import asyncio
import time
from collections.abc import Iterator

import pytest
from tests.support.world import World, live

from kubesched.api.pods import Pod
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.observing.observer import Bound, FailedAttempt, Observer
from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.queue.backoff import SLOW_SECONDS
from kubesched.testing import a_node, a_pod, a_spread, an_affinity
from kubesched.testing.devices import a_claiming_pod, a_device_class, a_device_request, a_resource_claim, a_slice

GOOD = 1000
LONG = "'" + "a" * 1000 + "'" + ".replace('a', 'aaaaaaaaaa')" * 2
EXPRESSIONS = {
    "finds": f"{LONG}.find('a*b') == 'x'",
    "finds-all": f"{LONG}.findAll('a*b').size() > 0",
    "matches": f"{LONG}.matches('(a|b)*a(a|b){{12}}c')",
    "replaces": f"{LONG}.replace('', 'aaaa').size() > 0",
}


def hostile_pods() -> Iterator[Pod]:
    """Yield pods that cost much, or once did."""
    names = [f"k{number}" for number in range(1000)]
    yield a_pod("resources", requests={f"example.com/{name}": "1" for name in names})
    yield a_pod("selector", node_selector=dict.fromkeys(names, "x"))
    yield a_pod("affinity", affinity=an_affinity(nodes=[f"{name}=x" for name in names]))
    apart = [f"app=a{number}@t{number}" for number in range(300)]
    yield a_pod("anti-affinity", cpu="1000", affinity=an_affinity(apart=apart))
    yield a_pod("spread", spread=[a_spread(f"s{number}", "app=web") for number in range(300)])
    yield a_pod("tolerant", cpu="1000", tolerations=[f"{name}=x:NoSchedule" for name in names])
    yield a_pod("labelled", cpu="1000", labels=dict.fromkeys(names, "x"))
    yield a_pod("annotated", cpu="1000", annotations={"a": "x" * 200_000})
    yield a_pod("ports", cpu="1000", ports=list(range(1, 1001)))
    for name in EXPRESSIONS:
        yield a_claiming_pod(name, f"{name}-claim")


class Counted(Observer):
    """Counts attempts until the last good pod is bound, and takes the processor's time for each."""

    def __init__(self) -> None:
        self.attempts = self.bound = self.attempts_then = 0
        self.began = 0.0
        self.longest: tuple[float, str] = (0.0, "")

    def attempt_began(self, pod: PodInfo) -> None:
        self.began = time.process_time()
        self.attempts += 1

    def attempt_failed(self, failed: FailedAttempt) -> None:
        self.longest = max(self.longest, (time.process_time() - self.began, failed.pod.name))

    def pod_bound(self, bound: Bound) -> None:
        if not bound.pod.name.startswith("good"):
            return
        self.bound += 1
        self.attempts_then = self.attempts


def played() -> Counted:
    counted = Counted()

    async def story(world: World, scheduler: Scheduler) -> None:
        for number in range(100):
            world.put(a_node(f"n{number}", cpu="64", zone=f"z{number % 3}"))
        world.put(a_device_class("gpu"))
        world.put(a_slice("slice", "dev-1", node="n1"))
        for name, expression in EXPRESSIONS.items():
            world.put(a_resource_claim(f"{name}-claim", a_device_request("r", expression)))
        await asyncio.sleep(1)
        bad = list(hostile_pods())
        for number in range(GOOD):
            world.put(a_pod(f"good-{number}", cpu="1", labels={"app": f"a{number % 10}"}))
            if number % 50 == 0 and bad:
                world.put(bad.pop())
        assert not bad
        await asyncio.sleep(30)
        assert sum(pod.name.startswith("good") and bool(pod.spec.node_name) for pod in world.pods()) == GOOD

    live(story, observers=(counted,))
    assert counted.bound == GOOD
    return counted


@pytest.mark.slow
def test_good_pods_among_hostile_ones_are_bound_within_twice_the_attempts() -> None:
    among = played()
    assert among.attempts_then <= 2 * GOOD
    assert among.longest < (SLOW_SECONDS, ""), "a hostile pod took the loop from all others"

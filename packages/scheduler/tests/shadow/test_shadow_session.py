"""Beside the scheduler of an embedded cluster, in virtual time: the same configuration agrees, another one differs."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.roles import a_binding, a_role, a_rule, create

from kubesched.api.meta import ApiObject
from kubesched.core.assembly import load_config
from kubesched.errors import KubeschedError
from kubesched.shadow.judgements import AMONG_BEST, SAME_MESSAGE, SCORED_LESS, ShadowAnswer
from kubesched.shadow.report import shadow_report
from kubesched.shadow.session import ShadowOptions, ShadowSession
from kubesched.testing import EmbeddedCluster, a_node, a_pod
from kubesched_controlplane.api.requests import ADMINISTRATOR, User
from kubesched_controlplane.transport.faults import Dice, parse_faults
from kubesched_controlplane.transport.transport import Transport
from kubesched_controlplane.up.local_rest import LocalRest

PACKING = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
"""
Story = Callable[[EmbeddedCluster], None]


class Beside:
    """An embedded cluster, and a session beside its scheduler."""

    def __init__(
        self, config: str | None = None, *, faults: str = "", user: User = ADMINISTRATOR, **options: Any
    ) -> None:
        self.cluster = EmbeddedCluster(config=config)
        self.notes: list[str] = []
        self.told: list[str] = []
        transport = Transport(self.cluster.server, Dice(parse_faults(faults), 1) if faults else None)
        self.transport = transport
        self._session = lambda: ShadowSession(
            LocalRest(transport, user),
            load_config(None),
            options=ShadowOptions(**options),
            note=self.notes.append,
            tell=lambda judgement: self.told.append(judgement.sentence()),
        )

    def watch(self, *objects: ApiObject, story: Story) -> ShadowAnswer:
        """Return what a session says of a story on a cluster with some nodes."""
        with self.cluster as cluster:
            cluster.put(*objects)
            cluster.settle()
            running = cluster.call(self._begin)
            cluster.run(2)
            story(cluster)
            cluster.run(5)
            return cluster.wait_for(self._end(*running))

    def _begin(self) -> tuple[ShadowSession, "asyncio.Task[ShadowAnswer]"]:
        self.transport.start()
        session = self._session()
        return session, self.cluster.loop.create_task(session.run())

    async def _end(self, session: ShadowSession, task: "asyncio.Task[ShadowAnswer]") -> ShadowAnswer:
        session.stop.set()
        try:
            return await task
        finally:
            self.transport.stop()


def nodes(count: int) -> list[ApiObject]:
    return [a_node(f"n{number}", cpu="4") for number in range(count)]


def a_burst(cluster: EmbeddedCluster) -> None:
    """Pods of three sizes at once, of which some fit nowhere."""
    cluster.put(*(a_pod(f"p{number}", cpu=str(1 + number % 3)) for number in range(30)))
    cluster.settle()


def test_the_same_configuration_agrees_on_every_pod() -> None:
    beside = Beside()
    answer = beside.watch(*nodes(5), story=a_burst)
    assert (beside.told, answer.agrees, answer.differences) == ([], True, ())
    assert answer.counts[AMONG_BEST] >= 8
    assert answer.counts[SAME_MESSAGE] >= 10
    assert answer.summary.startswith("Both decided alike: ")
    assert shadow_report(answer).verdict.text == answer.summary


def test_another_configuration_differs_and_says_by_which_plugin() -> None:
    beside = Beside(PACKING)
    answer = beside.watch(*nodes(5), story=a_burst)
    assert not answer.agrees
    assert answer.counts[SCORED_LESS] >= 1
    assert answer.differences[0].plugin == "NodeResourcesFit"
    assert "its node is feasible but scored less" in beside.told[0]
    report = shadow_report(answer)
    assert [section.heading for section in report.sections][:2] == ["Decisions", "Differences"]


def test_it_writes_nothing() -> None:
    beside = Beside()
    before: list[int] = []

    def story(cluster: EmbeddedCluster) -> None:
        before.append(cluster.server.registry.store.version)
        cluster.run(5)
        assert cluster.server.registry.store.version == before[0]
        a_burst(cluster)

    answer = beside.watch(*nodes(2), story=story)
    assert answer.judged


def test_with_the_right_to_read_alone_and_connections_that_break() -> None:
    reader = User("reader", ("system:authenticated",))
    beside = Beside(user=reader, faults="watch-expire=3s")
    server = beside.cluster.server
    create(server, a_role("read", a_rule("get list watch", "*", "*")), a_binding("read", "read", "User reader"))
    answer = beside.watch(*nodes(5), story=a_burst)
    assert (answer.differences, answer.judged > 20) == ((), True)


def test_it_ends_by_itself_after_so_many_pods() -> None:
    beside = Beside(pods=3, line_seconds=0.5)
    answer = beside.watch(*nodes(5), story=a_burst)
    assert answer.judged >= 3
    assert any("judged" in line for line in beside.notes)


def test_without_the_right_to_read_pods_it_says_which_rule_is_missing() -> None:
    beside = Beside(user=User("nobody", ("system:authenticated",)))
    with pytest.raises(KubeschedError, match=r"resources: .nodes., verbs: .get, list, watch"):
        beside.watch(*nodes(1), story=a_burst)

"""A life: the same seed gives the same changes, and a cluster that lives stays as large as it was."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from benchmarks.living.documents import node_document, pod_body, pod_status
from benchmarks.living.errors import LivingError
from benchmarks.living.life import Life
from benchmarks.living.model import ENDED, MEMBER, READY, SCALED, STARTED, STUCK, WAITING, LiveNode, LivePod, Pool
from benchmarks.living.options import LifeOptions
from benchmarks.living.templates import Template, daemon_body, stuck_body
from benchmarks.living.timers import Poisson, Timers

from kubesched.api.nodes import Node
from kubesched.api.pods import Pod, PodStatus

SMALL = LifeOptions(nodes=10, running=60, stuck=3, templates=12, new_node_every=5.0, node_life=10.0, life=5.0, burst=6)


class RecordingWorld:
    """A world that records what is written, and binds every pod that fits anywhere to the next node."""

    def __init__(self, timers: Timers) -> None:
        self.timers = timers
        self.life: Life | None = None
        self.writes: list[tuple[float, str, str]] = []
        self.statuses: dict[str, list[str]] = {}

    def _note(self, verb: str, name: str) -> None:
        self.writes.append((round(self.timers.now, 6), verb, name))

    def count(self) -> Counter[str]:
        return Counter(verb for _, verb, _ in self.writes)

    def date(self) -> float:
        return 1_700_000_000 + self.timers.now

    def create_pod(self, pod: LivePod) -> None:
        self._note("create pod", pod.full_name)
        if pod.node is None and pod.reason != STUCK:
            self.timers.after(0.01, self._bind, pod)

    def _bind(self, pod: LivePod) -> None:
        assert self.life is not None
        names = list(self.life.node_lives.nodes)
        self.life.bound(pod, pod.target or names[pod.number % len(names)])

    def report_pod(self, pod: LivePod) -> None:
        self._note("report pod", pod.full_name)
        self.statuses.setdefault(pod.full_name, []).append(pod.state)
        msgspec.convert(pod_status(pod), PodStatus)

    def resize_pod(self, pod: LivePod) -> None:
        self._note("resize pod", pod.full_name)

    def delete_pod(self, pod: LivePod, *, at_once: bool) -> None:
        self._note("remove pod" if at_once else "delete pod", pod.full_name)

    def create_node(self, node: LiveNode) -> None:
        self._note("create node", node.name)

    def report_node(self, node: LiveNode) -> None:
        self._note("report node", node.name)

    def mark_node(self, node: LiveNode) -> None:
        self._note("mark node", node.name)

    def delete_node(self, node: LiveNode) -> None:
        self._note("delete node", node.name)

    def renew_lease(self, node: LiveNode) -> None:
        self._note("renew lease", node.name)

    def create_object(self, path: str, document: Mapping[str, Any]) -> None:
        self._note(f"create {document['kind']}", document["metadata"]["name"])

    def delete_object(self, path: str, name: str) -> None:
        self._note("delete object", name)


def lived(seconds: float, rate: float, options: LifeOptions = SMALL) -> RecordingWorld:
    """Return a world in which a life has gone on for some time."""
    timers = Timers()
    world = RecordingWorld(timers)
    life = world.life = Life(options, world, timers)
    list(life.fill())
    life.start()
    life.set_rate(rate)
    timers.run(seconds)
    return world


def test_the_same_seed_gives_the_same_life() -> None:
    assert lived(60, 10).writes == lived(60, 10).writes


def test_another_seed_gives_another_life() -> None:
    other = msgspec.structs.replace(SMALL, seed=2)
    assert lived(60, 10).writes != lived(60, 10, other).writes


def test_everything_happens_in_a_life() -> None:
    counts = lived(120, 10).count()
    for verb in (
        "create pod",
        "report pod",
        "resize pod",
        "delete pod",
        "remove pod",
        "create node",
        "report node",
        "mark node",
        "delete node",
        "renew lease",
        "create ReplicaSet",
        "create Service",
        "delete object",
    ):
        assert counts[verb], verb


def test_the_number_of_running_pods_stays_the_same() -> None:
    world = lived(200, 10)
    assert world.life is not None
    pods = world.life.pods.values()
    members = sum(1 for pod in pods if pod.reason == MEMBER and not pod.ending)
    # a rollout creates a pod before it deletes another
    assert SMALL.running <= members <= SMALL.running + 40
    assert sum(1 for pod in pods if pod.reason == STUCK) == SMALL.stuck
    # those of Jobs and of scaled Deployments have ended
    assert len(pods) < SMALL.running + 200


def test_at_rate_zero_no_workload_creates_pods() -> None:
    options = msgspec.structs.replace(SMALL, new_node_every=0.0)
    world = lived(60, 0, options)
    assert world.count()["create pod"] == options.running + options.stuck
    assert world.count()["report pod"] > options.running


def test_a_pod_starts_runs_and_ends() -> None:
    calm = {"flaps": 0.0, "restarts": 0.0, "resizes": 0.0, "new_node_every": 0.0}
    options = msgspec.structs.replace(SMALL, rolling=0.0, jobs=0.0, **calm)
    world = lived(60, 1, options)
    scaled = [name for _, verb, name in world.writes if verb == "remove pod" and name in world.statuses]
    assert scaled
    assert all(world.statuses[name] == [WAITING, STARTED, READY, ENDED] for name in scaled)
    verbs = [verb for _, verb, name in world.writes if name == scaled[0]]
    assert verbs == ["create pod", "report pod", "report pod", "report pod", "delete pod", "report pod", "remove pod"]


def test_a_pod_that_is_bound_to_a_node_that_has_left_is_deleted() -> None:
    timers = Timers()
    world = RecordingWorld(timers)
    life = world.life = Life(SMALL, world, timers)
    pod = life.lives.create(life.arrivals.deployments[0].owner, SCALED)
    life.bound(pod, "gone")
    assert pod.full_name not in life.pods
    assert world.count()["remove pod"] == 1


def test_a_life_refuses_more_pods_than_its_nodes_have_room_for() -> None:
    timers = Timers()
    with pytest.raises(LivingError, match="700 pods do not fit on 10 nodes"):
        Life(msgspec.structs.replace(SMALL, running=700), RecordingWorld(timers), timers)


# -- parts


def test_timers_call_in_the_order_of_time() -> None:
    timers = Timers()
    called: list[str] = []

    def first() -> None:
        called.append("first")
        timers.after(0.5, called.append, "between")

    timers.after(2, called.append, "second")
    timers.after(1, first)
    timers.after(9, called.append, "later")
    timers.run(5)
    assert called == ["first", "between", "second"]
    assert (timers.now, timers.next_time) == (5, 9)


def times_at(rates: list[float]) -> list[list[float]]:
    """Return when a function is called, for ten seconds at each rate."""
    timers = Timers()
    found: list[list[float]] = []
    process = Poisson(timers, "seed", lambda: found[-1].append(timers.now - 10 * (len(found) - 1)))
    for rate in rates:
        found.append([])
        process.set_rate(rate)
        timers.run(10 * len(found))
    return found


def test_a_rate_has_the_same_times_whatever_came_before() -> None:
    (alone,) = times_at([20.0])
    slow, pause, again = times_at([3.0, 0.0, 20.0])
    assert 150 < len(alone) < 250
    assert 10 < len(slow) < 60
    assert pause == []
    assert again == pytest.approx(alone)


def test_a_pool_forgets_the_pods_that_are_removed() -> None:
    timers = Timers()
    life = Life(SMALL, RecordingWorld(timers), timers)
    pods = [LivePod(number, life.arrivals.deployments[0].owner, MEMBER) for number in range(5)]
    pool = Pool()
    for pod in pods:
        pool.add(pod)
    for pod in (pods[1], pods[4], pods[1]):
        pool.remove(pod)
    assert len(pool) == 3
    assert [pool._pods[pod.place] for pod in (pods[0], pods[2], pods[3])] == [pods[0], pods[2], pods[3]]


@pytest.mark.parametrize("number", range(8))
def test_templates_give_pods_that_a_scheduler_can_read(number: int) -> None:
    timers = Timers()
    life = Life(SMALL, RecordingWorld(timers), timers)
    owner = life.arrivals.deployments[number].owner
    pod = LivePod(7, owner, MEMBER)
    read = msgspec.json.decode(pod_body(pod), type=Pod)
    assert (read.name, read.namespace) == (pod.name, owner.template.namespace)
    assert read.metadata.controller is not None
    assert read.metadata.controller.name == owner.name
    assert read.metadata.labels["pod-template-hash"] == owner.hash
    assert b"@" not in pod_body(pod)


def test_pods_of_a_daemon_set_and_pods_that_fit_nowhere_differ_from_their_template() -> None:
    template = Template(1)
    daemon = msgspec.json.decode(daemon_body(template, "agent-a", "agent", "uid", "node-1"), type=Pod)
    assert daemon.spec.affinity is not None
    assert not daemon.spec.topology_spread_constraints
    stuck = msgspec.json.decode(stuck_body(template, "stuck-a", "stuck", "uid"), type=Pod)
    assert stuck.spec.containers[0].resources.requests["cpu"] == "64"


def test_nodes_have_zones_and_more_room_than_a_pod_that_fits_nowhere_leaves() -> None:
    node = msgspec.convert(node_document(LiveNode(2, 5), 1_700_000_000), Node)
    assert node.metadata.labels["topology.kubernetes.io/zone"] == "zone-2"
    assert int(str(node.status.allocatable["cpu"])) < 64
    assert len(node.status.images) == 5

"""A cluster in one process, in virtual time: it settles, the same every time, whatever goes wrong on the way."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from tests.support.world import assert_nobody_waits_in_vain

from kubesched.api.custom import CustomObject
from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.config.intree import IN_TREE, merge_catalogs
from kubesched.config.load import load
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import FilterPlugin
from kubesched.core.framework.services.background import Background
from kubesched.core.framework.services.object_writer import ObjectWriter
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import Status, unschedulable
from kubesched.core.framework.views.cluster_view import ClusterView
from kubesched.core.framework.views.nodes import NodeRow
from kubesched.manifests import Manifest, read
from kubesched.testing.settled import assert_settled
from kubesched_controlplane.access import RoleBasedAccess, StaticTokens
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.bootstrap.objects import bootstrap
from kubesched_controlplane.controllers.framework.options import LIFELIKE, Options
from kubesched_controlplane.loading.loader import create
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.faults import Dice, parse_faults
from kubesched_controlplane.transport.local_client import LocalClient
from kubesched_controlplane.transport.transport import Transport
from kubesched_controlplane.up.cluster import ClusterSpec, LocalCluster
from kubesched_controlplane.up.local_rest import LocalRest
from kubesched_controlplane.up.placements import PlacementReport, PodPlacement, read_report

QUICKSTART = Path(__file__).parents[4] / "examples" / "quickstart"
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)

Document = dict[str, Any]
Story = Callable[["Lived"], Awaitable[None]]


def a_node(name: str, cpu: str = "4", **labels: str) -> Document:
    capacity = {"cpu": cpu, "memory": "8Gi", "pods": "20"}
    labels = {"kubernetes.io/hostname": name, **labels}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": capacity},
    }


def a_pod(name: str, cpu: str = "100m", annotations: Document | None = None, **spec: Any) -> Document:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "annotations": annotations or {}},
        "spec": {"containers": [container], **spec},
    }


def a_priority(name: str, value: int) -> Document:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


class Lived:
    """A cluster that lives in virtual time, with what became of it."""

    def __init__(
        self, *, faults: str = "", seed: int = 0, options: Options | None = None, plugins: Iterable[Any] = ()
    ) -> None:
        loop = asyncio.get_running_loop()
        start = loop.time()
        self.seed = seed
        self.notes: list[str] = []
        self.server = ApiServer(
            clock=lambda: BEGINNING + timedelta(seconds=loop.time() - start),
            seed=seed,
            access=lambda services: RoleBasedAccess(services, StaticTokens()),
            note=self.notes.append,
        )
        bootstrap(LocalClient(self.server, ADMINISTRATOR))
        self.dice = Dice(parse_faults(faults), seed) if faults else None
        self.transport = Transport(self.server, self.dice)
        registry = Registry()
        for plugin in plugins:
            registry.register(plugin)
        enabled = "".join(f"\n      - name: {plugin.name}" for plugin in plugins)
        config = CONFIG + enabled if plugins else None
        loaded = load(config, None, merge_catalogs(IN_TREE, registry.catalog()))
        spec = ClusterSpec(loaded, registry, options or Options(), seed, self.server.registry.clock)
        self.cluster = LocalCluster(self.transport, spec, self.notes.append)
        self.scheduler = self.cluster.parts.scheduler
        self.seconds = 0.0

    def add(self, *documents: Document) -> None:
        """Create objects."""
        manifests = [Manifest(f"object {number}", document) for number, document in enumerate(documents)]
        assert create(self.server, manifests).problems == []

    def delete(self, kind: str, name: str) -> None:
        """Delete an object, if it is there."""
        client = LocalClient(self.server, ADMINISTRATOR)
        client.delete(client.resource("v1", kind), "" if kind == "Node" else "default", name)

    async def settled(self) -> PlacementReport:
        """Return how things stand once they have settled; keep how long that took."""
        began = asyncio.get_running_loop().time()
        await self.cluster.until_settled()
        self.seconds = asyncio.get_running_loop().time() - began
        return read_report(self.cluster)

    def objects(self) -> list[tuple[str, str, bytes]]:
        """Return every object there is, to the byte."""
        registry = self.server.registry
        prefixes = sorted({each.prefix for each in registry.catalog.resources})
        return [(prefix, each.key, each.body) for prefix in prefixes for each in registry.store.set_of(prefix)]


CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled:"""


def living(story: Story, *documents: Document, manifests: Iterable[Manifest] = (), **words: Any) -> Lived:
    """Play a story in virtual time in a cluster that begins with some objects; return what became of it."""

    async def run() -> Lived:
        lived = Lived(**words)
        lived.add(*documents)
        assert create(lived.server, list(manifests)).problems == []
        lived.transport.start()
        async with lived.cluster.running():
            await story(lived)
        lived.transport.stop()
        return lived

    return run_in_virtual_time(run())


def by_name(report: PlacementReport) -> dict[str, PodPlacement]:
    return {pod.name: pod for pod in report.pods}


def statuses(report: PlacementReport) -> dict[str, str]:
    return {pod.name: pod.status for pod in report.pods}


# -- the quickstart


def quickstart(story: Story, **words: Any) -> Lived:
    manifests, problems = read([str(QUICKSTART)])
    assert problems == []
    return living(story, manifests=manifests, **words)


def test_the_quickstart_shows_what_it_says() -> None:
    async def story(lived: Lived) -> None:
        report = await lived.settled()
        pods = by_name(report)
        nodes: dict[str, list[str]] = {}
        for pod in report.pods:
            nodes.setdefault(pod.owner, []).append(pod.node)
        web, caches, train = (nodes[owner] for owner in ("Deployment/web", "Deployment/cache", "Job/train"))
        zones = Counter(node.removeprefix("node-")[0] for node in web)
        assert zones == {"a": 2, "b": 2, "c": 2}, "spread evenly"
        assert len(set(web)) == 6, "one a node, which is but a wish"
        assert set(caches) <= set(web), "beside web servers"
        assert len(set(caches)) == 3, "each by itself"
        assert len(train) == 4, "two at a time, and then two more"
        assert set(train) <= {"node-a-gpu", "node-b-gpu"}
        assert {pod.status for pod in report.pods if pod.owner == "Job/train"} == {"Succeeded"}
        assert pods["train-big"].node == "node-b-gpu"
        assert pods["database-0"].node.startswith("node-b"), "where its volume can be"
        assert pods["giant"].status == "Unschedulable"
        assert "9 Insufficient cpu, 3 node(s) had untolerated taint(s)" in _sorted_reasons(pods["giant"].reason)
        (victim,) = report.preempted
        assert victim.name.startswith("batch-")
        assert (victim.node, victim.by) == (pods["urgent"].node, "default/urgent")
        assert victim.name not in pods, "it is gone"
        waiting = [pod.name for pod in report.pods if not pod.node]
        assert waiting == ["giant"]
        assert (report.nodes, len(report.pods)) == (12, 19)
        client = LocalClient(lived.server, ADMINISTRATOR)
        claim = client.get(client.resource("v1", "PersistentVolumeClaim"), "default", "data-database-0")
        assert claim is not None
        assert claim["status"]["phase"] == "Bound"
        assert report.summary() == "12 nodes, 19 pods: 14 bound, 4 succeeded, 1 unschedulable, 1 preempted"

    lived = quickstart(story)
    assert lived.notes == []
    assert lived.seconds < 3, "nothing takes time but the Job, and the end of the pod that has to go"


def _sorted_reasons(message: str) -> str:
    """Return the reasons of a message, without what follows them, in reverse order."""
    return ", ".join(sorted(message.partition(": ")[2].partition(". ")[0].split(", "), reverse=True))


# -- twice the same


async def _settle(lived: Lived) -> None:
    await lived.settled()


def test_with_a_seed_everything_is_the_same_to_the_byte() -> None:
    first, second = quickstart(_settle, seed=3), quickstart(_settle, seed=3)
    assert len(first.objects()) > 60
    assert first.objects() == second.objects()


def test_another_seed_makes_another_cluster() -> None:
    assert quickstart(_settle, seed=3).objects() != quickstart(_settle, seed=4).objects()


# -- what is waited for


@pytest.mark.parametrize(
    ("delays", "at_least"),
    [
        pytest.param({"node_ready_seconds": 20.0}, 20.0, id="nodes that are not ready yet"),
        pytest.param({"termination_seconds": 25.0}, 25.0, id="a victim that takes its time to go"),
        pytest.param({"provision_seconds": 15.0}, 15.0, id="a volume that is being made"),
        pytest.param({"pod_start_seconds": 9.0, "ready_seconds": 3.0}, 12.0, id="pods that start"),
    ],
)
def test_things_have_not_settled_while_something_takes_its_time(delays: dict[str, float], at_least: float) -> None:
    async def story(lived: Lived) -> None:
        report = await lived.settled()
        assert lived.seconds >= at_least
        assert lived.seconds < at_least + 15, "and not much longer"
        assert statuses(report) == {"urgent": "Running", "database": "Running"}
        assert [victim.name for victim in report.preempted] == ["low"]

    living(
        story,
        a_node("n1"),
        a_node("n2"),
        a_priority("low", -5),
        a_priority("high", 5),
        a_pod("low", cpu="3", priorityClassName="low", nodeName="n1"),
        a_pod("urgent", cpu="4", priorityClassName="high", nodeSelector={"kubernetes.io/hostname": "n1"}),
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "made"},
            "provisioner": "disks.example.com",
            "volumeBindingMode": "WaitForFirstConsumer",
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data"},
            "spec": {
                "storageClassName": "made",
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
        a_pod("database", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]),
        options=Options(**delays),  # type: ignore[arg-type]
    )


def test_what_lies_far_off_is_not_waited_for() -> None:
    async def story(lived: Lived) -> None:
        report = await lived.settled()
        assert lived.seconds < 1
        assert statuses(report) == {"job": "Running", "next": "Unschedulable", "later": "SchedulingGated"}
        await asyncio.sleep(3600)
        report = await lived.settled()
        assert statuses(report) == {"job": "Succeeded", "next": "Running", "later": "SchedulingGated"}

    an_hour = {"kubesched.io/run-seconds": "3600"}
    living(
        story,
        a_node("n1"),
        a_pod("job", cpu="4", annotations=an_hour, restartPolicy="Never", nodeName="n1"),
        a_pod("next", cpu="4"),
        a_pod("later", schedulingGates=[{"name": "example.com/gate"}]),
    )


def a_job(name: str, run_seconds: str, completions: int = 1) -> Document:
    template = a_pod("", annotations={"kubesched.io/run-seconds": run_seconds}, restartPolicy="Never")
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "completions": completions,
            "template": {"metadata": {"annotations": template["metadata"]["annotations"]}, "spec": template["spec"]},
        },
    }


@pytest.mark.parametrize(
    ("options", "status"),
    [
        pytest.param(Options(), "Running", id="a minute is not waited for"),
        pytest.param(LIFELIKE.at_speed(10), "Running", id="nor are six seconds"),
        pytest.param(LIFELIKE.at_speed(100), "Succeeded", id="what is over in a moment is"),
        pytest.param(
            Options(termination_seconds=0.0).at_speed(1e6), "Succeeded", id="controllers are slower than that"
        ),
    ],
)
def test_speed_counts_for_what_pods_say_and_signs_of_life_are_not_waited_for(options: Options, status: str) -> None:
    async def story(lived: Lived) -> None:
        async with asyncio.timeout(60):
            report = await lived.settled()
        assert {pod.status for pod in report.pods} == {status}
        assert len(report.pods) == (1 if status == "Running" else 3), "one at a time"
        assert {pod.owner for pod in report.pods} == {"Job/work"}

    living(story, a_node("n1"), a_job("work", "60", completions=3), options=replace(options, heartbeat_seconds=0.05))


def test_a_faster_cluster_does_the_same_in_less_time() -> None:
    seconds = [quickstart(_settle, options=LIFELIKE.at_speed(speed)).seconds for speed in (1, 4)]
    # whatever does not go by the nodes' clock takes a moment at any speed
    assert seconds[0] > 2 * seconds[1] > 6


class Angry(FilterPlugin):
    """Fails whenever it is asked."""

    name = "Angry"

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        raise RuntimeError("not today")


class Moody(FilterPlugin):
    """Fails whenever it is asked, with another error each time."""

    name = "Moody"

    def __init__(self) -> None:
        self.asked = 0

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        self.asked += 1
        raise RuntimeError(f"not today, {self.asked}")


def test_a_pod_that_fails_in_a_plugin_again_and_again_is_settled_as_failed() -> None:
    async def story(lived: Lived) -> None:
        pods = by_name(await lived.settled())
        assert pods["p"].status == "SchedulerError"
        assert 'plugin "Angry" failed in filter: RuntimeError: not today' in pods["p"].reason

    lived = living(story, a_node("n1"), a_pod("p"), plugins=[Angry])
    assert lived.seconds < 10, "backoff grows to ten seconds; a few attempts are enough"


def test_a_pod_that_is_tried_again_and_again_never_settles_and_is_named() -> None:
    async def story(lived: Lived) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(100):
                await lived.cluster.until_settled()
        assert list(lived.cluster.under_way()) == ["pod default/p is backing off until it is tried again"]
        (pod,) = read_report(lived.cluster).pods
        assert pod.status == "SchedulerError"
        assert "Moody" in pod.reason

    living(story, a_node("n1"), a_pod("p"), plugins=[Moody])


# -- kinds of plugins


LOADS = "nodeloads.v1.example.com"


class LoadAware(FilterPlugin):
    """Keeps off nodes that a custom object calls busy."""

    name = "LoadAware"
    looks_up = (LOADS,)

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        loads = self._cluster.all(LOADS)
        busy = any(isinstance(load, CustomObject) and load.name == node.name and load.spec["busy"] for load in loads)
        return unschedulable("node(s) were busy") if busy else None


def a_definition(group: str = "example.com", kind: str = "NodeLoad") -> Document:
    plural = f"{kind.lower()}s"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
            "scope": "Cluster",
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}},
            ],
        },
    }


def test_a_plugin_may_read_the_kinds_that_it_looks_up() -> None:
    async def story(lived: Lived) -> None:
        assert lived.cluster.kinds_not_served() == []
        assert by_name(await lived.settled())["p"].node == "n2"

    load = {"apiVersion": "example.com/v1", "kind": "NodeLoad", "metadata": {"name": "n1"}, "spec": {"busy": True}}
    lived = living(story, a_definition(), load, a_node("n1"), a_node("n2"), a_pod("p"), plugins=[LoadAware])
    assert not any("cannot" in line for line in lived.notes), lived.notes


class LoadWriter(LoadAware):
    """Writes what it finds, and evicts pods of busy nodes."""

    writes = (LOADS, f"{LOADS}/status", "Pod/eviction")

    def __init__(self, cluster: ClusterView, writer: ObjectWriter, background: Background) -> None:
        super().__init__(cluster)
        self._writer = writer
        background.every(5, self._write)

    async def _write(self) -> None:
        for busy in self._cluster.all(LOADS):
            # a pod that does not run yet is evicted without regard to budgets
            on_node = [pod for pod in self._cluster.pods.values() if pod.status.phase == "Running"]
            refusals = [await self._writer.evict(pod) for pod in on_node]
            self._writer.status(busy, {"pods": len(on_node), "refused": [text for text in refusals if text]})
            self._writer.annotate(busy, {"example.com/seen": "true"})
            self._writer.event(busy, "Counted", f"{len(on_node)} pods")


def test_a_plugin_may_write_what_it_declares() -> None:
    async def story(lived: Lived) -> None:
        await lived.settled()
        await asyncio.sleep(20)
        client = LocalClient(lived.cluster.server, ADMINISTRATOR)
        load = client.get(client.resource("example.com/v1", "NodeLoad"), "", "n1")
        assert load is not None
        assert load["status"]["pods"] == 1
        assert "disruption budget" in load["status"]["refused"][0]
        assert load["metadata"]["annotations"] == {"example.com/seen": "true"}
        answer = await LocalRest(lived.transport, ADMINISTRATOR).get("/apis/events.k8s.io/v1/events")
        events = msgspec.json.decode(answer)["items"]
        regarding = [event["regarding"] for event in events if event["reason"] == "Counted"]
        assert (regarding[0]["kind"], regarding[0]["apiVersion"]) == ("NodeLoad", "example.com/v1")

    definition = a_definition()
    definition["spec"]["versions"][0]["subresources"] = {"status": {}}
    load = {"apiVersion": "example.com/v1", "kind": "NodeLoad", "metadata": {"name": "n1"}, "spec": {"busy": False}}
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "all", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {}},
    }
    lived = living(story, definition, load, budget, a_node("n1"), a_pod("p"), plugins=[LoadWriter])
    assert not any("rejected" in line for line in lived.notes), lived.notes


def test_a_kind_that_is_not_served_is_named_with_the_plugin_that_wants_it() -> None:
    async def story() -> None:
        lived = Lived(plugins=[LoadAware])
        assert lived.cluster.kinds_not_served() == [
            f"LoadAware: {LOADS} is looked up, but not served: add its CustomResourceDefinition"
        ]

    run_in_virtual_time(story())


# -- why a pod is nowhere


def test_each_pod_that_is_nowhere_has_a_reason() -> None:
    async def story(lived: Lived) -> None:
        pods = by_name(await lived.settled())
        assert pods["stranger"].status == "Pending"
        assert pods["stranger"].reason == ("there is no scheduler 'another' here; profiles are for default-scheduler")
        assert pods["claimless"].status == "Pending"
        assert pods["claimless"].reason == 'DynamicResources: could not find ResourceClaim "default/gpu"'
        assert pods["gated"].status == "SchedulingGated"
        assert "non-empty scheduling gates" in pods["gated"].reason
        assert pods["giant"].status == "Unschedulable"
        assert pods["giant"].reason.startswith("0/1 nodes are available: 1 Insufficient cpu.")
        assert pods["refused"].status == "Failed"
        assert "cpu" in pods["refused"].reason, "its node says why"

    living(
        story,
        a_node("n1"),
        a_pod("stranger", schedulerName="another"),
        a_pod("claimless", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}]),
        a_pod("gated", schedulingGates=[{"name": "example.com/gate"}]),
        a_pod("giant", cpu="5"),
        a_pod("refused", cpu="5", nodeName="n1"),
    )


def test_pods_that_find_no_node_are_counted() -> None:
    async def story(lived: Lived) -> None:
        report = await lived.settled()
        assert report.unschedulable == 2, "those that wait to be scheduled, or for others, do not count"

    living(
        story,
        a_node("n1"),
        a_pod("small"),
        a_pod("giant", cpu="5"),
        a_pod("claimless", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}]),
        a_pod("gated", schedulingGates=[{"name": "example.com/gate"}]),
        a_pod("stranger", schedulerName="another"),
        a_pod("refused", cpu="5", nodeName="n1"),
    )


def test_what_comes_later_is_taken_in_and_settles_again() -> None:
    async def story(lived: Lived) -> None:
        assert statuses(await lived.settled()) == {"giant": "Unschedulable"}
        lived.add(a_node("n2", cpu="8"), a_pod("small"))
        report = await lived.settled()
        assert by_name(report)["giant"].node == "n2"
        assert statuses(report) == {"giant": "Running", "small": "Running"}
        lived.delete("Pod", "giant")
        assert statuses(await lived.settled()) == {"small": "Running"}

    living(story, a_node("n1"), a_pod("giant", cpu="5"))


# -- whatever goes wrong


ALL_FAULTS = (
    "conflict=0.15,lost-response=0.1,lost-request=0.1,too-many-requests=0.05:2s,internal-error=0.05,unavailable=0.05,"
    "timeout=0.05,slow=0.1:700ms,watch-drop=0.1,watch-duplicate=0.1,watch-delay=0.1:3s,watch-expire=25s,outage=40s:6s"
)


async def hard_times(lived: Lived) -> None:
    """Let pods and nodes come and go for a few minutes; then calm down and hold what must hold."""
    random = Random(lived.seed)
    for step in range(60):
        number = random.randrange(1000)
        match random.randrange(6):
            case 0:
                lived.add(a_node(f"node-{step}", random.choice(("2", "4"))))
            case 1:
                lived.delete("Pod", f"pod-{number % (step + 1)}")
            case _:
                priority: dict[str, Any] = random.choice(({}, {}, {"priorityClassName": "high"}))
                lived.add(a_pod(f"pod-{step}", random.choice(("250m", "1", "2", "3")), **priority))
        await asyncio.sleep(random.choice((0.0, 0.1, 3.0, 12.0)))
        lived.scheduler.queue.validate()
    lived.transport.calm()
    for reflector in lived.cluster.parts.informers.reflectors.values():
        # what was never sent is only found by listing
        reflector.relist()
    async with asyncio.timeout(900):
        report = await lived.settled()
    assert_all_is_well(lived, report)


def assert_all_is_well(lived: Lived, report: PlacementReport) -> None:
    # a status that could not be written is pending
    assert {pod.status for pod in report.pods} <= {"Running", "Unschedulable", "Pending"}, report
    assert all(pod.reason for pod in report.pods if not pod.node)
    # what the client holds is what there is
    held = lived.cluster.parts.informers.objects()
    store = lived.server.registry.store
    for kind, name in (("Pod", "pods"), ("Node", "nodes")):
        versions = {obj.full_name: obj.metadata.resource_version for obj in held if type(obj).__name__ == kind}
        assert versions == {each.key.strip("/"): str(each.version) for each in store.set_of(name)}
    # nobody lost, no node overcommitted, nothing that the comparer finds, nobody waits who fits
    pods = [obj for obj in held if type(obj).__name__ == "Pod"]
    world: Any = SimpleNamespace(
        pods=lambda: pods, objects={(type(obj), obj.full_name): obj for obj in held}, invalid=[]
    )
    assert_settled(world, lived.scheduler)
    assert_nobody_waits_in_vain(world)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_goes_wrong_every_pod_is_bound_or_settled_and_no_node_overcommitted(seed: int) -> None:
    beginning = (a_priority("high", 100), *(a_node(f"n{number}") for number in range(3)))
    lived = living(hard_times, *beginning, faults=ALL_FAULTS, seed=seed)
    assert lived.dice is not None
    assert len(lived.dice.thrown) >= 11, f"faults that did not happen are not withstood: {lived.dice.thrown}"


@pytest.mark.parametrize(
    "fault",
    [
        "conflict=0.5 on create pods/binding",
        "lost-response=0.5 on create pods/binding",
        "lost-request=0.5",
        "watch-drop=0.5,watch-expire=20s",
        "watch-expire=3s",
        "outage=10s:5s",
    ],
)
def test_one_thing_that_goes_wrong_all_the_time(fault: str) -> None:
    beginning = (a_priority("high", 100), *(a_node(f"n{number}") for number in range(3)))
    lived = living(hard_times, *beginning, faults=fault, seed=11)
    assert lived.dice is not None
    # an expiry is not counted: it is no event of its own
    assert lived.dice.thrown.total() or "watch-expire" in fault


def test_even_what_goes_wrong_is_the_same_every_time() -> None:
    beginning = (a_priority("high", 100), a_node("n1"))
    first, second = (living(hard_times, *beginning, faults=ALL_FAULTS, seed=7) for _ in range(2))
    assert first.objects() == second.objects()
    assert first.notes == second.notes

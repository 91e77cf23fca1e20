"""VolumeBinding's PreBind in virtual time: what is written, what is waited for, and what ends the wait."""

import asyncio
from collections.abc import Callable, Collection
from typing import TypeVar

import msgspec
import pytest

from kubesched.api.meta import ApiObject
from kubesched.api.pods import NodeSelectorRequirement, NodeSelectorTerm
from kubesched.api.volumes import AWSElasticBlockStoreVolumeSource
from kubesched.config.args import VolumeBindingArgs
from kubesched.conformance.plans import described_plan
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.storage.volumes import OutOfSyncError
from kubesched.core.framework.observing.observer import Observer, Observers
from kubesched.core.framework.services.waiting import NoWaits, TimedOut
from kubesched.core.framework.values.cycle import PRE_FILTERED, CycleState
from kubesched.core.framework.values.effects import ConflictError, Effect, EffectError, Patch
from kubesched.core.framework.values.status import Code, Status
from kubesched.core.framework.views.nodes import Nodes
from kubesched.core.plugins.volume_binding import VolumeBinding
from kubesched.core.plugins.volume_binding.assuming import bound_to
from kubesched.testing import a_claim, a_cluster, a_csi_node, a_node, a_pod, a_storage_class, a_volume
from kubesched.testing.shorthand import HOSTNAME, ZONE

T = TypeVar("T")
SELECTED = "volume.kubernetes.io/selected-node"
TIMEOUT_SECONDS = 30


class VirtualWaits(NoWaits):
    """Waits in which things happen at set times."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.script: list[tuple[float, Callable[[], None]]] = []

    def now(self) -> float:
        return self.time

    async def until(self, check: Callable[[], T | None], kinds: Collection[str], timeout_seconds: float) -> T:
        assert {"PersistentVolume", "PersistentVolumeClaim", "Node", "CSINode", "Pod"} == set(kinds)
        deadline = self.time + timeout_seconds
        while (answer := check()) is None:
            if not self.script or self.script[0][0] > deadline:
                self.time = deadline
                raise TimedOut
            self.time, happen = self.script.pop(0)
            happen()
        return answer


class ApiServer:
    """Effects that give the objects new versions, which are not reported by themselves."""

    def __init__(self, cluster: ClusterState) -> None:
        self.cluster = cluster
        self.written: list[Patch] = []
        self.refuse: dict[str, EffectError] = {}
        # whether it tells what was written
        self.tells = True

    async def perform(self, effect: Effect) -> ApiObject | None:
        assert isinstance(effect, Patch)
        refusal = self.refuse.pop(effect.name, None)
        if refusal is not None:
            raise refusal
        self.written.append(effect)
        assumed = self.cluster.volumes.volume(effect.name) or self.cluster.volumes.claim(f"default/{effect.name}")
        assert assumed is not None
        return newer(assumed, str(int(assumed.metadata.resource_version) + 1)) if self.tells else None

    def submit(self, *effects: Effect) -> None:
        raise AssertionError("PreBind waits for what it does")


def newer(obj: T, version: str = "2") -> T:
    assert isinstance(obj, ApiObject)
    meta = msgspec.structs.replace(obj.metadata, resource_version=version)
    return msgspec.structs.replace(obj, metadata=meta)


VOLUME = a_volume("v", nodes=f"{HOSTNAME}=n1", version="1")
CLAIM = a_claim("c", version="1")
OTHER = a_claim("d", storage_class="csi", version="1")
BOUND_VOLUME = newer(bound_to(VOLUME, CLAIM))
BOUND_CLAIM = a_claim("c", bound_to="v", version="3")
PROVIDED_CLAIM = a_claim("d", storage_class="csi", bound_to="pv-d", selected_node="n1", version="3")
PROVIDED_VOLUME = a_volume("pv-d", storage_class="csi", claimed_by="default/d", phase="Bound")


class Told(Observer):
    """Remembers at which stages volumes failed."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    def volume_stage_failed(self, stage: str) -> None:
        self.failed.append(stage)


class Cycle:
    """A pod with a claim to bind and one to provide for, reserved on n1."""

    def __init__(self) -> None:
        self.cluster = a_cluster(
            a_node("n1"), a_storage_class("local"), a_storage_class("csi", provisioner="csi"), VOLUME, CLAIM, OTHER
        )
        self.api, self.waits = ApiServer(self.cluster), VirtualWaits()
        args = VolumeBindingArgs(bind_timeout_seconds=TIMEOUT_SECONDS)
        self.told = Told()
        observers = Observers([self.told], clock=lambda: 0.0, note=pytest.fail)
        self.plugin = VolumeBinding(self.cluster, args=args, effects=self.api, waits=self.waits, observers=observers)
        self.pod = self.cluster.reader.read(a_pod("p", volumes=["c", "d"]))
        self.attempt()

    def attempt(self) -> None:
        """Take the pod through the cycle up to Reserve."""
        self.state = CycleState()
        self.state.write(PRE_FILTERED, ("VolumeBinding",))
        assert self.plugin.pre_filter(self.state, self.pod) is None
        self.plugin.filter_nodes(self.state, self.pod, Nodes(self.cluster.table))
        self.placed: PodInfo = self.cluster.assume(self.pod, "n1")
        assert self.plugin.reserve(self.state, self.placed, "n1") is None

    def at(self, time: float, *objects: ApiObject) -> "Cycle":
        """Have objects reported at a time."""

        def report() -> None:
            for obj in objects:
                self.cluster.add(obj)

        self.waits.script.append((time, report))
        return self

    def gone(self, time: float, obj: ApiObject) -> "Cycle":
        """Have an object's deletion reported at a time."""
        self.waits.script.append((time, lambda: self.cluster.remove(obj)))
        return self

    def pre_bind(self) -> Status | None:
        assert self.plugin.pre_bind_pre_flight(self.state, self.placed, "n1") is None
        return asyncio.run(self.plugin.pre_bind(self.state, self.placed, "n1"))

    def failure(self) -> str:
        status = self.pre_bind()
        assert status is not None
        assert status.code is Code.ERROR
        return status.message

    def give_up(self) -> None:
        """Undo the cycle, as a failed attempt does."""
        self.plugin.unreserve(self.state, self.placed, "n1")
        self.cluster.forget(self.placed)


def test_volumes_are_bound_in_time() -> None:
    cycle = Cycle().at(1, BOUND_VOLUME).at(2, BOUND_CLAIM).at(5, PROVIDED_CLAIM, PROVIDED_VOLUME)
    assert cycle.pre_bind() is None
    assert cycle.waits.time == 5
    assert cycle.cluster.volumes.assumed() == ([], [])
    volume, claim = cycle.api.written
    assert volume == Patch(
        "PersistentVolume",
        "",
        "v",
        {
            "metadata": {
                "uid": "v",
                "resourceVersion": "1",
                "annotations": {"pv.kubernetes.io/bound-by-controller": "yes"},
            },
            "spec": {
                "claimRef": {
                    "kind": "PersistentVolumeClaim",
                    "namespace": "default",
                    "name": "c",
                    "uid": "default-c",
                    "apiVersion": "v1",
                    "resourceVersion": "1",
                }
            },
        },
    )
    meta = {"uid": "default-d", "resourceVersion": "1", "annotations": {SELECTED: "n1"}}
    assert claim == Patch("PersistentVolumeClaim", "default", "d", {"metadata": meta})


def test_nobody_waits_for_ever() -> None:
    cycle = Cycle().at(1, BOUND_VOLUME).at(2, BOUND_CLAIM).at(TIMEOUT_SECONDS + 1, PROVIDED_CLAIM, PROVIDED_VOLUME)
    assert cycle.failure() == "binding volumes: context deadline exceeded"
    assert cycle.waits.time == TIMEOUT_SECONDS
    assert cycle.told.failed == ["bind"]


def test_what_is_out_of_date_when_it_is_reserved_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_sync(*args: object) -> None:
        raise OutOfSyncError("volume v is out of sync")

    cycle = Cycle()
    cycle.give_up()
    monkeypatch.setattr("kubesched.core.plugins.volume_binding.plugin.assume", out_of_sync)
    status = cycle.plugin.reserve(cycle.state, cycle.placed, "n1")
    assert status is not None
    assert (status.code, status.message) == (Code.ERROR, "volume v is out of sync")
    assert cycle.told.failed == ["assume"]


def test_old_reports_prove_nothing() -> None:
    # the claim looks bound, but the volume is still the one from before the write
    cycle = Cycle().at(1, BOUND_CLAIM).at(2, VOLUME)
    assert cycle.failure() == "binding volumes: context deadline exceeded"


def test_old_reports_prove_nothing_even_if_the_new_version_is_not_known() -> None:
    cycle = Cycle().at(1, VOLUME, CLAIM, OTHER).at(2, BOUND_VOLUME, BOUND_CLAIM).at(3, PROVIDED_CLAIM, PROVIDED_VOLUME)
    cycle.api.tells = False
    assert cycle.pre_bind() is None
    assert cycle.waits.time == 3


def test_a_provided_volume_may_be_on_its_way() -> None:
    cycle = Cycle().at(1, BOUND_VOLUME, BOUND_CLAIM, PROVIDED_CLAIM).at(9, PROVIDED_VOLUME)
    assert cycle.pre_bind() is None
    assert cycle.waits.time == 9


def changed(obj: T, **fields: object) -> T:
    return msgspec.structs.replace(obj, **fields)  # type: ignore[type-var]


RESET = newer(changed(BOUND_VOLUME, spec=changed(BOUND_VOLUME.spec, claim_ref=None)), "3")
ELSEWHERE = a_volume("pv-d", storage_class="csi", nodes=f"{HOSTNAME}=n2", claimed_by="default/d", phase="Bound")


@pytest.mark.parametrize(
    ("what", "reports", "gone", "expected"),
    [
        ("the node is gone", [], a_node("n1"), 'failed to get node "n1": node "n1" not found'),
        ("the pod is gone", [], a_pod("p"), 'pod does not exist any more: pod "p" not found'),
        ("the volume is gone", [], VOLUME, 'failed to check binding: persistentvolumes "v" not found'),
        ("the claim is gone", [], CLAIM, 'failed to check binding: persistentvolumeclaims "default/c" not found'),
        (
            "the claim to provide for is gone",
            [BOUND_VOLUME, BOUND_CLAIM],
            OTHER,
            'failed to check provisioning pvc: persistentvolumeclaims "default/d" not found',
        ),
        ("the volume was given back", [RESET, BOUND_CLAIM], None, 'ClaimRef got reset for pv "v"'),
        (
            "the node was relabelled",
            [BOUND_VOLUME, a_node("n1", hostname=False)],
            None,
            'pv "v" node affinity doesn\'t match node "n1": no matching NodeSelectorTerms',
        ),
        (
            "the claim could not be provided for",
            [BOUND_VOLUME, BOUND_CLAIM, a_claim("d", version="3", annotations={"some": "thing"})],
            None,
            'provisioning failed for PVC "d"',
        ),
        (
            "the claim lost all its annotations",
            [BOUND_VOLUME, BOUND_CLAIM, a_claim("d", version="3")],
            None,
            'selectedNode annotation reset for PVC "d"',
        ),
        (
            "the claim was moved to another node",
            [BOUND_VOLUME, BOUND_CLAIM, a_claim("d", version="3", selected_node="n2")],
            None,
            'provisioning failed for PVC "d"',
        ),
        (
            "the volume was provided elsewhere",
            [BOUND_VOLUME, BOUND_CLAIM, PROVIDED_CLAIM, ELSEWHERE],
            None,
            'pv "pv-d" node affinity doesn\'t match node "n1": no matching NodeSelectorTerms',
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_ends_the_wait(what: str, reports: list[ApiObject], gone: ApiObject | None, expected: str) -> None:
    cycle = Cycle()
    if reports:
        cycle.at(1, *reports)
    if gone is not None:
        cycle.gone(2, gone)
    assert cycle.failure() == f"binding volumes: {expected}", what
    assert cycle.waits.time < TIMEOUT_SECONDS


def test_a_lost_claim_waits_until_the_time_is_up() -> None:
    # as the reference: Lost is noticed by PreFilter of the next attempt
    lost = a_claim("c", phase="Lost", version="3")
    cycle = Cycle().at(1, BOUND_VOLUME, lost)
    assert cycle.failure() == "binding volumes: context deadline exceeded"
    cycle.give_up()
    rejection = cycle.plugin.pre_filter(CycleState(), cycle.pod)
    assert rejection is not None
    assert rejection.message == 'persistentvolumeclaim "c" bound to non-existent persistentvolume ""'


@pytest.mark.parametrize(
    ("what", "refused", "still_assumed"),
    [("the volume: nothing was written", "v", ([], [])), ("the claim: the volume was written", "d", (["v"], []))],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_a_refused_write(what: str, refused: str, still_assumed: tuple[list[str], list[str]]) -> None:
    cycle = Cycle()
    cycle.api.refuse[refused] = ConflictError("the object has been modified")
    assert cycle.failure() == "the object has been modified"
    cycle.give_up()
    volumes, claims = cycle.cluster.volumes.assumed()
    # what was written stays assumed until its new version is reported
    assert ([v.name for v in volumes], [c.name for c in claims]) == still_assumed, what


def test_another_attempt_after_a_conflict() -> None:
    cycle = Cycle()
    cycle.api.refuse["v"] = ConflictError("the object has been modified")
    assert cycle.failure() == "the object has been modified"
    cycle.give_up()
    # the newer version that was in the way is reported, and still fits
    cycle.cluster.add(newer(VOLUME, "5"))
    cycle.attempt()
    cycle.at(1, newer(bound_to(VOLUME, CLAIM), "6"), BOUND_CLAIM, PROVIDED_CLAIM, PROVIDED_VOLUME)
    assert cycle.pre_bind() is None
    assert [patch.body["metadata"]["resourceVersion"] for patch in cycle.api.written] == ["5", "1"]


def test_a_retry_finds_the_volume_that_was_written_before_the_failure() -> None:
    cycle = Cycle()
    cycle.api.refuse["d"] = EffectError("try later")
    assert cycle.failure() == "try later"
    cycle.give_up()
    cycle.cluster.add(BOUND_VOLUME)
    cycle.attempt()
    assert described_plan(cycle.plugin, cycle.state, cycle.pod, "n1") == {
        "volumes": {"bindings": {"c": "v"}, "provision": ["d"]}
    }
    cycle.at(1, newer(BOUND_VOLUME, "4"), BOUND_CLAIM, PROVIDED_CLAIM, PROVIDED_VOLUME)
    assert cycle.pre_bind() is None


def test_a_migrated_volume_is_looked_at_as_the_drivers() -> None:
    source = AWSElasticBlockStoreVolumeSource(volume_id="vol-1")
    term = NodeSelectorTerm(match_expressions=(NodeSelectorRequirement(key=ZONE, operator="In", values=("a",)),))
    zonal = a_volume("pv-d", storage_class="csi", nodes=term, claimed_by="default/d", phase="Bound")
    in_tree = changed(zonal, spec=changed(zonal.spec, aws_elastic_block_store=source))
    migrated = a_csi_node("n1", migrated=["kubernetes.io/aws-ebs"])
    reports = (BOUND_VOLUME, BOUND_CLAIM, PROVIDED_CLAIM, in_tree)
    assert Cycle().at(1, a_node("n1", zone="a"), *reports).pre_bind() is None
    # the driver's label is missing
    assert "node affinity doesn't match" in Cycle().at(1, a_node("n1", zone="a"), migrated, *reports).failure()
    unknown = changed(in_tree, spec=changed(in_tree.spec, aws_elastic_block_store=changed(source, volume_id="aws://x")))
    failure = Cycle().at(1, migrated, BOUND_VOLUME, BOUND_CLAIM, PROVIDED_CLAIM, unknown).failure()
    assert failure.startswith("binding volumes: could not translate pv: ")


def test_pods_without_anything_to_bind_do_not_wait() -> None:
    cycle = Cycle()
    plain = cycle.cluster.reader.read(a_pod("q"))
    state = CycleState()
    state.write(PRE_FILTERED, ("VolumeBinding",))
    assert asyncio.run(cycle.plugin.pre_bind(state, plain, "n1")) is None
    assert asyncio.run(cycle.plugin.pre_bind(cycle.state, cycle.placed, "n2")) is None
    state.write(PRE_FILTERED, ())
    status = asyncio.run(cycle.plugin.pre_bind(state, plain, "n1"))
    assert status is not None
    assert status.message == "not found"
    assert cycle.api.written == []

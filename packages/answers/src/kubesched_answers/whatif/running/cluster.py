"""A running cluster in virtual time, built from the objects of a source, on which a what-if is tried.

objects ──▶ API server ──▶ controllers, kubelets ──▶ scheduler ──▶ settled: nothing changes any more

The server, the controllers and the scheduling loop are those of `kubesched up`. The scheduler gets objects without
HTTP. Among equally good nodes the first by name is taken, so that equal questions get equal answers. Pods of jobs do
not end, and CronJobs start none, since the duration of a job is unknown.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from kubesched.api.codec import decode_json
from kubesched.api.kinds import API_VERSIONS, KINDS
from kubesched.api.labels import InvalidSelectorError, from_label_selector
from kubesched.api.meta import ApiObject, OwnerReference
from kubesched.api.pods import Pod
from kubesched.api.policy import PodDisruptionBudget
from kubesched.api.storage import PersistentVolume
from kubesched.client.effects import ApiEffects
from kubesched.common.virtual_time import BEGINNING
from kubesched.config.load import Loaded
from kubesched.core.assembly import engine_of, scheduler_of
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.observing.observer import Observers
from kubesched.core.loop.loop_events import Dropped, Put
from kubesched.core.loop.loop_waits import LoopServices
from kubesched.core.loop.scheduler import LoopOptions
from kubesched.core.queue.queued_pod import Place
from kubesched.model.cluster_model import DEFAULT_SCHEDULER, gates_of
from kubesched.model.cluster_objects import ClusterObjects
from kubesched_answers.pod_owners import OwnerNames
from kubesched_answers.whatif.running.filling import StoreFilling, counted
from kubesched_answers.whatif.running.in_process import InProcessRest, NoEvents
from kubesched_answers.whatif.running.kubelets import SwiftKubelets
from kubesched_answers.whatif.running.record import OutcomeRecord
from kubesched_answers.whatif.running.stand_ins import MARK, StandIns, stand_ins
from kubesched_answers.whatif.running.turnover import PodTurnover
from kubesched_answers.whatif.workloads import NamedObject
from kubesched_controlplane.access import RoleBasedAccess, StaticTokens
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.bootstrap.objects import bootstrap
from kubesched_controlplane.controllers.devices.resource_claims import ClaimConsumers, ResourceClaimController
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext
from kubesched_controlplane.controllers.framework.options import Options
from kubesched_controlplane.controllers.framework.pod_index import PodIndex
from kubesched_controlplane.controllers.framework.views import ObjectMeta, controller_of
from kubesched_controlplane.controllers.lifecycle.disruption_budgets import DisruptionController
from kubesched_controlplane.controllers.lifecycle.garbage_collector import GarbageCollector
from kubesched_controlplane.controllers.lifecycle.namespaces import NamespaceController
from kubesched_controlplane.controllers.lifecycle.node_taints import NodeTaintController
from kubesched_controlplane.controllers.lifecycle.taint_eviction import PodGarbageCollector, TaintEvictionController
from kubesched_controlplane.controllers.storage.protection import EphemeralVolumeController, StorageProtectionController
from kubesched_controlplane.controllers.storage.volume_binder import PersistentVolumeController
from kubesched_controlplane.controllers.workloads.autoscalers import HorizontalController
from kubesched_controlplane.controllers.workloads.composition import workload_controllers
from kubesched_controlplane.controllers.workloads.cron_jobs import CronJobController
from kubesched_controlplane.controllers.workloads.deployments import DEPLOYMENTS, DeploymentController
from kubesched_controlplane.controllers.workloads.imported import ImportedWorkloads
from kubesched_controlplane.controllers.workloads.replica_sets import REPLICA_SETS, ReplicaSetController
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.storage.store import DELETED, Change, Store
from kubesched_controlplane.transport.local_client import LocalClient

# after this time without a change only endless retries remain
CALM_SECONDS: Final = 900.0
# after this time a restless cluster counts as settled
MOST_SECONDS: Final = 3600.0
# longer than the longest backoff of pods
BACKOFF_SECONDS: Final = 60.0
STEP_SECONDS: Final = 0.1
LARGEST_STEP_SECONDS: Final = 5.0
ORPHAN_SECONDS: Final = 40.0
_MOVING: Final = (Place.ACTIVE, Place.BACKOFF, Place.IN_FLIGHT)
# kinds whose structs lack the template; the workloads have their documents
_WITHOUT_TEMPLATE: Final = ("ReplicaSet", "StatefulSet", "ReplicationController")
_REVISED: Final = ("Deployment", "StatefulSet", "DaemonSet")


class RunningCluster:
    """A control plane with objects of a source, and a scheduler; created on a running loop."""

    def __init__(self, source: ClusterObjects, loaded: Loaded, registry: Registry | None = None) -> None:
        self.source = source
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._start = _beginning(source)
        self.notes: list[str] = []
        tokens = StaticTokens({})
        self.server = ApiServer(
            access=lambda services: RoleBasedAccess(services, tokens),
            clock=lambda: self.date,
            seed=0,
            note=self.notes.append,
        )
        self.client = LocalClient(self.server, ADMINISTRATOR, agent="kubectl")
        self.record = OutcomeRecord()
        self._controllers: list[Controller] = []
        self._stand_ins = StandIns((), {}, {}, {})
        # workloads that operations scale or apply, by owner name; and why pods were deleted, by UID
        self.asked_for: set[str] = set()
        self.reasons: dict[str, str] = {}
        # activities that continue while time passes, and their longest pause
        self._kept: dict[asyncio.Task[None], float] = {}
        services = LoopServices(self.notes.append, lambda: self.date)
        self._inbox = services.inbox
        # all pods before any time passes
        self.at_first: dict[str, PodInfo] = {}
        self.engine = engine_of(
            loaded,
            registry,
            effects=ApiEffects(InProcessRest(self.server), NoEvents(), self.notes.append),
            waits=services.waits,
            waiting_pods=services.waiting_pods,
            observers=Observers([self.record], clock=self._loop.time, note=self.notes.append, timed=False),
            background=services.plugin_tasks,
        )
        self.scheduler = scheduler_of(self.engine, services, options=LoopOptions(seed=None))
        self._fill()
        self._turnover = PodTurnover(self.server.registry.store)
        self._owner_names = OwnerNames(self)

    @property
    def date(self) -> datetime:
        """Return the date and time of day in this cluster."""
        return self._start + timedelta(seconds=self._loop.time() - self._began)

    @property
    def seconds(self) -> float:
        """Return the elapsed time."""
        return self._loop.time() - self._began

    # -- filling

    def _fill(self) -> None:
        bootstrap(LocalClient(self.server, ADMINISTRATOR, agent="kube-apiserver"))
        source, filling = self.source, StoreFilling(self.server.registry)
        objects = [obj for obj in source.objects if type(obj).__name__ not in _WITHOUT_TEMPLATE]
        # claims before the volumes that name them
        filling.put_all(obj for obj in objects if not isinstance(obj, Pod | PersistentVolume))
        filling.put_all(obj for obj in objects if isinstance(obj, PersistentVolume))
        filling.put_namespaces({obj.namespace for obj in objects if obj.namespace})
        pods = [obj for obj in objects if isinstance(obj, Pod)]
        filling.put_all(pods)
        owned = counted(pods)
        for document in (*source.workloads, *source.admission):
            filling.put_workload(document, owned)
        self._settle_revisions(source.workloads)
        self._stand_ins = found = stand_ins(pods, self._workloads())
        for document in found.documents:
            filling.put_workload(document, owned)
        filling.put_all(_with_owner(pod, found) for pod in pods if _is_stood_for(pod, found))
        self._settle_revisions(found.documents)

    def _settle_revisions(self, documents: Iterable[Document]) -> None:
        """Make the templates of workloads their current revisions, so that their pods stay."""
        revised = [each for each in documents if each["kind"] in _REVISED]
        if revised:
            settling = ImportedWorkloads(LocalClient(self.server, ADMINISTRATOR, agent="kube-controller-manager"))
            for document in revised:
                meta = document["metadata"]
                settling.settle(document["kind"], meta.get("namespace", "default"), meta["name"])

    def _workloads(self) -> Iterable[dict[str, Any]]:
        """Yield kind, namespace and name of every stored workload."""
        for kind, version in {
            **API_VERSIONS,
            "Deployment": "apps/v1",
            "DaemonSet": "apps/v1",
            "Job": "batch/v1",
        }.items():
            resource = self.server.registry.catalog.of_kind(version, kind)
            if kind in ("Pod", "Event") or resource is None:
                continue
            for stored in self.server.registry.store.set_of(resource.prefix):
                yield {"kind": kind, "metadata": {"namespace": stored.namespace, "name": stored.name}}

    # -- running

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run controllers, kubelets and the scheduler until the block ends."""
        self.scheduler.hold()
        stops = list(self._reports())
        scheduling = self._loop.create_task(self.scheduler.run())
        while len(self._inbox):
            await asyncio.sleep(0)
        self.at_first = self.pods
        for controller in self._made():
            self._controllers.append(controller)
            controller.start()
            if isinstance(controller, ReplicaSetController | DeploymentController):
                self._leave_settled(controller)
        self.scheduler.go()
        try:
            yield
        finally:
            for stop in (*stops, self._turnover.stop):
                stop()
            for controller in self._controllers:
                controller.stop()
            self.scheduler.stop()
            for task in (*self._kept, scheduling):
                task.cancel()

    def keep(self, work: Coroutine[Any, Any, None], pause: float) -> None:
        """Register an activity that continues while time passes, and its longest pause in seconds."""
        self._kept[self._loop.create_task(work)] = pause

    def _leave_settled(self, controller: ReplicaSetController | DeploymentController) -> None:
        """Remove settled workloads from the queue of a controller, before anything changes."""
        store = self.server.registry.store
        prefix = DEPLOYMENTS if isinstance(controller, DeploymentController) else controller.prefix
        wanted = _replicas_by_owner(store) if prefix == DEPLOYMENTS else {}
        for stored in store.set_of(prefix):
            found = _decode_replicas(stored.body)
            there = wanted.get(stored.uid, 0) if prefix == DEPLOYMENTS else found.status.replicas
            if found.spec.replicas == there and not found.spec.paused:
                controller.workqueue.forget((stored.namespace, stored.name))

    def _made(self) -> list[Controller]:
        client = LocalClient(self.server, ADMINISTRATOR, agent="kube-controller-manager")
        options = Options(orphan_seconds=ORPHAN_SECONDS, provision_seconds=1.0)
        context = ControllerContext(client, self._loop, options, self.notes.append)
        index = PodIndex(context)
        return [
            index,
            NodeTaintController(context),
            SwiftKubelets(context, index),
            TaintEvictionController(context, index),
            PodGarbageCollector(context, index),
            ResourceClaimController(context),
            ClaimConsumers(context),
            EphemeralVolumeController(context),
            PersistentVolumeController(context),
            StorageProtectionController(context),
            DisruptionController(context),
            *(
                each
                for each in workload_controllers(context)
                if not isinstance(each, CronJobController | HorizontalController)
            ),
            NamespaceController(context),
            GarbageCollector(context),
        ]

    def _reports(self) -> Iterable[Callable[[], None]]:
        """Report all objects to the scheduler, then their changes; yield the functions that stop it."""
        store, catalog = self.server.registry.store, self.server.registry.catalog
        known = {(type(obj).__name__, obj.full_name): obj for obj in self.source.objects}
        stored_kinds: set[str] = set()
        for name, kind in sorted(KINDS.items(), key=_order):
            resource = catalog.of_kind(API_VERSIONS[name], name)
            if resource is None or name in ("Event", "Lease", "LeaseCandidate"):
                continue
            stored_kinds.add(name)
            found = list(store.set_of(resource.prefix))
            if kind is Pod:
                # pending pods are tried only after all nodes and pods are known
                found.sort(key=lambda stored: not stored.fields.get("spec.nodeName"))
            for stored in found:
                obj = known.get((name, stored.key.removeprefix("/"))) if name in ("Node",) else None
                self._inbox.post(Put(obj if obj is not None else decode_json(kind, stored.body)))
            yield store.watch(resource.prefix, self._reporter(kind))
        for (name, _), obj in known.items():
            if name not in stored_kinds or (name in _WITHOUT_TEMPLATE and self._stored(obj) is None):
                self._inbox.post(Put(obj))

    def _stored(self, obj: ApiObject) -> object | None:
        resource = self.server.registry.catalog.of_kind(API_VERSIONS[type(obj).__name__], type(obj).__name__)
        return self.server.registry.store.get(resource.prefix, obj.namespace, obj.name) if resource else None

    def _reporter(self, kind: type[ApiObject]) -> Callable[[Change], None]:
        def changed(change: Change) -> None:
            obj = decode_json(kind, change.new.body)
            self._inbox.post(Dropped(obj) if change.type == DELETED else Put(obj))

        return changed

    # -- settling

    async def settle(self) -> bool:
        """Let time pass until nothing changes any more; return whether the cluster settled."""
        progress, since, began = self._progress, self.seconds, self.seconds
        step = STEP_SECONDS
        self._turnover.begin()
        while not self._turnover.is_endless and self.seconds - began < MOST_SECONDS:
            await asyncio.sleep(step)
            if self._progress != progress:
                progress, since, step = self._progress, self.seconds, STEP_SECONDS
                continue
            calm = self.seconds - since
            if self._is_idle(calm) and self._is_calm(calm):
                self._check_kept()
                return True
            step = min(LARGEST_STEP_SECONDS, step * 2)
        return False

    @property
    def _progress(self) -> int:
        """Return a number that grows with each change that is progress."""
        return self.server.registry.store.version - self._turnover.reasons

    def _is_calm(self, calm: float) -> bool:
        """Return whether no work is left, after some seconds without a change."""
        if calm >= CALM_SECONDS:
            return True
        if calm < max([0.0, *(2 * pause for task, pause in self._kept.items() if not task.done())]):
            return False
        left = min(controller.seconds_left() for controller in self._controllers)
        return calm + left > CALM_SECONDS and not self._waits()

    def _check_kept(self) -> None:
        """Raise the error of an activity that has ended."""
        for task in self._kept:
            if task.done():
                task.result()

    def _is_idle(self, calm: float) -> bool:
        """Return whether no pod is about to be scheduled, apart from pods that back off again and again."""
        counts = self.scheduler.queue.counts()
        moving = _MOVING if calm < BACKOFF_SECONDS else (Place.ACTIVE, Place.IN_FLIGHT)
        return not self.scheduler.busy and not any(counts[place] for place in moving)

    def _waits(self) -> bool:
        """Return whether pods wait for a retry in some minutes."""
        return bool(self.scheduler.queue.counts()[Place.UNSCHEDULABLE])

    # -- objects

    @property
    def cluster(self) -> ClusterState:
        """Return the objects in the scheduler's form."""
        return self.engine.cluster

    @property
    def objects(self) -> Iterator[ApiObject]:
        """Yield all objects except pods, in the scheduler's form."""
        yield from (node for node in self.cluster.table.nodes if node is not None)
        for kind in self.cluster.objects.kinds():
            yield from self.cluster.objects.named(kind)

    @property
    def pods(self) -> dict[str, PodInfo]:
        """Return all pods that have not ended, by `namespace/name`, with the owners in the source."""
        found = {}
        for pod in self.scheduler.event_handlers.known_pods():
            if not pod.pod.terminal:
                found[pod.full_name] = pod
        return found

    def owner_of(self, pod: PodInfo) -> str | None:
        """Return `Kind namespace/name` of the workload that a pod belongs to."""
        owner = pod.metadata.controller
        original = self._stand_ins.originals.get(owner.uid) if owner is not None else None
        if original is not None and original.kind != getattr(owner, "kind", ""):
            return f"{original.kind} {pod.namespace}/{original.name}"
        return self._owner_names.of(pod)

    def owned_by(self, pod: PodInfo, workload: NamedObject) -> bool:
        """Return whether a pod belongs to a workload, directly or through another one."""
        owner = pod.metadata.controller
        if owner is None or pod.namespace != workload.namespace:
            return False
        return (owner.kind, owner.name) == (workload.kind, workload.name) or self.owner_of(pod) == str(workload)

    def is_asked_for(self, owner: str | None, pod: str) -> bool:
        """Return whether operations scaled or applied a pod or its owner."""
        return owner in self.asked_for or f"Pod {pod}" in self.asked_for

    def has_controller(self, namespace: str, owner: OwnerReference) -> bool:
        """Return whether the controller of pods exists."""
        resource = self.server.registry.catalog.of_kind(owner.api_version, owner.kind)
        return (
            resource is not None and self.server.registry.store.get(resource.prefix, namespace, owner.name) is not None
        )

    def budgets_of(self, pod: PodInfo) -> tuple[str, ...]:
        """Return the names of the budgets that select a pod."""
        found = []
        for budget in self.engine.cluster.objects.of(PodDisruptionBudget):
            if budget.namespace == pod.namespace and budget.spec.selector is not None:
                with suppress(InvalidSelectorError):
                    if from_label_selector(budget.spec.selector).matches(pod.labels):
                        found.append(budget.full_name)
        return tuple(sorted(found))

    def create_exported(self, document: Document) -> None:
        """Create an object that another cluster has already admitted."""
        resource = self.client.resource(document["apiVersion"], document["kind"])
        meta = {
            field: value for field, value in document["metadata"].items() if field not in ("uid", "resourceVersion")
        }
        status = document.get("status")
        made = self.client.take_over(resource, {**document, "metadata": meta})
        if status and "status" in resource.subresources:
            self.client.update(resource, {**made, "status": status}, "status")

    def refusal(self, pod: PodInfo) -> str:
        """Return why a pod must not be scheduled, an empty text if it may."""
        profile = self.engine.profiles.get(pod.spec.scheduler_name or DEFAULT_SCHEDULER)
        if profile is None:
            return f"the pod is for scheduler {pod.spec.scheduler_name!r}"
        if pod.terminating:
            return "it is being deleted"
        return "; ".join(f"{status.plugin}: {status.message}" for status in gates_of(profile, pod))

    def stored_pod(self, namespace: str, name: str) -> Pod | None:
        """Return a pod in the server's form."""
        stored = self.server.registry.store.get("pods", namespace, name)
        return None if stored is None else decode_json(Pod, stored.body)


class _Counts(msgspec.Struct):
    replicas: int | None = None
    paused: bool = False


class _Replicas(msgspec.Struct):
    """The numbers of a workload's spec and status."""

    metadata: ObjectMeta
    spec: _Counts
    status: _Counts


_decode_replicas = msgspec.json.Decoder(_Replicas).decode


def _replicas_by_owner(store: Store) -> dict[str, int]:
    """Return the replicas that a Deployment's ReplicaSet wants, by the Deployment's UID; -1 if several want some."""
    found: dict[str, int] = {}
    for stored in store.set_of(REPLICA_SETS):
        replicas = _decode_replicas(stored.body)
        owner = controller_of(replicas.metadata.owner_references)
        if owner is not None and replicas.spec.replicas:
            found[owner.uid] = -1 if owner.uid in found else replicas.spec.replicas
    return found


def _order(entry: tuple[str, type[ApiObject]]) -> tuple[int, str]:
    """Return the sort key: nodes first, by name; pods last."""
    name, kind = entry
    return (2 if kind is Pod else 0 if name == "Node" else 1), name


def _beginning(source: ClusterObjects) -> datetime:
    """Return when the objects were read, or else when the newest of them was created."""
    if source.taken_at is not None:
        return source.taken_at
    times = [made for obj in source.objects if (made := obj.metadata.creation_timestamp) is not None]
    return max([BEGINNING, *(each.astimezone(UTC) for each in times)])


def _is_stood_for(pod: Pod, found: StandIns) -> bool:
    owner = pod.metadata.controller
    return owner is not None and (owner.uid in found.references or owner.uid in found.marked)


def _with_owner(pod: Pod, found: StandIns) -> Pod:
    """Return a pod with the stand-in of its owner, and the label that this selects."""
    owner, meta = pod.metadata.controller, pod.metadata
    assert owner is not None
    other, mark = found.references.get(owner.uid), found.marked.get(owner.uid)
    if other is not None:
        meta = replace(meta, owner_references=(other,))
    if mark is not None:
        meta = replace(meta, labels={**meta.labels, MARK: mark})
    return replace(pod, metadata=meta)

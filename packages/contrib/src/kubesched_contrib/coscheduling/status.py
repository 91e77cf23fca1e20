"""The status of PodGroups: phase, and how many pods run, succeeded and failed.

From the pods of each gang to `status`, a few groups at a time, in the background. The scheduler does not watch
finished pods: if a gang has fewer pods than before, they are looked up first.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kubesched import Background, ClusterView, HttpClient, ObjectWriter, PluginError, PodInfo, Waits
from kubesched_contrib.coscheduling.gangs import Gangs
from kubesched_contrib.coscheduling.pod_group import KIND, LABEL, GangSpec

PENDING, SCHEDULING, RUNNING, FINISHED, FAILED = "Pending", "Scheduling", "Running", "Finished", "Failed"
FINAL = frozenset({FINISHED, FAILED})
LOOK_SECONDS = 2.0
LOOK_UP_SECONDS = 5.0
# number of groups in one turn
MOST_AT_ONCE = 200
FINISHED_PODS = (
    f"/api/v1/pods?labelSelector={LABEL.replace('/', '%2F')}&fieldSelector=status.phase!=Running,status.phase!=Pending"
)


class MemberCounts(NamedTuple):
    """The number of a gang's pods, in total and by phase."""

    members: int
    running: int = 0
    succeeded: int = 0
    failed: int = 0


def phase_of(min_member: int, counts: MemberCounts) -> str:
    """Return the phase of an unfinished group."""
    if counts.members < min_member:
        return PENDING
    if counts.succeeded >= min_member:
        return FINISHED
    if counts.failed and counts.failed + counts.running + counts.succeeded >= min_member:
        return FAILED
    return RUNNING if counts.succeeded + counts.running >= min_member else SCHEDULING


class PodGroupStatuses:
    """Updates the statuses of all PodGroups."""

    def __init__(
        self,
        cluster: ClusterView,
        gangs: Gangs,
        waits: Waits,
        background: Background,
        writer: ObjectWriter,
        http: HttpClient,
    ) -> None:
        self._cluster = cluster
        self._gangs = gangs
        self._waits = waits
        self._writer = writer
        self._http = http
        # (PodGroup, phase) -> number of pods that are no longer watched
        self._finished: Counter[tuple[str, str]] = Counter()
        # PodGroup -> its number of pods; and the PodGroups whose finished pods must be looked up
        self._seen: dict[str, int] = {}
        self._lost_pods: set[str] = set()
        # PodGroup -> the known object when its status was written, and the status
        self._written: dict[str, tuple[Any, Mapping[str, Any]]] = {}
        self._turn: list[str] = []
        background.timer(LOOK_SECONDS, self._write_some)
        background.every(LOOK_UP_SECONDS, self._look_up, self._apply)

    def _write_some(self) -> None:
        """Write the statuses of the next groups."""
        if not self._turn:
            groups = self._cluster.all(KIND)
            self._turn = [group.full_name for group in groups]
            self._forget_all_but(set(self._turn))
        names, self._turn = self._turn[:MOST_AT_ONCE], self._turn[MOST_AT_ONCE:]
        for name in names:
            group = self._cluster.get(KIND, name)
            if group is not None:
                self._write(name, group)

    def _forget_all_but(self, names: set[str]) -> None:
        for kept in (self._seen, self._written):
            for gone in kept.keys() - names:
                del kept[gone]
        self._lost_pods &= names

    def _write(self, name: str, group: Any) -> None:
        current = _status(group)
        try:
            spec = self._gangs.spec(name)
        except PluginError:
            # its pods are counted
            return
        if spec is None or current.get("phase") in FINAL:
            return
        pods = self._gangs.members(name)
        if name not in self._seen:
            began = current.get("phase") in (SCHEDULING, RUNNING)
            self._seen[name] = max(len(pods), spec.min_member if began else 0)
        if len(pods) < self._seen[name]:
            self._lost_pods.add(name)
            return
        self._seen[name] = len(pods)
        status = self._status_of(spec, current, pods)
        if any(current.get(field) != value for field, value in status.items()) and self._written.get(name) != (
            group,
            status,
        ):
            self._written[name] = group, status
            self._writer.status(group, status)

    def _status_of(self, spec: GangSpec, current: Mapping[str, Any], pods: Sequence[PodInfo]) -> dict[str, Any]:
        name = spec.full_name
        succeeded, failed = self._finished[name, "Succeeded"], self._finished[name, "Failed"]
        running = sum(pod.status.phase == "Running" for pod in pods)
        counts = MemberCounts(len(pods) + succeeded + failed, running, succeeded, failed)
        status: dict[str, Any] = {"phase": phase_of(spec.min_member, counts)}
        if status["phase"] != PENDING or current.get("phase", PENDING) != PENDING:
            numbers = {"running": running, "succeeded": succeeded, "failed": failed}
            status |= {field: number for field, number in numbers.items() if number or field in current}
        if status["phase"] != PENDING:
            if not current.get("scheduleStartTime"):
                status["scheduleStartTime"] = self._waits.date().strftime("%Y-%m-%dT%H:%M:%SZ")
            owners = _owners(min(pods, key=lambda pod: pod.name)) if pods else ""
            if owners and not current.get("occupiedBy"):
                status["occupiedBy"] = owners
        return status

    # -- finished pods

    async def _look_up(self) -> Any:
        """Return the finished pods of all PodGroups, None if no PodGroup needs them."""
        return await self._http.get_from_api_server(FINISHED_PODS) if self._lost_pods else None

    def _apply(self, found: Any) -> None:
        if found is None:
            return
        self._finished = Counter(
            (f"{pod['metadata'].get('namespace', '')}/{pod['metadata']['labels'][LABEL]}", pod["status"].get("phase"))
            for pod in found.get("items") or ()
        )
        for name in self._lost_pods:
            self._seen[name] = len(self._gangs.members(name))
        self._lost_pods.clear()


def _status(group: Any) -> Mapping[str, Any]:
    return group.status if isinstance(group.status, Mapping) else {}


def _owners(pod: PodInfo) -> str:
    """Return `namespace/name` of each owner of a pod, in alphabetical order."""
    return ",".join(sorted(f"{pod.namespace}/{owner.name}" for owner in pod.metadata.owner_references))

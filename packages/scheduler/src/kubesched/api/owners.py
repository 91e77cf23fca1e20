"""Services and the controllers that own pods: replication controllers, replica sets, stateful sets.

From JSON documents to frozen structs; see `meta` for the conventions. Pod templates are skipped: scheduling reads only
which pods an object selects.
"""

# ruff: noqa: RUF012 -- msgspec copies empty defaults

from kubesched.api.meta import ApiObject, ApiStruct, Int32, Int64, LabelSelector


class ServiceSpec(ApiStruct, frozen=True):
    """spec of a service."""

    selector: dict[str, str] = {}
    type: str = ""


class Service(ApiObject, frozen=True):
    """A service."""

    spec: ServiceSpec = ServiceSpec()


class ReplicationControllerSpec(ApiStruct, frozen=True):
    """spec of a replication controller; its selector is a plain set of labels."""

    replicas: Int32 | None = None
    selector: dict[str, str] = {}


class ReplicasStatus(ApiStruct, frozen=True):
    """How many pods a replication controller, replica set or stateful set has."""

    replicas: Int32 = 0
    ready_replicas: Int32 = 0
    available_replicas: Int32 = 0
    observed_generation: Int64 = 0


class ReplicationController(ApiObject, frozen=True):
    """A replication controller."""

    spec: ReplicationControllerSpec = ReplicationControllerSpec()
    status: ReplicasStatus = ReplicasStatus()


class ReplicaSetSpec(ApiStruct, frozen=True):
    """spec of a replica set."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None


class ReplicaSet(ApiObject, frozen=True):
    """A replica set."""

    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicasStatus = ReplicasStatus()


class StatefulSetSpec(ApiStruct, frozen=True):
    """spec of a stateful set."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    service_name: str = ""


class StatefulSet(ApiObject, frozen=True):
    """A stateful set."""

    spec: StatefulSetSpec = StatefulSetSpec()
    status: ReplicasStatus = ReplicasStatus()

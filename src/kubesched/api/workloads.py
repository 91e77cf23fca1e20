"""What owns or protects pods: services, controllers by their selectors, disruption budgets.

From JSON documents to frozen structs; see `meta` for the conventions. Pod templates are skipped: scheduling reads only
which pods an object selects.
"""

# ruff: noqa: RUF012 -- msgspec copies empty defaults

from kubesched.api.meta import ApiObject, ApiStruct, Condition, Int32, Int64, LabelSelector, Timestamp

IntOrString = int | str


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


class ReplicationControllerStatus(ApiStruct, frozen=True):
    """How many pods a replication controller has."""

    replicas: Int32 = 0
    ready_replicas: Int32 = 0
    available_replicas: Int32 = 0
    observed_generation: Int64 = 0


class ReplicationController(ApiObject, frozen=True):
    """A replication controller."""

    spec: ReplicationControllerSpec = ReplicationControllerSpec()
    status: ReplicationControllerStatus = ReplicationControllerStatus()


class ReplicaSetSpec(ApiStruct, frozen=True):
    """spec of a replica set."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None


class ReplicaSetStatus(ApiStruct, frozen=True):
    """How many pods a replica set has."""

    replicas: Int32 = 0
    ready_replicas: Int32 = 0
    available_replicas: Int32 = 0
    observed_generation: Int64 = 0


class ReplicaSet(ApiObject, frozen=True):
    """A replica set."""

    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


class StatefulSetSpec(ApiStruct, frozen=True):
    """spec of a stateful set."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    service_name: str = ""


class StatefulSetStatus(ApiStruct, frozen=True):
    """How many pods a stateful set has."""

    replicas: Int32 = 0
    ready_replicas: Int32 = 0
    available_replicas: Int32 = 0
    observed_generation: Int64 = 0


class StatefulSet(ApiObject, frozen=True):
    """A stateful set."""

    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()


class PodDisruptionBudgetSpec(ApiStruct, frozen=True):
    """spec of a disruption budget."""

    selector: LabelSelector | None = None
    min_available: IntOrString | None = None
    max_unavailable: IntOrString | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(ApiStruct, frozen=True):
    """How many more pods of a budget may go; `disrupted_pods` are on their way out and already counted."""

    disruptions_allowed: Int32 = 0
    disrupted_pods: dict[str, Timestamp | None] = {}
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    expected_pods: Int32 = 0
    observed_generation: Int64 = 0
    conditions: tuple[Condition, ...] = ()


class PodDisruptionBudget(ApiObject, frozen=True):
    """A disruption budget."""

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()

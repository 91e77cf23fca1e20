"""The options of the simulated nodes and of the controllers."""

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace


class Options(msgspec.Struct, frozen=True):
    """Delays, in seconds of the event loop's clock, and the default capacity of nodes."""

    # from a node's creation to its being ready
    node_ready_seconds: float = 0.0
    # between two status reports of a node; 0 for none
    heartbeat_seconds: float = 0.0
    # between two renewals of a node's lease; 0 for no leases
    lease_seconds: float = 0.0
    # from a pod's binding to its containers running, and from there to its being ready
    pod_start_seconds: float = 0.0
    ready_seconds: float = 0.0
    # a terminating pod runs for its grace period, but no longer than this
    termination_seconds: float = 1.0
    # after which pods whose node does not exist are deleted
    orphan_seconds: float = 40.0
    # from a claim that needs a volume to the provisioned volume
    provision_seconds: float = 0.0
    # how long the pods of a job run, unless an annotation says otherwise
    job_seconds: float = 5.0
    # divides the times of pods (grace periods, probes, annotations) and the period of autoscalers, not the delays above
    speed: float = 1.0
    # whether the controllers of workloads and of quotas run
    workloads: bool = True
    # the capacity of a node that specifies none
    capacity: Mapping[str, str] = msgspec.field(
        default_factory=lambda: {"cpu": "8", "memory": "32Gi", "ephemeral-storage": "100Gi", "pods": "110"}
    )

    def at_speed(self, speed: float) -> "Options":
        """Return these options with all delays divided by a speed, and with their speed multiplied by it."""
        delays = {name: getattr(self, name) / speed for name in self.__struct_fields__ if name.endswith("_seconds")}
        return replace(self, speed=self.speed * speed, **delays)


# about the delays of a real cluster, where kubelets report an unchanged status every five minutes
LIFELIKE = Options(
    node_ready_seconds=10.0,
    heartbeat_seconds=300.0,
    lease_seconds=10.0,
    pod_start_seconds=2.0,
    ready_seconds=1.0,
    termination_seconds=5.0,
    provision_seconds=5.0,
    job_seconds=30.0,
)

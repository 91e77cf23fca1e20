"""How the simulated part of a cluster behaves."""

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace


class Options(msgspec.Struct, frozen=True):
    """Delays, in seconds of the loop's clock, and what nodes have that say nothing of it."""

    # from a node's creation to its being ready
    node_ready_seconds: float = 0.0
    # from one sign of life of a node to the next; 0 for none at all
    heartbeat_seconds: float = 0.0
    # from one renewal of a node's lease to the next; 0: nodes have no leases
    lease_seconds: float = 0.0
    # from a pod's binding to its containers running, and from there to its being ready
    pod_start_seconds: float = 0.0
    ready_seconds: float = 0.0
    # a pod that is deleted goes on for its grace period, but no longer than this
    termination_seconds: float = 1.0
    # how long pods stay whose node does not exist
    orphan_seconds: float = 40.0
    # from the moment that a volume is wanted to the volume
    provision_seconds: float = 0.0
    # how long pods of jobs run that do not say
    job_seconds: float = 5.0
    # how many times faster than pods themselves say (grace periods, annotations) nodes live; the above is as it is
    speed: float = 1.0
    # deployments, jobs and the like are seen to, and quotas are counted
    workloads: bool = True
    # what a node can hold that does not say
    capacity: Mapping[str, str] = msgspec.field(
        default_factory=lambda: {"cpu": "8", "memory": "32Gi", "ephemeral-storage": "100Gi", "pods": "110"}
    )

    def at_speed(self, speed: float) -> "Options":
        """Return the options of nodes that live so many times as fast, whatever takes time."""
        delays = {name: getattr(self, name) / speed for name in self.__struct_fields__ if name.endswith("_seconds")}
        return replace(self, speed=self.speed * speed, **delays)


# about the time that things take in a data centre; kubelets report that nothing has changed every five minutes
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

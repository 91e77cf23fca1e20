"""Arguments of the Coscheduling plugin."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CoschedulingArgs:
    """How long pods wait for their gang, how long a failed gang backs off, and when a gang fails.

    A gang fails at once if more than `pod_group_reject_percentage` of `minMember` have no node when a pod finds none.
    """

    permit_waiting_time_seconds: int = 60
    pod_group_backoff_seconds: int = 0
    pod_group_reject_percentage: int = 10

    def __post_init__(self) -> None:
        if self.permit_waiting_time_seconds < 0:
            raise ValueError("permitWaitingTimeSeconds: must not be negative")
        if self.pod_group_backoff_seconds < 0:
            raise ValueError("podGroupBackoffSeconds: must not be negative")
        if not 0 <= self.pod_group_reject_percentage <= 100:
            raise ValueError("podGroupRejectPercentage: must be from 0 to 100")

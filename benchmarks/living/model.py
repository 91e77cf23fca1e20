"""The records of a life: pods, their owners, nodes; and the world in which a life happens."""

from collections.abc import Mapping
from random import Random
from typing import Any, Protocol

from benchmarks.living.templates import Template

Document = dict[str, Any]

# what a pod's containers do
WAITING = "waiting"
STARTED = "started"
READY = "ready"
CRASHED = "crashed"
ENDED = "ended"

# why a pod exists
MEMBER = "member"
SCALED = "scaled"
JOB = "job"
DAEMON = "daemon"
STUCK = "stuck"
PROBE = "probe"


class Owner:
    """The ReplicaSet, Job or DaemonSet of some pods; `model` is for the world to keep what these pods share."""

    __slots__ = ("hash", "kind", "model", "name", "template", "uid")

    def __init__(self, kind: str, name: str, template: Template, number: int, template_hash: str = "") -> None:
        self.kind = kind
        self.name = name
        self.template = template
        self.uid = f"00000000-0000-4000-8000-{number:012x}"
        self.hash = template_hash
        self.model: Any = None


class LivePod:
    """A pod, and how far it is."""

    __slots__ = (
        "added_at",
        "busy",
        "changed_at",
        "created_at",
        "ending",
        "generation",
        "host",
        "ip",
        "milli_cpu",
        "name",
        "node",
        "number",
        "owner",
        "place",
        "reason",
        "replaced",
        "replaces",
        "reported_milli_cpu",
        "resizing",
        "restarts",
        "started_at",
        "state",
        "target",
    )

    def __init__(self, number: int, owner: Owner, reason: str) -> None:
        self.number = number
        self.owner = owner
        self.reason = reason
        self.name = f"{owner.name}-{letters(number)}"
        # the node that a pod of a DaemonSet is made for
        self.target = ""
        self.node: LiveNode | None = None
        self.state = WAITING
        self.host = ""
        self.ip = f"10.{128 + (number >> 16 & 127)}.{number >> 8 & 255}.{number & 255}"
        self.restarts = 0
        self.generation = 1
        self.milli_cpu = self.reported_milli_cpu = owner.template.milli_cpu
        # whether the kubelet carries out a resize
        self.resizing = False
        # whether a flap, a restart or a resize is under way
        self.busy = False
        self.ending = False
        # the pod that ends when this one is ready, and whether there is such a pod for this one
        self.replaces: LivePod | None = None
        self.replaced = False
        # where the pod is in the pool of running pods
        self.place = -1
        # seconds since the epoch
        self.started_at = self.changed_at = 0.0
        # times of the clock of the benchmark: of the request, and of the first watch event
        self.created_at = self.added_at = 0.0

    @property
    def namespace(self) -> str:
        """Return the namespace."""
        return self.owner.template.namespace

    @property
    def full_name(self) -> str:
        """Return `namespace/name`."""
        return f"{self.owner.template.namespace}/{self.name}"


class LiveNode:
    """A node with its pods."""

    __slots__ = ("address", "cordoned", "has_lease", "images", "joined_at", "name", "number", "pods", "ready")

    def __init__(self, number: int, images: int) -> None:
        self.number = number
        self.name = f"living-{number:05}"
        self.address = f"10.{number >> 16 & 127}.{number >> 8 & 255}.{number & 255}"
        self.images = [(number * 7 + turn) % 500 for turn in range(images)]
        self.pods: dict[str, LivePod] = {}
        self.ready = True
        self.cordoned = False
        self.has_lease = False
        self.joined_at = 0.0


class World(Protocol):
    """Where a life happens: an API server, or the memory of this process."""

    def date(self) -> float:
        """Return the seconds since the epoch."""

    def create_pod(self, pod: LivePod) -> None:
        """Create a pod; one with a node is created on its node."""

    def report_pod(self, pod: LivePod) -> None:
        """Write the status of a pod, as its kubelet does."""

    def resize_pod(self, pod: LivePod) -> None:
        """Write the new CPU request of a pod."""

    def delete_pod(self, pod: LivePod, *, at_once: bool) -> None:
        """Delete a pod: with its grace, as users and controllers do, or at once, as its kubelet does."""

    def create_node(self, node: LiveNode) -> None:
        """Create a node."""

    def report_node(self, node: LiveNode) -> None:
        """Write the status of a node."""

    def mark_node(self, node: LiveNode) -> None:
        """Write the taints of a node, and whether it is cordoned."""

    def delete_node(self, node: LiveNode) -> None:
        """Delete a node and its Lease."""

    def renew_lease(self, node: LiveNode) -> None:
        """Renew the Lease of a node."""

    def create_object(self, path: str, document: Mapping[str, Any]) -> None:
        """Create an object of another kind."""

    def delete_object(self, path: str, name: str) -> None:
        """Delete an object of another kind."""


class Pool:
    """Pods of which a random one is found, added and removed in constant time."""

    def __init__(self) -> None:
        self._pods: list[LivePod] = []

    def __len__(self) -> int:
        return len(self._pods)

    def add(self, pod: LivePod) -> None:
        """Add a pod."""
        pod.place = len(self._pods)
        self._pods.append(pod)

    def remove(self, pod: LivePod) -> None:
        """Remove a pod, if it is in the pool."""
        if pod.place < 0:
            return
        last = self._pods.pop()
        if last is not pod:
            self._pods[pod.place] = last
            last.place = pod.place
        pod.place = -1

    def pick(self, chance: Random) -> LivePod | None:
        """Return a random pod, None from an empty pool."""
        return self._pods[chance.randrange(len(self._pods))] if self._pods else None


ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


def letters(number: int, length: int = 5) -> str:
    """Return a number in the letters of generated names."""
    found = ""
    while number or len(found) < length:
        number, digit = divmod(number, len(ALPHABET))
        found = ALPHABET[digit] + found
    return found

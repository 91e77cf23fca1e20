"""A life: everything that happens in a cluster while a scheduler works, at seeded random times.

From options and a world to writes in that world, and from bindings to more of them. The same seed gives the same life,
as far as the scheduler binds the same pods at the same times.
"""

from collections.abc import Iterator
from random import Random

from benchmarks.living.arrivals import Arrivals
from benchmarks.living.documents import replica_set, service
from benchmarks.living.errors import LivingError
from benchmarks.living.model import PROBE, STUCK, LiveNode, LivePod, World
from benchmarks.living.node_lives import NodeLives
from benchmarks.living.options import LifeOptions
from benchmarks.living.pod_lives import PodLives
from benchmarks.living.templates import NAMESPACES
from benchmarks.living.timers import Poisson, Timers

FLAP_SECONDS = (1.0, 5.0)
CRASH_SECONDS = (2.0, 10.0)
MOST_PODS_PER_NODE = 60


class Life:
    """A cluster's life; `timers.run` lets time pass."""

    def __init__(self, options: LifeOptions, world: World, timers: Timers) -> None:
        if min(options.nodes, options.templates, options.burst) < 1:
            raise LivingError("a life needs at least one node, one template and one pod in a burst")
        if options.running > MOST_PODS_PER_NODE * options.nodes:
            raise LivingError(
                f"{options.running} pods do not fit on {options.nodes} nodes: at most {MOST_PODS_PER_NODE} a node"
            )
        self.options = options
        self._world = world
        self._timers = timers
        # parts do not share a source of chance: what one draws does not change what another does
        self._chance = Random(f"{options.seed} life")
        self.lives = PodLives(options, world, timers)
        self.arrivals = Arrivals(options, world, timers, self.lives)
        self.node_lives = NodeLives(options, world, timers, (self.lives, self.arrivals))

    @property
    def pods(self) -> dict[str, LivePod]:
        """Return the pods by full name."""
        return self.lives.pods

    def fill(self) -> Iterator[str]:
        """Create what exists from the beginning; between the parts, all writes have to be carried out."""
        for number in range(NAMESPACES):
            document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"living-{number}"}}
            self._world.create_object("/api/v1/namespaces", document)
        yield "namespaces"
        for node in self.node_lives.nodes.values():
            node.joined_at = self._world.date()
            self._world.create_node(node)
        for deployment in self.arrivals.deployments:
            template = deployment.template
            self._world.create_object(self.arrivals.objects_path(template), replica_set(deployment.owner))
            if template.has_service:
                self._world.create_object(f"/api/v1/namespaces/{template.namespace}/services", service(template))
        yield "nodes"
        nodes = list(self.node_lives.nodes.values())
        running = [
            self.lives.create_running(self.arrivals.deployments[number % self.options.templates].owner, node)
            for number, node in zip(range(self.options.running), _around(nodes), strict=False)
        ]
        yield "pods"
        for pod in running:
            self.lives.report_running(pod)
        yield "statuses"
        for number in range(self.options.stuck):
            template = self.arrivals.templates[number % self.options.templates]
            stuck = self.arrivals.new_owner("ReplicaSet", f"stuck-{number % 20}", template)
            self.lives.create(stuck, STUCK)
        yield "pods that fit nowhere"

    def start(self) -> None:
        """Begin with everything but new pods."""
        options = self.options
        self.node_lives.start()
        Poisson(self._timers, f"{options.seed} flap", self._flap, options.flaps)
        Poisson(self._timers, f"{options.seed} restart", self._restart, options.restarts)
        Poisson(self._timers, f"{options.seed} resize", self._resize, options.resizes)

    def set_rate(self, rate: float) -> None:
        """Create so many pods a second from now on."""
        self.arrivals.set_rate(rate)

    def probe(self) -> LivePod:
        """Create a pod that shows that a scheduler works."""
        owner = self.arrivals.new_owner("ReplicaSet", "probe", self.arrivals.templates[0], "probe")
        return self.lives.create(owner, PROBE)

    def bound(self, pod: LivePod, node_name: str) -> None:
        """A pod was bound to a node."""
        node = self.node_lives.nodes.get(node_name)
        if node is not None:
            self.lives.bound(pod, node)
        elif pod.full_name in self.pods:
            # the node has left meanwhile: the pod is deleted, and its controller creates another
            self.lives.remove(pod)
            self.arrivals.replace(pod)

    def unbound(self, since: float, until: float) -> int:
        """Return how many pods that were created between two times wait, without those that fit nowhere."""
        waiting = (pod for pod in self.pods.values() if pod.node is None and pod.reason != STUCK)
        return sum(1 for pod in waiting if since <= pod.created_at <= until)

    # -- running pods

    def _flap(self) -> None:
        pod = self._pick()
        if pod is not None:
            self.lives.flap(pod, self._chance.uniform(*FLAP_SECONDS))

    def _restart(self) -> None:
        pod = self._pick()
        if pod is not None:
            self.lives.restart(pod, self._chance.uniform(*CRASH_SECONDS))

    def _resize(self) -> None:
        pod = self._pick()
        if pod is not None:
            base = pod.owner.template.milli_cpu
            self.lives.resize(pod, base + 10 if pod.milli_cpu == base else base)

    def _pick(self) -> LivePod | None:
        """Return a random pod that is ready, None if it changes already."""
        pod = self.lives.pool.pick(self._chance)
        return None if pod is None or pod.busy else pod


def _around(nodes: list[LiveNode]) -> Iterator[LiveNode]:
    """Yield nodes in turns."""
    while nodes:
        yield from nodes

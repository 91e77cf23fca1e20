"""The life of nodes: reports, Leases, nodes that arrive with their DaemonSet and leave again."""

from random import Random

from benchmarks.living.arrivals import Arrivals
from benchmarks.living.model import DAEMON, LiveNode, Owner, World
from benchmarks.living.options import LifeOptions
from benchmarks.living.pod_lives import PodLives
from benchmarks.living.timers import Poisson, Timers

LEASE_SECONDS = 10.0
# from a node's creation until it is ready, and from its end until it is deleted
TO_READY = 3.0
TO_GONE = 5.0


class NodeLives:
    """All nodes of a life."""

    def __init__(
        self,
        options: LifeOptions,
        world: World,
        timers: Timers,
        pods: tuple[PodLives, Arrivals],
    ) -> None:
        self._options = options
        self._world = world
        self._timers = timers
        self._lives, self._arrivals = pods
        self._chance = Random(f"{options.seed} nodes")
        self.nodes = {node.name: node for node in (LiveNode(n, options.images) for n in range(options.nodes))}
        self._next = options.nodes
        self._daemon: Owner | None = None
        # node reports so far
        self.reports = 0

    def start(self) -> None:
        """Begin with reports, Leases and autoscaling."""
        leases = int(self._options.leases * LEASE_SECONDS)
        for number, node in enumerate(self.nodes.values()):
            self._timers.after(self._chance.uniform(0, self._options.node_report_every), self._report, node)
            if number < leases:
                self._timers.after(self._chance.uniform(0, LEASE_SECONDS), self._renew, node)
        if self._options.new_node_every:
            seed = f"{self._options.seed} joins"
            Poisson(self._timers, seed, self._join, 1 / self._options.new_node_every)

    def _report(self, node: LiveNode) -> None:
        if node.name not in self.nodes:
            return
        if self._chance.random() < self._options.new_images and node.images:
            node.images[self._chance.randrange(len(node.images))] = self._chance.randrange(500)
        self.reports += 1
        self._world.report_node(node)
        self._timers.after(self._options.node_report_every, self._report, node)

    def _renew(self, node: LiveNode) -> None:
        if node.name in self.nodes:
            self._world.renew_lease(node)
            self._timers.after(LEASE_SECONDS, self._renew, node)

    # -- autoscaling

    def _join(self) -> None:
        """Create a node that is not ready yet, with the pod of a DaemonSet."""
        node = LiveNode(self._next, self._options.images)
        self._next += 1
        node.ready = False
        node.joined_at = self._world.date()
        self.nodes[node.name] = node
        self._world.create_node(node)
        if self._daemon is None:
            self._daemon = self._arrivals.new_owner("DaemonSet", "agent", self._arrivals.templates[0])
        self._arrivals.created += 1
        self._lives.create(self._daemon, DAEMON, target=node.name)
        self._timers.after(TO_READY, self._become_ready, node)
        self._renew(node)
        self._timers.after(self._options.node_report_every, self._report, node)

    def _become_ready(self, node: LiveNode) -> None:
        node.ready = True
        self._world.report_node(node)
        self._world.mark_node(node)
        self._timers.after(self._chance.uniform(0.5, 1.5) * self._options.node_life, self._leave, node)

    def _leave(self, node: LiveNode) -> None:
        """Cordon a node and delete its pods; their controllers create others."""
        node.cordoned = True
        self._world.mark_node(node)
        self._drain(node)
        self._timers.after(TO_GONE, self._delete, node)

    def _drain(self, node: LiveNode) -> None:
        for pod in list(node.pods.values()):
            if not pod.ending:
                self._lives.end(pod)
                self._arrivals.replace(pod)

    def _delete(self, node: LiveNode) -> None:
        """Delete a node, and at once the pods that were bound to it last."""
        self._drain(node)
        for pod in list(node.pods.values()):
            self._lives.remove(pod)
        del self.nodes[node.name]
        self._world.delete_node(node)

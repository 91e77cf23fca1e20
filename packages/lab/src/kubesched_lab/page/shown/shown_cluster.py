"""The cluster on display: a model that follows reports, and its numbered changes.

From created, changed or deleted objects to numbered changes. Only the last change of an object is kept, so that a
browser that falls behind gets fewer changes, not more.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from kubesched.api.devices import ResourceClaim, ResourceSlice
from kubesched.api.kinds import API_VERSIONS
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.model.cluster_model import ClusterModel, name_of_object
from kubesched.model.owners import Owners
from kubesched.reports.answers import ObjectName, plain
from kubesched_answers.capacity.node_kinds import ZONE, pool_label_of
from kubesched_lab.page.shown.shown_objects import PLACED, columns_of, shown_node, shown_pod

# older changes are dropped: a browser that asks for them reads everything again
MOST_CHANGES = 200_000
FRESH_SECONDS = 1.0
# cached answers to browsers that are at different numbers
MOST_ENCODED = 4
THERE, LOST = "there", "lost"
ZONES = (ZONE, "failure-domain.beta.kubernetes.io/zone")


class ShownCluster:
    """A model, its changes, and whether its source and a named scheduler answer.

    Requests within `fresh_seconds` share one copy of everything. With `ordered` all lists are sorted by name, so that
    equal clusters give equal bytes. `placed` has the UIDs of pods that the page has placed itself.
    """

    def __init__(
        self,
        model: ClusterModel,
        clock: Callable[[], float] = time.monotonic,
        *,
        fresh_seconds: float = FRESH_SECONDS,
        ordered: bool = False,
        placed: Collection[str] = (),
    ) -> None:
        self.model = model
        self._owners = Owners(model)
        self._clock = clock
        self._fresh_seconds = fresh_seconds
        self._ordered = ordered
        self.placed = frozenset(placed)
        self.seq = 0
        self.source: dict[str, str] = {"state": THERE, "why": ""}
        # None without a named scheduler, and until it was asked
        self.scheduler: dict[str, Any] | None = None
        # (kind, name or UID) -> the number of its last change, in their order
        self._changes: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._forgotten = 0
        # everything as it was at a number and a time, encoded
        self._encoded: tuple[int, float, bytes] | None = None
        # the changes since a number, encoded: browsers that follow are most often at the same number
        self._encoded_since: dict[int, bytes] = {}
        self._listeners: set[asyncio.Event] = set()
        # called with each object before and after its change, None where it does not exist
        self.followers: list[Callable[[ApiObject | None, ApiObject | None], None]] = []

    # -- reports

    def put(self, obj: ApiObject) -> None:
        """Add or replace an object."""
        name = name_of_object(obj)
        old = self.model.find(name)
        if old == obj:
            return
        if isinstance(obj, Pod) and obj.terminal:
            self.drop(obj)
            return
        if isinstance(obj, Pod) and old is not None and old.uid != obj.uid:
            self.drop(old)
        if self.model.set_if_valid(name, obj):
            self._number_changes(obj, old)
            self._notify_followers(old, obj)

    def drop(self, obj: ApiObject) -> None:
        """Remove an object."""
        known = self.model.find(name_of_object(obj))
        if known is not None:
            self.model.set_if_valid(name_of_object(obj), None)
            # by the UID that browsers know
            self._number_changes(known)
            self._notify_followers(known, None)

    def drop_named(self, kind: str, full_name: str) -> None:
        """Remove an object by its kind and `namespace/name`."""
        namespace, _, name = full_name.rpartition("/")
        obj = self.model.find(ObjectName(API_VERSIONS.get(kind, ""), kind, namespace, name))
        if obj is not None:
            self.drop(obj)

    def _notify_followers(self, old: ApiObject | None, new: ApiObject | None) -> None:
        for follower in self.followers:
            follower(old, new)

    def report_source(self, state: str, why: str = "") -> None:
        """Record whether the source of the cluster answers."""
        if self.source["state"] != state:
            self.source = {"state": state, "why": why}
            self._encoded = None
            self.wake()

    def report_scheduler(self, url: str, state: str, why: str = "") -> None:
        """Record whether the scheduler answers; `since` is when it was first seen, in seconds of the epoch."""
        if self.scheduler is None or self.scheduler["state"] != state:
            self.scheduler = {"state": state, "url": url, "why": why, "since": round(time.time(), 3)}
            self._encoded = None
            self.wake()

    def _advance(self, seq: int) -> None:
        self.seq = seq
        self._encoded_since.clear()

    def skip(self, seq: int) -> None:
        """Start the numbers of changes after `seq`, that of the cluster displayed before; its browsers read everything
        again.
        """
        self._forgotten = max(self.seq, seq) + 1
        self._advance(self._forgotten)
        self._changes.clear()
        self._encoded = None

    def _number_changes(self, *changed: ApiObject | None) -> None:
        """Give the nodes and pods that a change touches, before and after it, the next number."""
        self._advance(self.seq + 1)
        for key in dict.fromkeys(key for obj in changed if obj is not None for key in _touched_by(obj)):
            self._changes[key] = self.seq
            self._changes.move_to_end(key)
            if len(self._changes) > MOST_CHANGES:
                self._forgotten = self._changes.popitem(last=False)[1]
        self.wake()

    # -- requests of browsers

    def everything(self) -> dict[str, Any]:
        """Return the whole cluster, as columns."""
        source = self.model.source
        shown = self._nodes()
        nodes = [shown_node(self.model, node) for node in shown]
        columns = columns_of(nodes, [self._shown_pod(pod) for pod in self._pods()])
        return {
            **columns,
            "seq": self.seq,
            "origin": source.origin,
            "kubernetes": source.kubernetes,
            "live": source.server is not None,
            "source": self.source,
            "scheduler": self.scheduler,
            "gaps": [*plain(self.model.gaps), *columns["gaps"]],
            "places": _places_of(shown),
        }

    def encoded(self) -> bytes:
        """Return the whole cluster as JSON, at most a moment old; later changes can be requested."""
        now, known = self._clock(), self._encoded
        if known is None or (known[0] != self.seq and now - known[1] >= self._fresh_seconds):
            known = self._encoded = (self.seq, now, msgspec.json.encode(self.everything()))
        return known[2]

    def _nodes(self) -> list[Node]:
        nodes = [node for node in self.model.cluster.table.nodes if node is not None]
        return sorted(nodes, key=lambda node: node.name) if self._ordered else nodes

    def _shown_pod(self, pod: PodInfo) -> dict[str, Any]:
        found = shown_pod(self.model, self._owners, pod)
        return {**found, "state": PLACED} if pod.uid in self.placed else found

    def _pods(self) -> Iterable[PodInfo]:
        pods = self.model.pods
        return [pods[name] for name in sorted(pods)] if self._ordered else pods.values()

    def since(self, seq: int) -> dict[str, Any] | None:
        """Return the changes after a number; None if they are no longer known."""
        if not self._forgotten <= seq <= self.seq:
            return None
        changed = []
        for key in reversed(self._changes):
            if self._changes[key] <= seq:
                break
            changed.append(key)
        found: dict[str, Any] = {"seq": self.seq, "nodes": [], "goneNodes": [], "pods": [], "gonePods": []}
        cluster = self.model.cluster
        for kind, name in reversed(changed):
            if kind == Node.__name__:
                row = cluster.table.row_of.get(name)
                node = None if row is None else cluster.table.nodes[row]
                if node is None:
                    found["goneNodes"].append(name)
                else:
                    found["nodes"].append(shown_node(self.model, node))
            elif (pod := cluster.table.pods.get(name) or cluster.pending.get(name)) is not None:
                found["pods"].append(self._shown_pod(pod))
            else:
                found["gonePods"].append(name)
        return found

    def encoded_since(self, seq: int) -> bytes | None:
        """Return the changes after a number as JSON; None if they are no longer known."""
        known = self._encoded_since.get(seq)
        if known is None:
            found = self.since(seq)
            if found is None:
                return None
            known = msgspec.json.encode(found)
            if len(self._encoded_since) < MOST_ENCODED:
                self._encoded_since[seq] = known
        return known

    @contextmanager
    def listening(self) -> Iterator[asyncio.Event]:
        """Yield an event that is set with each change."""
        event = asyncio.Event()
        self._listeners.add(event)
        try:
            yield event
        finally:
            self._listeners.discard(event)

    def wake(self) -> None:
        """Wake all browsers that wait for changes."""
        for event in self._listeners:
            event.set()


def _touched_by(obj: ApiObject) -> Iterator[tuple[str, str]]:
    """Yield the kind, and the name or UID, of the nodes and pods whose display depends on an object."""
    if isinstance(obj, Node):
        yield Node.__name__, obj.name
    elif isinstance(obj, Pod):
        yield Pod.__name__, obj.uid
    elif isinstance(obj, ResourceSlice) and obj.spec.node_name:
        yield Node.__name__, obj.spec.node_name
    elif isinstance(obj, ResourceClaim):
        for user in obj.status.reserved_for:
            yield Pod.__name__, user.uid


def _places_of(nodes: Collection[Node]) -> list[str]:
    """Return the labels that group the nodes by default: zone, then pool."""
    keys = {key for node in nodes for key in node.metadata.labels}
    zone = next((label for label in ZONES if label in keys), "")
    return [label for label in (zone, pool_label_of(nodes)) if label]

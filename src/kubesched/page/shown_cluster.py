"""The cluster that a page shows: a model that follows reports, and what has changed since when.

From objects that are new, changed or deleted to numbered changes. Only the last change of an object is kept, so that a
browser that falls behind gets less, and not more.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.asking.answers import plain
from kubesched.asking.model import ClusterModel, name_of_object
from kubesched.page.shown_objects import columns_of, shown_node, shown_pod

# changes beyond that are not kept: a browser that asks for them reads everything anew
MOST_CHANGES = 200_000
# a copy of everything is given to whoever asks within that time
FRESH_SECONDS = 1.0
THERE, LOST = "there", "lost"


class ShownCluster:
    """A model, its changes, and whether its source answers."""

    def __init__(self, model: ClusterModel, clock: Callable[[], float] = time.monotonic) -> None:
        self.model = model
        self._clock = clock
        self.seq = 0
        self.source: dict[str, str] = {"state": THERE, "why": ""}
        # (kind, name or UID) -> the number of its last change, in their order
        self._changes: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._forgotten = 0
        # everything as it was at a number and a time, encoded
        self._encoded: tuple[int, float, bytes] | None = None
        self._listeners: set[asyncio.Event] = set()

    # -- reports

    def put(self, obj: ApiObject) -> None:
        """Take an object that is new or has changed."""
        name = name_of_object(obj)
        old = self.model.find(name)
        if old == obj:
            return
        if isinstance(obj, Pod) and obj.terminal:
            self.drop(obj)
            return
        if isinstance(obj, Pod) and old is not None and old.uid != obj.uid:
            self.drop(old)
        self.model.become(name, obj)
        self._note(obj)

    def drop(self, obj: ApiObject) -> None:
        """Take the deletion of an object."""
        if self.model.find(name_of_object(obj)) is not None:
            self.model.become(name_of_object(obj), None)
            self._note(obj)

    def tell_source(self, state: str, why: str = "") -> None:
        """Take whether the source of the cluster answers."""
        if self.source["state"] != state:
            self.source = {"state": state, "why": why}
            self._encoded = None
            self._wake()

    def _note(self, obj: ApiObject) -> None:
        self.seq += 1
        if isinstance(obj, Node | Pod):
            key = (type(obj).__name__, obj.name if isinstance(obj, Node) else obj.uid)
            self._changes[key] = self.seq
            self._changes.move_to_end(key)
            if len(self._changes) > MOST_CHANGES:
                self._forgotten = self._changes.popitem(last=False)[1]
        self._wake()

    # -- what browsers ask for

    def everything(self) -> dict[str, Any]:
        """Return the whole cluster, as columns."""
        source = self.model.source
        return {
            "seq": self.seq,
            "origin": source.origin,
            "kubernetes": source.kubernetes,
            "live": source.server is not None,
            "writable": False,
            "source": self.source,
            "gaps": plain(self.model.gaps),
            **columns_of(
                [shown_node(node) for node in self._nodes()],
                [shown_pod(self.model, pod) for pod in self.model.pods.values()],
            ),
        }

    def encoded(self) -> bytes:
        """Return the whole cluster as JSON, as it was a moment ago at most; changes since can be asked for."""
        now, known = self._clock(), self._encoded
        if known is None or (known[0] != self.seq and now - known[1] > FRESH_SECONDS):
            known = self._encoded = (self.seq, now, msgspec.json.encode(self.everything()))
        return known[2]

    def _nodes(self) -> Iterator[Node]:
        table = self.model.cluster.table
        return (node for node in table.nodes if node is not None)

    def since(self, seq: int) -> dict[str, Any] | None:
        """Return what has changed after a number; None if that is not known any more."""
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
                    found["nodes"].append(shown_node(node))
            elif (pod := cluster.table.pods.get(name) or cluster.pending.get(name)) is not None:
                found["pods"].append(shown_pod(self.model, pod))
            else:
                found["gonePods"].append(name)
        return found

    @contextmanager
    def listening(self) -> Iterator[asyncio.Event]:
        """Give an event that is set with each change."""
        event = asyncio.Event()
        self._listeners.add(event)
        try:
            yield event
        finally:
            self._listeners.discard(event)

    def _wake(self) -> None:
        for event in self._listeners:
            event.set()

"""The price an hour and the power of nodes, by their labels or annotations.

    kubesched.io/price-per-hour: "0.192"      in any currency
    kubesched.io/watts: "90-350"              without load and with all CPUs requested; one number for both

From nodes to the price of all nodes that are up, whose integral is exact, and to samples of idle price and power.
Amounts are integers of a small unit, so that sums are the same on any machine.
"""

from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.api.nodes import Node
from kubesched.core.cluster.columns import Rows, grown
from kubesched.core.cluster.table import NodeTable
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.measuring.usage import Gauge

PRICE_LABEL, POWER_LABEL = "kubesched.io/price-per-hour", "kubesched.io/watts"
# prices are kept in hundred-thousandths an hour, watts in tenths, shares in thousandths
PRICE_UNIT, WATT_UNIT, SHARE_UNIT = 100_000, 10, 1000
LARGEST_RATE = 100_000
_PRICE, _IDLE, _FULL = 0, 1, 2


class RateLabels(msgspec.Struct, frozen=True):
    """The labels, or annotations, with the price an hour and the watts of nodes."""

    price: str = PRICE_LABEL
    watts: str = POWER_LABEL


class NodeRate(NamedTuple):
    """The price and the power of a node, in the small units."""

    price: int = 0
    idle_watts: int = 0
    full_watts: int = 0


class NodeRates:
    """The rates of all nodes, and columns of them by the rows of a table."""

    def __init__(self, labels: RateLabels) -> None:
        self._labels = labels
        self.price = Gauge()
        self.priced = self.powered = False
        self._changed: dict[str, NodeRate] = {}
        self._columns: NDArray[np.int64] = np.zeros((3, 0), np.int64)

    def node_changed(self, old: Node | None, new: Node | None, now: float) -> None:
        """Record a node that joined, changed or left; raises TraceError if a rate is not a number."""
        before = self._rate(old) if old is not None else NodeRate()
        after = self._rate(new) if new is not None else NodeRate()
        if after.price != before.price:
            self.price.add(after.price - before.price, now)
        self.priced = self.priced or after.price > 0
        self.powered = self.powered or after.full_watts > 0
        if new is None and old is not None:
            self._changed.pop(old.name, None)
        elif new is not None and (self.priced or self.powered) and (after != before or old is None):
            self._changed[new.name] = after

    def sampled(self, table: NodeTable, rows: Rows, shares: NDArray[np.int64]) -> dict[str, float]:
        """Return the price an hour, the price of unrequested capacity, and watts; `shares` are of CPU and memory."""
        if not (self.priced or self.powered):
            return {}
        if self._columns.shape[1] < table.capacity:
            self._columns = grown(self._columns, table.capacity)
        # a node that the scheduler does not know yet counts from the next sample
        known = {table.row_of[name]: rate for name, rate in self._changed.items() if name in table.row_of}
        for row, rate in known.items():
            self._columns[:, row] = rate
        self._changed = {name: rate for name, rate in self._changed.items() if name not in table.row_of}
        found: dict[str, float] = {}
        price, idle, full = self._columns[:, rows]
        if self.priced:
            free = SHARE_UNIT - shares.max(axis=0, initial=0)
            found["price"] = int(price.sum()) / PRICE_UNIT
            found["idlePrice"] = int((price * free).sum()) / SHARE_UNIT / PRICE_UNIT
        if self.powered:
            drawn = idle * SHARE_UNIT + (full - idle) * shares[0]
            found["watts"] = int(drawn.sum()) / SHARE_UNIT / WATT_UNIT
        return found

    def _rate(self, node: Node) -> NodeRate:
        price = self._text(node, self._labels.price)
        watts = self._text(node, self._labels.watts)
        if not price and not watts:
            return NodeRate()
        idle, dash, full = watts.partition("-")
        return NodeRate(
            self._number(node, self._labels.price, price, price, PRICE_UNIT),
            self._number(node, self._labels.watts, watts, idle, WATT_UNIT),
            self._number(node, self._labels.watts, watts, full if dash else idle, WATT_UNIT),
        )

    def _text(self, node: Node, key: str) -> str:
        metadata = node.metadata
        return metadata.labels.get(key) or metadata.annotations.get(key, "")

    def _number(self, node: Node, key: str, whole: str, text: str, unit: int) -> int:
        if not whole:
            return 0
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= LARGEST_RATE:
            example = "0.192" if key == self._labels.price else "90-350"
            raise TraceError(
                f"node {node.name}: {key} is {whole!r}; expected a value such as {example}, up to {LARGEST_RATE}"
            )
        return round(value * unit)

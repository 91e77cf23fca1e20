"""How much work finding devices for a pod may be, in one scheduling cycle.

The search goes back and forth between devices, and expressions are run on each: both are in the hands of whoever writes
a claim. Work is counted in units of about a microsecond. A node on which the search takes too long is given up, and all
nodes are when the cycle's budget is spent; the pod can still go to a node that was found before.
"""

from typing import Final

from kubesched.core.devices.errors import FailedOnNodeError

MOST_UNITS: Final = 1_000_000
MOST_UNITS_OF_A_NODE: Final = 50_000
TOO_MUCH_ON_A_NODE: Final = f"allocating the claims takes more than {MOST_UNITS_OF_A_NODE} steps on the node"
# What compiling an expression costs, by character.
COMPILING: Final = 30
# Up to this cost an expression is mostly calling it, which is counted by the quarter.
_CHEAP: Final = 500


class TooMuchWorkError(FailedOnNodeError):
    """A node that was given up because finding devices there takes too long."""


class Budget:
    """What is left for one pod; `spent` counts."""

    __slots__ = ("_of_node", "spent")

    def __init__(self) -> None:
        self.spent = 0
        self._of_node = 0

    def start_node(self) -> None:
        """Begin with another node, or raise TooMuchWorkError if nothing is left."""
        self._of_node = 0
        self.spend(0)

    def spend(self, units: int) -> None:
        """Count work that is done once for all nodes; raises TooMuchWorkError if it is too much."""
        self.spent += units
        if self.spent > MOST_UNITS:
            raise TooMuchWorkError(f"allocating the claims takes more than {MOST_UNITS} steps in one attempt")

    def spend_on_node(self, units: int = 1) -> None:
        """Count work that is done for a node; raises TooMuchWorkError if it is too much."""
        self._of_node += units
        if self._of_node > MOST_UNITS_OF_A_NODE:
            raise TooMuchWorkError(TOO_MUCH_ON_A_NODE)
        self.spend(units)

    def spend_on_expression(self, cost: int) -> None:
        """Count what running an expression has cost."""
        self.spend(1 + cost // 4 if cost <= _CHEAP else cost)

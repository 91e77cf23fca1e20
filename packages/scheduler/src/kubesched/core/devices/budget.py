"""The budget of work for allocating the devices of a pod, in one scheduling cycle.

The search backtracks between devices and evaluates expressions on each: the author of a claim controls both. Work is
counted in units of about a microsecond. A node on which the search takes too long is rejected, as are all further
nodes when the cycle's budget is spent; nodes that passed before stay feasible.
"""

from typing import Final

from kubesched.core.devices.errors import FailedOnNodeError

MOST_UNITS: Final = 1_000_000
MOST_UNITS_OF_A_NODE: Final = 50_000
TOO_MUCH_ON_A_NODE: Final = f"allocating the claims takes more than {MOST_UNITS_OF_A_NODE} steps on the node"
# The cost of compiling an expression, per character.
COMPILING: Final = 30
# Up to this cost an expression's time is mostly overhead; a quarter of its cost is counted.
_CHEAP: Final = 500


class TooMuchWorkError(FailedOnNodeError):
    """The search for devices on a node takes too long."""


class Budget:
    """The budget of one pod; `spent` counts its work."""

    __slots__ = ("_of_node", "spent")

    def __init__(self) -> None:
        self.spent = 0
        self._of_node = 0

    def start_node(self) -> None:
        """Start with another node, or raise TooMuchWorkError if the budget is spent."""
        self._of_node = 0
        self.spend(0)

    def spend(self, units: int) -> None:
        """Count work that is done once for all nodes; raises TooMuchWorkError if the budget is exceeded."""
        self.spent += units
        if self.spent > MOST_UNITS:
            raise TooMuchWorkError(f"allocating the claims takes more than {MOST_UNITS} steps in one attempt")

    def spend_on_node(self, units: int = 1) -> None:
        """Count work that is done for a node; raises TooMuchWorkError if a budget is exceeded."""
        self._of_node += units
        if self._of_node > MOST_UNITS_OF_A_NODE:
            raise TooMuchWorkError(TOO_MUCH_ON_A_NODE)
        self.spend(units)

    def spend_on_expression(self, cost: int) -> None:
        """Count the cost of evaluating an expression."""
        self.spend(1 + cost // 4 if cost <= _CHEAP else cost)

"""IP addresses for simulated nodes and pods, allocated in order.

Addresses of existing nodes and pods are marked as taken; allocation continues after the highest of them.
"""

from ipaddress import AddressValueError, IPv4Address

# nodes are in 10.0.0.0/10, services in 10.96.0.0/12, pods in 10.128.0.0/9
OF_NODES = "10.0.0.0", 1 << 22
OF_PODS = "10.128.0.0", 1 << 23


class Addresses:
    """Allocates the addresses of one network."""

    def __init__(self, first: str, number: int) -> None:
        self._first = int(IPv4Address(first))
        # the first and the last address of the network are not allocated
        self._most = number - 2
        self._last = 0

    def taken(self, address: str) -> None:
        """Mark an address as taken; addresses of other networks are ignored."""
        try:
            number = int(IPv4Address(address)) - self._first
        except AddressValueError:
            return
        if self._last < number <= self._most:
            self._last = number

    def new(self) -> str:
        """Return the next address; after the last one, start again with the first."""
        self._last = self._last % self._most + 1
        return str(IPv4Address(self._first + self._last))

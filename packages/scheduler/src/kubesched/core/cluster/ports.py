"""Host ports in use, by port.

From the ports of placed pods to the rows on which a port is taken. Indexed by (protocol, port), since a pod has a few
ports and most nodes use none of them.
"""

from collections.abc import Collection, Iterable

from kubesched.core.cluster.pod_info import HostPort

ANY_IP = "0.0.0.0"


class HostPorts:
    """(protocol, port) -> row -> addresses.

    A set, not a count: if two pods have the same port on one node (which happens only past the scheduler), removing one
    of them frees it, as in the reference.
    """

    __slots__ = ("_users",)

    def __init__(self) -> None:
        self._users: dict[tuple[str, int], dict[int, set[str]]] = {}

    def add(self, row: int, ports: Iterable[HostPort], sign: int) -> None:
        """Mark ports as used on a row, or with sign -1 as free."""
        for port in ports:
            key = (port.protocol, port.port)
            if sign > 0:
                self._users.setdefault(key, {}).setdefault(row, set()).add(port.ip)
                continue
            rows = self._users.get(key, {})
            ips = rows.get(row, set())
            ips.discard(port.ip)
            if not ips:
                rows.pop(row, None)
                if not rows:
                    self._users.pop(key, None)

    def users(self, port: HostPort) -> dict[int, set[str]]:
        """Return the rows that use a port's number and protocol, with the addresses they use it on."""
        return self._users.get((port.protocol, port.port), {})

    def used_on(self, row: int) -> set[HostPort]:
        """Return all ports in use on a row."""
        return {
            HostPort(ip, protocol, number)
            for (protocol, number), rows in self._users.items()
            for ip in rows.get(row, ())
        }


# upstream: kube-scheduler/framework/types.go, HostPortInfo.CheckConflict (v1.36)
def conflicts(ip: str, used_ips: Collection[str]) -> bool:
    """Return whether a port on `ip` conflicts with its use on `used_ips`."""
    if ip == ANY_IP:
        return bool(used_ips)
    return ip in used_ips or ANY_IP in used_ips

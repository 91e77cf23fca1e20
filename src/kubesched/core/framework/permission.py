"""What Permit answers."""

from typing import NamedTuple

from kubesched.core.framework.status import Status


class Permission(NamedTuple):
    """What Permit says: a status (Wait holds the pod), and how long to wait at most."""

    status: Status
    timeout_seconds: float = 0.0

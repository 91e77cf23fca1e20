"""The result of Permit."""

from typing import NamedTuple

from kubesched.core.framework.values.status import Status


class Permission(NamedTuple):
    """The result of Permit: a status (with Wait the pod waits), and the timeout."""

    status: Status
    timeout_seconds: float = 0.0

"""Validation of a container's probes and lifecycle hooks.

From probes and lifecycles to problems.
"""

# upstream: pkg/apis/core/validation/validation.go (validateProbe, validateLifecycle, validateHandler) (v1.36)

import re
from collections.abc import Callable
from typing import Any, Final

from kubesched.api.field_errors import forbidden, invalid, required
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import not_negative, one_of, port_name_problems, port_problems, text_problems

PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_SECONDS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_HEADER: Final = "[-A-Za-z0-9]+"
_HEADER_PATTERN = re.compile(_HEADER)
_HEADER_RULE: Final = (
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for"
    f" validation is '{_HEADER}')"
)


def probes_problems(path: str, container: Document, grace: int) -> list[str]:
    """Return the problems of the probes of a container."""
    problems = []
    for name in PROBES:
        probe = container.get(name)
        if probe is not None:
            problems += _probe_problems(f"{path}.{name}", probe, grace, readiness=name == "readinessProbe")
    return problems


def _probe_problems(path: str, probe: Document, grace: int, *, readiness: bool) -> list[str]:
    problems = _handler_problems(path, probe, grace)
    for field in _SECONDS:
        problems += not_negative(f"{path}.{field}", probe.get(field, 0))
    own_grace = probe.get("terminationGracePeriodSeconds")
    if own_grace is not None:
        here = f"{path}.terminationGracePeriodSeconds"
        if own_grace <= 0:
            problems.append(invalid(here, own_grace, "must be greater than 0"))
        if readiness:
            problems.append(invalid(here, own_grace, "must not be set for readinessProbes"))
    if not readiness and probe.get("successThreshold") != 1:
        problems.append(invalid(f"{path}.successThreshold", probe.get("successThreshold", 0), "must be 1"))
    return problems


def lifecycle_problems(path: str, lifecycle: Document, grace: int) -> list[str]:
    """Return the problems of the lifecycle hooks of a container."""
    problems = []
    for name in ("postStart", "preStop"):
        if lifecycle.get(name) is not None:
            problems += _handler_problems(f"{path}.{name}", lifecycle[name], grace)
    return problems


def _handler_problems(path: str, handler: Document, grace: int) -> list[str]:
    given = [name for name in _ACTIONS if handler.get(name) is not None]
    if not given:
        return [required(path, "must specify a handler type")]
    problems = _ACTIONS[given[0]](f"{path}.{given[0]}", handler[given[0]], grace)
    return problems + [forbidden(f"{path}.{name}", "may not specify more than 1 handler type") for name in given[1:]]


def _exec(path: str, action: Document, grace: int) -> list[str]:
    return [] if action.get("command") else [required(f"{path}.command")]


def _http_get(path: str, action: Document, grace: int) -> list[str]:
    problems = _port_problems(f"{path}.port", action.get("port", 0))
    problems += one_of(f"{path}.scheme", action.get("scheme") or "", ("HTTP", "HTTPS"))
    for header in action.get("httpHeaders") or ():
        name = header.get("name") or ""
        if not _HEADER_PATTERN.fullmatch(name):
            problems.append(invalid(f"{path}.httpHeaders", name, _HEADER_RULE))
    return problems


def _port(path: str, action: Document, grace: int) -> list[str]:
    return _port_problems(f"{path}.port", action.get("port", 0))


def _sleep(path: str, action: Document, grace: int) -> list[str]:
    seconds = action.get("seconds", 0)
    if 0 <= seconds <= grace:
        return []
    return [invalid(path, seconds, f"must be non-negative and less than terminationGracePeriodSeconds ({grace})")]


def _port_problems(path: str, port: Any) -> list[str]:
    return text_problems(path, port, port_name_problems) if isinstance(port, str) else port_problems(path, port)


_ACTIONS: Final[dict[str, Callable[[str, Document, int], list[str]]]] = {
    "exec": _exec,
    "httpGet": _http_get,
    "tcpSocket": _port,
    "grpc": _port,
    "sleep": _sleep,
}

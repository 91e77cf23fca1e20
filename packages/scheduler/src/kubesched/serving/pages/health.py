"""Health: /healthz, /livez and /readyz, as a whole and check by check.

From checks to texts for probes and people. The reason of a failed check is withheld from the page, and goes to the
log.
"""

# upstream: apiserver/pkg/server/healthz/healthz.go (v1.36)

from collections.abc import Callable, Mapping, Sequence

import msgspec

from kubesched.api.go_text import quote
from kubesched.common.notes import Note
from kubesched.serving.requests import PageRequest, PageResponse, plain, refused


class HealthCheck(msgspec.Struct, frozen=True):
    """A named check; `problem` returns why it fails, or None. It must not wait."""

    name: str
    problem: Callable[[], str | None]


class HealthChecks(msgspec.Struct, frozen=True):
    """The checks of the three pages; `observed` is called with check, page and outcome."""

    healthz: Sequence[HealthCheck] = ()
    livez: Sequence[HealthCheck] = ()
    readyz: Sequence[HealthCheck] = ()
    observed: Callable[[str, str, bool], None] = lambda check, page, well: None


def shutdown_check(is_stopping: Callable[[], bool]) -> HealthCheck:
    """Return the check that fails once the process is shutting down."""
    return HealthCheck("shutdown", lambda: "process is shutting down" if is_stopping() else None)


def handler_sync_check(is_synced: Callable[[], bool]) -> HealthCheck:
    """Return the check that fails until the event handlers have handled the initial lists."""
    return HealthCheck("sched-handler-sync", lambda: None if is_synced() else "handlers are not fully synchronized")


PING = HealthCheck("ping", lambda: None)


class HealthPage:
    """One of the pages: healthz, livez or readyz."""

    def __init__(self, name: str, checks: HealthChecks, note: Note) -> None:
        self._name = name
        self._checks = tuple(getattr(checks, name)) or (PING,)
        self._observed = checks.observed
        self._note = note
        self._failing: tuple[str, ...] = ()

    def paths(self) -> Mapping[str, Callable[[PageRequest], PageResponse]]:
        """Return the pages: the whole, and one for each check."""
        single = {f"/{self._name}/{check.name}": _single(check) for check in self._checks}
        return {f"/{self._name}": self.whole} | single

    def whole(self, request: PageRequest) -> PageResponse:
        """Return whether all checks pass that are not excluded."""
        excluded = set(request.query.get("exclude", ()))
        lines, failed, reasons = [], [], []
        for check in self._checks:
            if check.name in excluded:
                lines.append(f"[+]{check.name} excluded: ok")
                continue
            problem = _problem(check)
            self._observed(check.name, self._name, problem is None)
            if problem is None:
                lines.append(f"[+]{check.name} ok")
            else:
                lines.append(f"[-]{check.name} failed: reason withheld")
                failed.append(check.name)
                reasons.append(f"{check.name}: {problem}")
        self._log_failed(tuple(failed), reasons)
        unknown = sorted(excluded - {check.name for check in self._checks})
        if unknown:
            names = ",".join(map(quote, unknown))
            lines.append(f"warn: some health checks cannot be excluded: no matches for {names}")
        if failed:
            return refused("\n".join([*lines, f"{self._name} check failed"]), 500)
        if "verbose" not in request.query:
            return plain("ok")
        return plain("\n".join([*lines, f"{self._name} check passed\n"]))

    def _log_failed(self, failed: tuple[str, ...], reasons: Sequence[str]) -> None:
        """Log the failed checks, but not again while they stay the same: probes come every few seconds."""
        if failed and failed != self._failing:
            self._note(f"{','.join(failed)} check failed: {self._name}: {'; '.join(reasons)}")
        self._failing = failed


def _single(check: HealthCheck) -> Callable[[PageRequest], PageResponse]:
    def answer(request: PageRequest) -> PageResponse:
        problem = _problem(check)
        return PageResponse(b"ok") if problem is None else refused(f"internal server error: {problem}", 500)

    return answer


def _problem(check: HealthCheck) -> str | None:
    """Return the problem that a check finds; a check that raises an error has failed."""
    try:
        return check.problem()
    except Exception as error:
        return f"{type(error).__name__}: {error}"

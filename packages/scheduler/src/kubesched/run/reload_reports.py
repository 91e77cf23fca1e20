"""The reports of a reload: one line in the log, metrics, an event, and additions to /configz.

From the outcome of a reload to each of them. The event regards the Lease of the leader election; without one it
regards the scheduler's pod, if it runs in one.
"""

import os
import socket
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from kubesched.api.coordination import Lease
from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.api.pods import Pod
from kubesched.client.events import EventRecorder
from kubesched.config.types import KubeSchedulerConfiguration
from kubesched.core.framework.values.effects import Emit
from kubesched.core.loop.failure_handler import truncated
from kubesched.run.klog.logs import Log
from kubesched.run.klog.secrets import without_secrets
from kubesched.serving.metrics import catalog
from kubesched.serving.metrics.registry import MetricRegistry

APPLIED, UNCHANGED, REFUSED = "applied", "unchanged", "refused"
NAMESPACE_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"


class ReloadOutcome(msgspec.Struct, frozen=True):
    """The outcome of a configuration that was read; `needs_restart` are the fields that keep their values.

    `again` means that the file is valid and may be put in force later: a dependency is missing.
    """

    result: str
    reason: str = ""
    needs_restart: tuple[str, ...] = ()
    again: bool = False


class ReloadReports:
    """Reports reloads; pages in other threads may read `configz_fields` at any time."""

    def __init__(
        self, file: str, log: Log, registry: MetricRegistry, recorder: EventRecorder, regarding: ApiObject | None
    ) -> None:
        self._file = file
        self._log = log
        self._recorder = recorder
        # the object that events regard; without a UID until it could be read
        self.regarding = regarding
        self._reloads = registry.family(catalog.CONFIG_RELOADS)
        for result in (APPLIED, UNCHANGED, REFUSED):
            self._reloads.number(result)
        self._well = registry.family(catalog.CONFIG_LAST_RESULT).number()
        self._since = registry.family(catalog.CONFIG_IN_FORCE).number()
        self._generation = registry.family(catalog.CONFIG_GENERATION).number()
        self._well.value = 1
        self._last: Mapping[str, Any] | None = None
        self._in_force: Mapping[str, Any] = {}

    def in_force(self, generation: int, since: datetime) -> None:
        """Show which configuration is in force, and since when."""
        self._generation.value = generation
        self._since.value = since.timestamp()
        self._in_force = {"file": self._file, "generation": generation, "inForceSince": _time(since)}

    def configz_fields(self) -> Mapping[str, Any]:
        """Return the additions to the configuration in /configz."""
        return {**self._in_force, **({"lastReload": self._last} if self._last is not None else {})}

    def report(self, outcome: ReloadOutcome, generation: int, now: datetime, reporter: str) -> None:
        """Report a reload: a line, an event unless nothing changed, metrics."""
        # an error of a plugin may contain a password, which events and /configz must not show
        outcome = msgspec.structs.replace(outcome, reason=without_secrets(outcome.reason))
        self._reloads.number(outcome.result).value += 1
        self._well.value = outcome.result != REFUSED
        shown: dict[str, Any] = {"time": _time(now), "result": outcome.result, "message": outcome.reason}
        shown |= {"needsRestart": list(outcome.needs_restart)} if outcome.needs_restart else {}
        self._last = {name: value for name, value in shown.items() if value}
        values: dict[str, Any] = {"file": self._file, "generation": generation}
        if outcome.needs_restart:
            values["needsRestart"] = ",".join(outcome.needs_restart)
        if outcome.result == REFUSED:
            self._log.error(outcome.reason, "Configuration refused, the last good one stays in force", **values)
            self._emit("Warning", "ConfigurationRefused", f"{self._file}: {outcome.reason}", reporter)
        elif outcome.result == APPLIED:
            self._log.info("Configuration reloaded", **values)
            restart = f"; these fields need a restart: {values['needsRestart']}" if outcome.needs_restart else ""
            note = f"{self._file} is in force as generation {generation}{restart}"
            self._emit("Normal", "ConfigurationReloaded", note, reporter)
        else:
            self._log.info("Configuration unchanged in what can be reloaded", **values)

    def _emit(self, kind: str, reason: str, note: str, reporter: str) -> None:
        if self.regarding is not None:
            emit = Emit(self.regarding, kind, reason, "Reload", truncated(note), reporter)
            self._recorder.record(emit, by_note=True)


def object_of_scheduler(config: KubeSchedulerConfiguration) -> ApiObject | None:
    """Return the object that events about the scheduler itself regard: its Lease or its pod; None without either."""
    election = config.leader_election
    if election.leader_elect:
        return Lease(metadata=ObjectMeta(name=election.resource_name, namespace=election.resource_namespace))
    if not os.environ.get("KUBERNETES_SERVICE_HOST"):
        return None
    try:
        namespace = Path(NAMESPACE_FILE).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    # the host name of a pod is its name
    return Pod(metadata=ObjectMeta(name=socket.gethostname(), namespace=namespace))


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

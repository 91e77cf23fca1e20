"""Of each reload there is one line in the log, an event if it matters, metrics, and what /configz adds."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kubesched.api.coordination import Lease
from kubesched.api.meta import ApiObject
from kubesched.config.types import KubeSchedulerConfiguration, LeaderElection
from kubesched.core.framework.values.effects import Emit
from kubesched.run.reload_reports import (
    APPLIED,
    REFUSED,
    UNCHANGED,
    ReloadOutcome,
    ReloadReports,
    object_of_scheduler,
)
from kubesched.serving.metrics.registry import MetricRegistry

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Told:
    """A log and an event recorder in one."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.events: list[tuple[str, str, str]] = []

    def info(self, message: str, /, v: int = 0, **values: Any) -> None:
        self.lines.append(f"I {message} {values}")

    def error(self, problem: str, message: str, /, **values: Any) -> None:
        self.lines.append(f"E {message}: {problem} {values}")

    def record(self, emit: Emit, *, by_note: bool = False) -> None:
        assert by_note, "reasons that differ are events of their own"
        self.events.append((emit.type, emit.reason, emit.note))


@pytest.mark.parametrize(
    ("outcome", "line", "event"),
    [
        (ReloadOutcome(APPLIED), "I Configuration reloaded", ("Normal", "ConfigurationReloaded")),
        (ReloadOutcome(REFUSED, "no such plugin"), "E Configuration refused", ("Warning", "ConfigurationRefused")),
        (ReloadOutcome(UNCHANGED, needs_restart=("parallelism",)), "I Configuration unchanged", None),
    ],
    ids=["applied", "refused", "unchanged but for what needs a restart"],
)
def test_each_outcome_is_told_once(outcome: ReloadOutcome, line: str, event: tuple[str, str] | None) -> None:
    told, registry = Told(), MetricRegistry(others=None)
    regarding = object_of_scheduler(KubeSchedulerConfiguration())
    reports = ReloadReports("scheduler.yaml", told, registry, told, regarding)  # type: ignore[arg-type]
    reports.in_force(3, NOW)
    assert "lastReload" not in reports.configz_fields()
    reports.report(outcome, 3, NOW, "default-scheduler")
    assert [each.startswith(line) for each in told.lines] == [True]
    assert all(field in told.lines[0] for field in outcome.needs_restart)
    assert [each[:2] for each in told.events] == ([event] if event is not None else [])
    shown = reports.configz_fields()
    assert (shown["generation"], shown["inForceSince"]) == (3, "2026-01-01T12:00:00Z")
    assert shown["lastReload"]["result"] == outcome.result
    assert shown["lastReload"].get("message", "") == outcome.reason
    text = registry.text()
    assert f'kubesched_config_reloads_total{{result="{outcome.result}"}} 1\n' in text
    assert f"kubesched_config_last_reload_successful {int(outcome.result != REFUSED)}\n" in text


def test_a_long_reason_fits_into_an_event() -> None:
    told = Told()
    reports = ReloadReports("f", told, MetricRegistry(others=None), told, Lease())  # type: ignore[arg-type]
    reports.report(ReloadOutcome(REFUSED, "ä" * 5000), 1, NOW, "default-scheduler")
    assert len(told.events[0][2].encode()) <= 1024
    assert "ä" * 5000 in told.lines[0]


def test_a_password_in_the_reason_is_hidden_in_the_event_and_on_the_page() -> None:
    told = Told()
    reports = ReloadReports("f", told, MetricRegistry(others=None), told, Lease())  # type: ignore[arg-type]
    reason = "plugin 'X' cannot be built: no answer from postgres://me:hunter2@db/x"
    reports.report(ReloadOutcome(REFUSED, reason), 1, NOW, "default-scheduler")
    for text in (told.events[0][2], reports.configz_fields()["lastReload"]["message"], told.lines[0]):
        assert "hunter2" not in text
        assert "plugin 'X' cannot be built" in text


def test_events_regard_the_lease_the_pod_or_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    election = LeaderElection(resource_name="kube-scheduler", resource_namespace="kube-system")
    found: ApiObject | None = object_of_scheduler(KubeSchedulerConfiguration(leader_election=election))
    assert isinstance(found, Lease)
    assert found.full_name == "kube-system/kube-scheduler"
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    alone = KubeSchedulerConfiguration(leader_election=LeaderElection(leader_elect=False))
    assert object_of_scheduler(alone) is None

"""An examination: all checks, one after the other.

From a client and the pages of a scheduler to findings, the most important first.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from kubesched.client.rest import Rest, Unreachable
from kubesched.doctor.configuration_checks import CheckedConfiguration
from kubesched.doctor.dashboard_checks import check_dashboard
from kubesched.doctor.examined_cluster import ASK_AGAIN, ExaminedCluster
from kubesched.doctor.extender_checks import check_extenders
from kubesched.doctor.findings import Finding, fail
from kubesched.doctor.rights_checks import check_rights
from kubesched.doctor.scheduler_checks import check_pages, check_pods, check_running
from kubesched.doctor.server_checks import check_leases, check_version, server_minor


class SchedulerPages(NamedTuple):
    """The pages of a running scheduler: its address, and a client of it."""

    address: str
    rest: Rest


async def examine(
    rest: Rest,
    checked: CheckedConfiguration,
    dashboards: Sequence[tuple[str, str]] = (),
    pages: SchedulerPages | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> list[Finding]:
    """Return all findings; raises Unreachable if the API server does not answer, Refused if it rejects the credentials.

    If the API server stops to answer later, the failed check becomes a finding, and the other checks continue.
    """
    cluster, loaded, profiles = ExaminedCluster(rest), checked.loaded, checked.profiles
    findings = await check_version(cluster)
    minor, election = await server_minor(cluster), loaded.config.leader_election
    rights = check_rights(cluster, profiles, loaded.gates, election, minor)
    findings += await _made("rights", rights)
    findings += checked.findings
    findings += await _made("custom kinds", checked.check_kinds(cluster))
    findings += await _made("flags", check_running(cluster, loaded.gates))
    if pages is not None:
        findings += await check_pages(pages.rest, pages.address, loaded.gates)
    findings += await check_extenders(loaded.config.extenders)
    findings += await _made("leader", check_leases(cluster, now(), election, profiles))
    findings += await _made("schedulers", check_pods(cluster, profiles))
    for file, text in dashboards:
        findings += check_dashboard(file, text)
    return findings


async def _made(check: str, findings: Awaitable[list[Finding]]) -> list[Finding]:
    try:
        return await findings
    except Unreachable as error:
        return [fail(check, f"the check failed: {error}", ASK_AGAIN)]

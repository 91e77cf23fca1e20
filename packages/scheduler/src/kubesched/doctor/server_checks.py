"""The API server, its clock, and the leader of leader election.

From an examined cluster to findings.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime

import msgspec

from kubesched.api.codec import decode_json
from kubesched.api.coordination import Lease
from kubesched.api.release import GIT_VERSION, MINOR
from kubesched.config.types import LeaderElection
from kubesched.doctor.examined_cluster import Absent, Document, ExaminedCluster
from kubesched.doctor.findings import Finding, fail, ok, warn
from kubesched.errors import InvalidObjectError

# the oldest release in the tests of docs/verification/compatibility.md
OLDEST_MINOR = 31
# missing features of releases before these
LACKS = {
    34: "it does not serve resource.k8s.io/v1: disable the plugin DynamicResources and close the gate "
    "DRAExtendedResource, or nothing is scheduled",
    32: "its role system:kube-scheduler may not list volumeattachments.storage.k8s.io: grant get, list and watch of it",
}
SKEW_SECONDS = 2.0
# if no lease was renewed for this time, the local clock is ahead, or the cluster runs nothing
STALE_SECONDS = 60.0
SYSTEM_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
NODE_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
SCHEDULER_LEASE = "kube-scheduler"
DEFAULT_SCHEDULER = "default-scheduler"


async def server_minor(cluster: ExaminedCluster) -> int:
    """Return the minor release of the API server, by default ours."""
    numbers = _numbers(_version(await cluster.document("/version")))
    return numbers[1] if numbers is not None else MINOR


def _version(found: Document | Absent) -> str:
    return str(found.get("gitVersion", "")) if isinstance(found, dict) else ""


def _numbers(version: str) -> tuple[int, int] | None:
    numbers = re.match(r"v?(\d{1,9})\.(\d{1,9})", version)
    return (int(numbers[1]), int(numbers[2])) if numbers is not None else None


async def check_version(cluster: ExaminedCluster) -> list[Finding]:
    """Return findings about the release of the API server."""
    found = await cluster.document("/version")
    version = _version(found)
    numbers = _numbers(version)
    if numbers is None:
        why = f" ({found.why})" if isinstance(found, Absent) else ""
        what = f"the API server does not report its release{why}"
        return [warn("version", what, f"check that it is v1.{OLDEST_MINOR} or later; kubesched follows {GIT_VERSION}")]
    major, minor = numbers
    if (major, minor) < (1, OLDEST_MINOR):
        what = f"the API server is {version}; kubesched was tested on v1.{OLDEST_MINOR} and later"
        return [fail("version", what, "upgrade the control plane first")]
    findings = [ok("version", f"the API server is {version}, kubesched the scheduler of {GIT_VERSION}")]
    findings += [
        warn("version", f"{version}: {lack.partition(': ')[0]}", lack.partition(": ")[2]) for lack in _lacks(minor)
    ]
    if minor > MINOR + 1:
        what = f"the API server is {version}, more than one release ahead of {GIT_VERSION}"
        findings.append(warn("version", what, "use a kubesched of its release: a scheduler may be one release behind"))
    return findings


def _lacks(minor: int) -> Iterator[str]:
    return (text for since, text in LACKS.items() if minor < since)


async def check_leases(
    cluster: ExaminedCluster, now: datetime, election: LeaderElection, served: Collection[str]
) -> list[Finding]:
    """Return findings about the leader, a leader beside it, and the local clock compared with the cluster's."""
    found = await cluster.items(SYSTEM_LEASES)
    if isinstance(found, Absent):
        fix = found.fix(
            "use an identity that may get and list leases in kube-system; the scheduler does not need this right"
        )
        return [warn("leader", f"leases of kube-system cannot be read: {found.why}", fix)]
    others = await cluster.items(NODE_LEASES)
    leases = list(_read(found))
    renewed = [each.spec.renew_time for each in (*leases, *_read(() if isinstance(others, Absent) else others))]
    return [_leader(leases, now, election, served), _clock([time for time in renewed if time is not None], now)]


def _read(documents: Sequence[object]) -> Iterator[Lease]:
    for document in documents:
        try:
            yield decode_json(Lease, msgspec.json.encode(document))
        except (InvalidObjectError, msgspec.MsgspecError):
            continue


def _leader(leases: Sequence[Lease], now: datetime, election: LeaderElection, served: Collection[str]) -> Finding:
    lease = next((each for each in leases if each.name == SCHEDULER_LEASE), None)
    if lease is None or not lease.spec.holder_identity:
        what = f"no scheduler holds the Lease kube-system/{SCHEDULER_LEASE}"
        return warn("leader", what, "if a scheduler runs with --leader-elect=false, stop it before kubesched starts")
    spec = lease.spec
    age = (now - (spec.renew_time or datetime.min.replace(tzinfo=UTC))).total_seconds()
    if age > (spec.lease_duration_seconds or 15):
        what = f"{spec.holder_identity} held the Lease {SCHEDULER_LEASE}, but has not renewed it for {age:,.0f} s"
        return warn("leader", what, "check whether a scheduler runs; kubesched takes over as soon as it starts")
    own = (election.resource_namespace, election.resource_name)
    if election.leader_elect and own == ("kube-system", SCHEDULER_LEASE):
        what = f"{spec.holder_identity} leads; kubesched waits for the Lease {SCHEDULER_LEASE} until it ends"
        return ok("leader", what)
    without = f"with the Lease {'/'.join(own)}" if election.leader_elect else "without leader election"
    if DEFAULT_SCHEDULER not in served:
        return ok("leader", f"{spec.holder_identity} leads; kubesched serves other names beside it, {without}")
    what = (
        f"{spec.holder_identity} leads, and kubesched would not wait for it, {without}: both would bind the same pods"
    )
    fix = (
        f"write leaderElection: {{leaderElect: true, resourceName: {SCHEDULER_LEASE}, resourceNamespace: kube-system}}"
        f", or another schedulerName than {DEFAULT_SCHEDULER}; or stop the other one first"
    )
    return fail("leader", what, fix)


def _clock(renewed: Sequence[datetime], now: datetime) -> Finding:
    if not renewed:
        return warn(
            "clock", "the cluster has no lease to compare the clock with", "check that the local clock is synchronised"
        )
    ahead = (max(renewed) - now).total_seconds()
    if ahead > SKEW_SECONDS:
        what = f"the newest lease of the cluster is from {ahead:.1f} s ahead"
        return warn("clock", what, "synchronise the clocks: certificates and tokens depend on them")
    if ahead < -STALE_SECONDS:
        what = f"the newest lease of the cluster is {-ahead:,.0f} s old"
        return warn("clock", what, "synchronise the clocks, unless the cluster runs no node and no controller")
    return ok("clock", f"the newest lease of the cluster is {max(-ahead, 0):.1f} s old")

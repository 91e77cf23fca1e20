"""The rights that kubesched needs, and the rights that its identity has.

From the enabled plugins to rights, and from access reviews to findings about the identity of the requests, or the one
in `--as`. The needed rights are a subset of system:kube-scheduler's, as the configuration requires.
"""

import asyncio
from collections.abc import Iterator, Mapping
from itertools import groupby

from kubesched.api.release import MINOR
from kubesched.client.informers.watched_kinds import watched_kinds
from kubesched.client.rest import Refused
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.types import LeaderElection
from kubesched.core.framework.building.plugin_rights import rules_of
from kubesched.core.framework.building.profile import Profile
from kubesched.doctor.examined_cluster import NOT_ACCEPTED, Absent, ExaminedCluster, Right
from kubesched.doctor.findings import Finding, fail, ok, warn

READ = ("get", "list", "watch")
SYSTEM = "kube-system"
LEASES, DEVICES, GROUPS = "coordination.k8s.io", "resource.k8s.io", "scheduling.k8s.io"
ROLES = "bind the cluster roles system:kube-scheduler and system:volume-scheduler to it, or add the rule"
PAGES_ROLES = (
    "bind the cluster role system:kube-scheduler (or system:auth-delegator), and in kube-system the role "
    "extension-apiserver-authentication-reader"
)
# writes of every scheduler
ALWAYS = (
    Right("create", "", "pods/binding"),
    Right("patch", "", "pods/status"),
    Right("delete", "", "pods"),
    Right("create", "events.k8s.io", "events"),
    Right("patch", "events.k8s.io", "events"),
)
# writes of in-tree plugins: existing objects get patches
OF_PLUGINS = {
    "VolumeBinding": (Right("patch", "", "persistentvolumes"), Right("patch", "", "persistentvolumeclaims")),
    "DynamicResources": (
        Right("create", DEVICES, "resourceclaims"),
        Right("delete", DEVICES, "resourceclaims"),
        Right("patch", DEVICES, "resourceclaims"),
        Right("patch", DEVICES, "resourceclaims/status"),
    ),
}
# API servers since this release require it, too, when the allocation in a claim's status changes
ALLOCATING = Right("patch", DEVICES, "resourceclaims/binding")
ALLOCATING_SINCE_MINOR = 36
GROUPS_WRITTEN = Right("patch", GROUPS, "podgroups/status")
# without these no client can be admitted to /metrics and the other pages
FOR_PAGES = (
    Right("create", "authentication.k8s.io", "tokenreviews"),
    Right("create", "authorization.k8s.io", "subjectaccessreviews"),
    Right("get", "", "configmaps", SYSTEM, "extension-apiserver-authentication"),
)


def needed_rights(
    profiles: Mapping[str, Profile], gates: FeatureGates, election: LeaderElection, server_minor: int = MINOR
) -> dict[Right, str]:
    """Return the rights that a scheduler with these profiles needs on an API server, each with its reason."""
    needed: dict[Right, str] = {}
    for kind in watched_kinds(profiles, gates):
        group, plural = _parts(kind.path)
        needed |= {Right(verb, group, plural): ", ".join(kind.needed_by) or "the scheduler" for verb in READ}
    needed |= dict.fromkeys(ALWAYS, "the scheduler")
    needed |= dict.fromkeys(_of_lease(election, gates), "leader election")
    plugins = [plugin for profile in profiles.values() for plugin in profile.plugins.values()]
    for plugin in plugins:
        needed |= dict.fromkeys(OF_PLUGINS.get(plugin.name, ()), plugin.name)
        for rule in rules_of((), plugin.writes):
            needed |= {Right(verb, rule["apiGroups"][0], rule["resources"][0]): plugin.name for verb in rule["verbs"]}
    if server_minor >= ALLOCATING_SINCE_MINOR and any(plugin.name == "DynamicResources" for plugin in plugins):
        needed[ALLOCATING] = "DynamicResources"
    if gates.enabled("GenericWorkload"):
        needed[GROUPS_WRITTEN] = "the scheduler"
    return needed


def _of_lease(election: LeaderElection, gates: FeatureGates) -> Iterator[Right]:
    if election.leader_elect:
        namespace, name = election.resource_namespace, election.resource_name
        yield Right("create", LEASES, "leases", namespace)
        yield Right("get", LEASES, "leases", namespace, name)
        yield Right("update", LEASES, "leases", namespace, name)
        # the event that names the new leader
        yield Right("create", "", "events", namespace)
        if gates.enabled("CoordinatedLeaderElection"):
            for verb in ("list", "watch", "create", "update"):
                yield Right(verb, LEASES, "leasecandidates", namespace)


def _parts(path: str) -> tuple[str, str]:
    """Return the group and the plural of a resource's path."""
    parts = path.strip("/").split("/")
    return (parts[1] if parts[0] == "apis" else ""), parts[-1]


async def check_rights(
    cluster: ExaminedCluster,
    profiles: Mapping[str, Profile],
    gates: FeatureGates,
    election: LeaderElection,
    server_minor: int = MINOR,
) -> list[Finding]:
    """Return findings about missing rights."""
    needed = needed_rights(profiles, gates, election, server_minor)
    try:
        missing = await _missing(cluster, needed)
        for_pages = await _missing(cluster, dict.fromkeys(FOR_PAGES, "/metrics and other pages"))
    except Refused as refused:
        if refused.code == NOT_ACCEPTED:
            raise
        fix = "ask as an identity that may create selfsubjectaccessreviews (role system:basic-user)"
        return [fail("rights", f"the rights of the identity are unknown: {refused}", Absent(refused.code, "").fix(fix))]
    findings = list(_findings(missing)) or [ok("rights", f"all {len(needed)} rights that the configuration needs")]
    for right in for_pages:
        what = f"may not {right}: clients of /metrics and other pages cannot be authenticated"
        findings.append(warn("rights", what, PAGES_ROLES))
    return findings


async def _missing(cluster: ExaminedCluster, needed: Mapping[Right, str]) -> dict[Right, str]:
    answers = await asyncio.gather(*map(cluster.may, needed))
    return {right: why for (right, why), allowed in zip(needed.items(), answers, strict=True) if not allowed}


def _findings(missing: Mapping[Right, str]) -> Iterator[Finding]:
    """Yield a failure for each resource with missing rights, with the rule that grants them."""
    key = lambda right: (right.group, right.resource, right.namespace, missing[right])  # noqa: E731
    for (group, resource, namespace, why), rights in groupby(sorted(missing, key=key), key):
        verbs = ", ".join(right.verb for right in rights)
        where = f" in namespace {namespace}" if namespace else ""
        what = f"may not {verbs} {resource}{f'.{group}' if group else ''}{where} (needed by {why})"
        rule = f'{{apiGroups: ["{group}"], resources: [{resource}], verbs: [{verbs}]}}'
        yield fail("rights", what, f"{ROLES} {rule}")

"""Leases and lease candidates (coordination.k8s.io), for leader election.

From JSON documents to frozen structs and back; see `meta` for the conventions. Times of leases carry microseconds on
the wire, always six digits: `codec.encode` writes them.
"""

from kubesched.api.meta import ApiObject, ApiStruct, Int32, Timestamp


class LeaseSpec(ApiStruct, frozen=True):
    """spec of a lease: its holder, times and duration."""

    holder_identity: str | None = None
    lease_duration_seconds: Int32 | None = None
    acquire_time: Timestamp | None = None
    renew_time: Timestamp | None = None
    lease_transitions: Int32 | None = None
    strategy: str | None = None
    preferred_holder: str | None = None


class Lease(ApiObject, frozen=True):
    """A lease."""

    spec: LeaseSpec = LeaseSpec()


class LeaseCandidateSpec(ApiStruct, frozen=True):
    """spec of a lease candidate: the lease, and the candidate's versions."""

    lease_name: str = ""
    ping_time: Timestamp | None = None
    renew_time: Timestamp | None = None
    binary_version: str = ""
    emulation_version: str = ""
    strategy: str = ""


class LeaseCandidate(ApiObject, frozen=True):
    """A candidate in coordinated leader election."""

    spec: LeaseCandidateSpec = LeaseCandidateSpec()

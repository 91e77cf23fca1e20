"""Leases, and the candidates for them."""

# upstream: api/coordination/{v1,v1beta1}/types.go (v1.36)

LEASES = """
string: CoordinatedLeaseStrategy

Lease kind: spec=2 LeaseSpec
LeaseSpec: holderIdentity=1 *string, leaseDurationSeconds=2 *int32 min(1 must be greater than 0)
    acquireTime=3 *MicroTime, renewTime=4 *MicroTime
    leaseTransitions=5 *int32 min(0), strategy=6 *CoordinatedLeaseStrategy, preferredHolder=7 *string
"""

CANDIDATES = """
LeaseCandidate kind: spec=2 LeaseCandidateSpec required
LeaseCandidateSpec: leaseName=1! string nonempty immutable, pingTime=2 *MicroTime, renewTime=3 *MicroTime
    binaryVersion=4! string nonempty format(semver)
    emulationVersion=5 string format(semver)
    strategy=6 coordination.k8s.io/v1.CoordinatedLeaseStrategy required
"""

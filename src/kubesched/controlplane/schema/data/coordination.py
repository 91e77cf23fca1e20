"""Leases, and the candidates for them."""

# upstream: api/coordination/{v1,v1beta1}/types.go (v1.36)

LEASES = """
string: CoordinatedLeaseStrategy

Lease kind: spec LeaseSpec
LeaseSpec: holderIdentity *string, leaseDurationSeconds *int32, acquireTime *MicroTime, renewTime *MicroTime
    leaseTransitions *int32, strategy *CoordinatedLeaseStrategy, preferredHolder *string
"""

CANDIDATES = """
LeaseCandidate kind: spec LeaseCandidateSpec required
LeaseCandidateSpec: leaseName!, pingTime *MicroTime, renewTime *MicroTime, binaryVersion!, emulationVersion
    strategy coordination.k8s.io/v1.CoordinatedLeaseStrategy required
"""

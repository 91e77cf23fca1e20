"""Requests for certificates."""

# upstream: api/certificates/v1/types.go (v1.36)

TYPES = """
string: KeyUsage, RequestConditionType

CertificateSigningRequest kind: spec=2! CertificateSigningRequestSpec, status=3 CertificateSigningRequestStatus
CertificateSigningRequestSpec: request=1! bytes, signerName=7!, expirationSeconds=8 *int32, usages=5 []KeyUsage atomic
    username=2, uid=3, groups=4 []string atomic, extra=6 map[string]ExtraValue
ExtraValue = []string
CertificateSigningRequestStatus: conditions=1 []CertificateSigningRequestCondition map(type), certificate=2 bytes
CertificateSigningRequestCondition: type=1! RequestConditionType, status=6! ConditionStatus, reason=2, message=3
    lastUpdateTime=4 Time, lastTransitionTime=5 Time
"""

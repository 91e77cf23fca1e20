"""Requests for certificates."""

# upstream: api/certificates/v1/types.go (v1.36)

TYPES = """
string: KeyUsage, RequestConditionType

CertificateSigningRequest kind: spec! CertificateSigningRequestSpec, status CertificateSigningRequestStatus
CertificateSigningRequestSpec: request! bytes, signerName!, expirationSeconds *int32, usages []KeyUsage atomic
    username, uid, groups []string atomic, extra map[string]ExtraValue
ExtraValue = []string
CertificateSigningRequestStatus: conditions []CertificateSigningRequestCondition map(type), certificate bytes
CertificateSigningRequestCondition: type! RequestConditionType, status! ConditionStatus, reason, message
    lastUpdateTime Time, lastTransitionTime Time
"""

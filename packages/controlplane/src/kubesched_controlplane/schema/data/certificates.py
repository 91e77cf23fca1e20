"""Requests for certificates."""

# upstream: api/certificates/v1/types.go (v1.36)

TYPES = """
string: KeyUsage, RequestConditionType

CertificateSigningRequest kind: spec=2! CertificateSigningRequestSpec, status=3 CertificateSigningRequestStatus
CertificateSigningRequestSpec: request=1! bytes, signerName=7!
    expirationSeconds=8 *int32 min(600 may not specify a duration less than 600 seconds (10 minutes))
    usages=5 []KeyUsage atomic nonempty
        enum(any|cert sign|client auth|code signing|content commitment|crl sign|data encipherment|decipher only|
        digital signature|email protection|encipher only|ipsec end system|ipsec tunnel|ipsec user|key agreement|
        key encipherment|microsoft sgc|netscape sgc|ocsp signing|s/mime|server auth|signing|timestamping) unique
    username=2, uid=3, groups=4 []string atomic, extra=6 map[string]ExtraValue
ExtraValue = []string
CertificateSigningRequestStatus: conditions=1 []CertificateSigningRequestCondition map(type), certificate=2 bytes
CertificateSigningRequestCondition: type=1! RequestConditionType, status=6! ConditionStatus, reason=2, message=3
    lastUpdateTime=4 Time, lastTransitionTime=5 Time
"""

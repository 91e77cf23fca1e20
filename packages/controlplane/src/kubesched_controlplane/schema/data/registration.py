"""API services: who serves a version of a group."""

# upstream: kube-aggregator/pkg/apis/apiregistration/v1/types.go (v1.36)

TYPES = """
string: ConditionStatus, APIServiceConditionType

APIService kind: spec=2 APIServiceSpec, status=3 APIServiceStatus
APIServiceSpec: service=1 *ServiceReference, group=2 string format(subdomain), version=3
    insecureSkipTLSVerify=4 bool
    caBundle=5 bytes, groupPriorityMinimum=7! int32 range(1 20000 must be positive and less than 20000)
    versionPriority=8! int32 range(1 1000 must be positive and less than 1000)
ServiceReference: namespace=1 string nonempty, name=2 string nonempty
    port=3 *int32 default(443) range(1 65535 port is not valid: must be between 1 and 65535, inclusive)
APIServiceStatus: conditions=1 []APIServiceCondition by(type)
APIServiceCondition: type=1! APIServiceConditionType, status=2! ConditionStatus enum(True|False|Unknown)
    lastTransitionTime=3 Time, reason=4
    message=5
"""

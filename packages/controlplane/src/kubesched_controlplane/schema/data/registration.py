"""API services: who serves a version of a group."""

# upstream: kube-aggregator/pkg/apis/apiregistration/v1/types.go (v1.36)

TYPES = """
string: ConditionStatus, APIServiceConditionType

APIService kind: spec=2 APIServiceSpec, status=3 APIServiceStatus
APIServiceSpec: service=1 *ServiceReference, group=2, version=3, insecureSkipTLSVerify=4 bool, caBundle=5 bytes
    groupPriorityMinimum=7! int32, versionPriority=8! int32
ServiceReference: namespace=1, name=2, port=3 *int32
APIServiceStatus: conditions=1 []APIServiceCondition by(type)
APIServiceCondition: type=1! APIServiceConditionType, status=2! ConditionStatus, lastTransitionTime=3 Time, reason=4
    message=5
"""

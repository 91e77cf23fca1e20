"""API services: who serves a version of a group."""

# upstream: kube-aggregator/pkg/apis/apiregistration/v1/types.go (v1.36)

TYPES = """
string: ConditionStatus, APIServiceConditionType

APIService kind: spec APIServiceSpec, status APIServiceStatus
APIServiceSpec: service *ServiceReference, group, version, insecureSkipTLSVerify bool, caBundle bytes
    groupPriorityMinimum! int32, versionPriority! int32
ServiceReference: namespace, name, port *int32
APIServiceStatus: conditions []APIServiceCondition by(type)
APIServiceCondition: type! APIServiceConditionType, status! ConditionStatus, lastTransitionTime Time, reason, message
"""

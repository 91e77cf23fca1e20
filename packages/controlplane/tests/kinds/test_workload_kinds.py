"""Workloads, their limits, and what is kept beside them: what is filled in, what is refused, what may not change.

The texts are those of kube-apiserver v1.36.4, all of each.
"""

from typing import Any

import pytest
from tests.support.good_objects import an_api, found_at, good, path_of, put

DEFAULTS: list[tuple[str, str, Any]] = [
    (
        "Deployment",
        "spec|strategy",
        {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
    ),
    ("Deployment", "spec|progressDeadlineSeconds", 600),
    ("Deployment", "spec|revisionHistoryLimit", 10),
    ("Deployment", "metadata|generation", 1),
    (
        "DaemonSet",
        "spec|updateStrategy",
        {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
    ),
    ("DaemonSet", "metadata|annotations", {"deprecated.daemonset.template.generation": "1"}),
    (
        "DaemonSet",
        "status",
        {"currentNumberScheduled": 0, "desiredNumberScheduled": 0, "numberMisscheduled": 0, "numberReady": 0},
    ),
    ("PodTemplate", "template|spec|dnsPolicy", "ClusterFirst"),
    ("Job", "spec|backoffLimit", 2**31 - 1),
    ("Job", "spec|podReplacementPolicy", "Failed"),
    ("Job", "spec|suspend", False),
    ("Job", "spec|template|metadata|labels|job-name", "a"),
    ("CronJob", "spec|concurrencyPolicy", "Allow"),
    ("CronJob", "spec|successfulJobsHistoryLimit", 3),
    ("CronJob", "spec|failedJobsHistoryLimit", 1),
    ("LimitRange", "spec|limits|0|defaultRequest", {"cpu": "1"}),
    ("HorizontalPodAutoscaler", "spec|minReplicas", 1),
    ("HorizontalPodAutoscaler", "spec|behavior|scaleUp|selectPolicy", "Max"),
    ("NetworkPolicy", "spec|policyTypes", ["Ingress", "Egress"]),
    ("NetworkPolicy", "spec|ingress|0|ports|0|protocol", "TCP"),
    ("IngressClass", "spec|parameters|scope", "Cluster"),
]


@pytest.mark.parametrize(("kind", "path", "expected"), DEFAULTS)
def test_what_is_filled_in(kind: str, path: str, expected: Any) -> None:
    assert found_at(an_api().ok("POST", path_of(kind), good(kind)), path) == expected


REFUSALS: list[tuple[str, str, Any, str]] = [
    (
        "Deployment",
        "spec|strategy|rollingUpdate",
        {"maxUnavailable": "half"},
        (
            'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "half": a valid percent string must '
            "be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation "
            "is '[0-9]+%')"
        ),
    ),
    (
        "DaemonSet",
        "spec|template|spec|activeDeadlineSeconds",
        5,
        ("spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported"),
    ),
    (
        "Job",
        "spec|successPolicy|rules|0|succeededIndexes",
        "2-1",
        (
            '[spec.successPolicy.rules[0].succeededIndexes: Invalid value: "2-1": error parsing '
            "succeededIndexes: non-increasing order, previous: 2, current: 1, "
            "spec.successPolicy.rules[0].succeededCount: Invalid value: 1: must be less than or equal to 0 "
            "(the number of indexes in the specified succeededIndexes field)]"
        ),
    ),
    (
        "CronJob",
        "spec|schedule",
        "* * * *",
        ('spec.schedule: Invalid value: "* * * *": expected exactly 5 fields, found 4: [* * * *]'),
    ),
    (
        "CronJob",
        "spec|schedule",
        "TZ=UTC * * * * *",
        (
            'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use '
            "timeZone field instead"
        ),
    ),
    (
        "CronJob",
        "spec|timeZone",
        "Local",
        (
            'spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in '
            "https://www.iana.org/time-zones"
        ),
    ),
    (
        "CronJob",
        "spec|timeZone",
        "Mars/Base",
        ('spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base'),
    ),
    (
        "CronJob",
        "spec|jobTemplate|spec|manualSelector",
        True,
        ('spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"'),
    ),
    (
        "ResourceQuota",
        "spec|hard|pods",
        "-1",
        ('spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0'),
    ),
    ("ResourceQuota", "spec|hard|pods", "1500m", 'spec.hard[pods]: Invalid value: "1500m": must be an integer'),
    (
        "ResourceQuota",
        "spec|hard|cats",
        "1",
        (
            '[spec.hard[cats]: Invalid value: "cats": must be a standard resource type or fully qualified, '
            'spec.hard[cats]: Invalid value: "cats": must be a standard resource for quota]'
        ),
    ),
    (
        "ResourceQuota",
        "spec|scopes",
        ["Terminating", "NotTerminating"],
        ('spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes'),
    ),
    (
        "ResourceQuota",
        "spec|scopes",
        ["BestEffort"],
        ('spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'),
    ),
    (
        "LimitRange",
        "spec|limits|0|min|cpu",
        "3",
        (
            '[spec.limits[0].min[cpu]: Invalid value: "3": min value 3 is greater than max value 2, '
            'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 3 is greater than default '
            'request value 1, spec.limits[0].default[cpu]: Invalid value: "3": min value 3 is greater than '
            'default value 1, spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "10": ratio 10 is '
            "greater than max/min = 0.666667]"
        ),
    ),
    (
        "LimitRange",
        "spec|limits|0|default|cpu",
        "3",
        (
            '[spec.limits[0].defaultRequest[cpu]: Invalid value: "3": default request value 3 is greater '
            'than max value 2, spec.limits[0].default[cpu]: Invalid value: "2": default value 3 is greater '
            "than max value 2]"
        ),
    ),
    (
        "LimitRange",
        "spec|limits|0|defaultRequest",
        {"cpu": "1500m"},
        (
            'spec.limits[0].defaultRequest[cpu]: Invalid value: "1500m": default request value 1500m is '
            "greater than default limit value 1"
        ),
    ),
    (
        "LimitRange",
        "spec|limits|0|maxLimitRequestRatio|cpu",
        "500m",
        ('spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1'),
    ),
    (
        "LimitRange",
        "spec|limits|0|maxLimitRequestRatio|cpu",
        "30",
        ('spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "30": ratio 30 is greater than max/min = 20.000000'),
    ),
    (
        "LimitRange",
        "spec|limits|0|type",
        "Pod",
        ("spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"),
    ),
    (
        "LimitRange",
        "spec|limits|1|type",
        "Container",
        (
            '[spec.limits[1].type: Duplicate value: "Container", spec.limits[1].max[storage]: Invalid value: '
            '"storage": must be a standard resource for containers, spec.limits[1].default[storage]: Invalid '
            'value: "storage": must be a standard resource for containers, '
            'spec.limits[1].defaultRequest[storage]: Invalid value: "storage": must be a standard resource '
            "for containers]"
        ),
    ),
    (
        "HorizontalPodAutoscaler",
        "spec|minReplicas",
        0,
        (
            "[spec.minReplicas: Invalid value: 0: must be greater than or equal to 1, spec.metrics: "
            "Forbidden: must specify at least one Object or External metric to support scaling to zero "
            "replicas]"
        ),
    ),
    (
        "HorizontalPodAutoscaler",
        "spec|metrics|0|pods|target|averageValue",
        "-1",
        ('spec.metrics[0].pods.target.averageValue: Invalid value: "-1": must be positive'),
    ),
    (
        "HorizontalPodAutoscaler",
        "spec|behavior|scaleDown|stabilizationWindowSeconds",
        9999,
        ("spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 9999: must be less than or equal to 3600"),
    ),
    (
        "RuntimeClass",
        "overhead|podFixed|cpu",
        "-1",
        ('overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'),
    ),
    (
        "IngressClass",
        "spec|parameters|scope",
        "World",
        ('spec.parameters.scope: Unsupported value: "World": supported values: "Cluster", "Namespace"'),
    ),
    (
        "NetworkPolicy",
        "spec|egress|0|to|0|ipBlock|cidr",
        "10.0.0.0",
        (
            'spec.egress[0].to[0].ipBlock.cidr: Invalid value: "10.0.0.0": must be a valid CIDR value, (e.g. '
            "10.9.8.0/24 or 2001:db8::/64)"
        ),
    ),
    (
        "NetworkPolicy",
        "spec|egress|0|to|0|ipBlock|except",
        ["11.0.0.0/16"],
        ('spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`'),
    ),
]


SETTLED: list[tuple[str, str, Any, str]] = [
    (
        "CronJob",
        "spec|timeZone",
        "Mars/Base",
        ('spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base'),
    ),
]


@pytest.mark.parametrize(("kind", "path", "value", "message"), REFUSALS)
def test_what_is_refused(kind: str, path: str, value: Any, message: str) -> None:
    document = put(good(kind), path, value)
    name = document["metadata"]["name"]
    code, reason, text = an_api().refused("POST", path_of(kind), document)
    assert (code, reason) == (422, "Invalid"), text
    assert text.partition(f'"{name}" is invalid: ')[2] == message


@pytest.mark.parametrize(("kind", "path", "value", "message"), SETTLED)
def test_what_may_not_change(kind: str, path: str, value: Any, message: str) -> None:
    asking = an_api()
    made = asking.ok("POST", path_of(kind), good(kind))
    code, reason, text = asking.refused("PUT", path_of(kind, "a"), put(made, path, value))
    assert (code, reason) == (422, "Invalid"), text
    assert text.partition('"a" is invalid: ')[2] == message

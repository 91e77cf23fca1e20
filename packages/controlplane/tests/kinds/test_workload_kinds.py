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
    ("Deployment", "spec|replicas", -1, ("spec.replicas: Invalid value: -1: must be greater than or equal to 0")),
    ("Deployment", "spec|selector", {}, ("spec.selector: Invalid value: {}: empty selector is invalid for deployment")),
    (
        "Deployment",
        "spec|selector|matchLabels",
        {"app": "db"},
        ('spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`'),
    ),
    (
        "Deployment",
        "spec|strategy",
        {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}},
        ("spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"),
    ),
    (
        "Deployment",
        "spec|strategy|rollingUpdate",
        {"maxSurge": 0, "maxUnavailable": 0},
        ("spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"),
    ),
    (
        "Deployment",
        "spec|strategy|rollingUpdate",
        {"maxUnavailable": "150%"},
        ('spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "150%": must not be greater than 100%'),
    ),
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
        "Deployment",
        "spec|progressDeadlineSeconds",
        0,
        ("spec.progressDeadlineSeconds: Invalid value: 0: must be greater than minReadySeconds"),
    ),
    (
        "Deployment",
        "spec|template|spec|restartPolicy",
        "Never",
        ('spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'),
    ),
    (
        "Deployment",
        "spec|template|spec|containers|0|image",
        "",
        "spec.template.spec.containers[0].image: Required value",
    ),
    (
        "Deployment",
        "spec|revisionHistoryLimit",
        -1,
        ("spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0"),
    ),
    (
        "DaemonSet",
        "spec|selector|matchLabels",
        {"app": "db"},
        ('spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`'),
    ),
    (
        "DaemonSet",
        "spec|updateStrategy|rollingUpdate",
        {"maxUnavailable": 0},
        ("spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"),
    ),
    (
        "DaemonSet",
        "spec|updateStrategy|rollingUpdate",
        {"maxUnavailable": 1, "maxSurge": 1},
        (
            "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when "
            "maxUnavailable is non-zero"
        ),
    ),
    (
        "DaemonSet",
        "spec|template|spec|activeDeadlineSeconds",
        5,
        ("spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported"),
    ),
    ("ControllerRevision", "revision", -1, ("revision: Invalid value: -1: must be greater than or equal to 0")),
    ("ControllerRevision", "data", ..., "data: Required value: data is mandatory"),
    ("PodTemplate", "template|spec|containers", [], "template.spec.containers: Required value"),
    (
        "Job",
        "spec|template|spec|restartPolicy",
        "Always",
        ('spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'),
    ),
    (
        "Job",
        "spec|template|spec|restartPolicy",
        "OnFailure",
        (
            'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when '
            "podFailurePolicy is specified"
        ),
    ),
    ("Job", "spec|backoffLimit", -1, ("spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0")),
    (
        "Job",
        "spec|activeDeadlineSeconds",
        -1,
        ("spec.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0"),
    ),
    (
        "Job",
        "spec|podFailurePolicy|rules|0|onExitCodes|values",
        [0],
        ("spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator"),
    ),
    (
        "Job",
        "spec|podFailurePolicy|rules|0|onExitCodes|values",
        [3, 3],
        ("spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Duplicate value: 3"),
    ),
    (
        "Job",
        "spec|podFailurePolicy|rules|0|action",
        "Wait",
        (
            'spec.podFailurePolicy.rules[0].action: Unsupported value: "Wait": supported values: "Count", '
            '"FailIndex", "FailJob", "Ignore"'
        ),
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
        "Job",
        "spec|successPolicy|rules|0|succeededCount",
        9,
        (
            "[spec.successPolicy.rules[0].succeededCount: Invalid value: 9: must be less than or equal to 3 "
            "(the number of specified completions), spec.successPolicy.rules[0].succeededCount: Invalid "
            "value: 9: must be less than or equal to 2 (the number of indexes in the specified "
            "succeededIndexes field)]"
        ),
    ),
    (
        "Job",
        "spec|maxFailedIndexes",
        9,
        ("spec.maxFailedIndexes: Invalid value: 9: must be less than or equal to completions"),
    ),
    (
        "Job",
        "spec|managedBy",
        "me",
        ('spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'),
    ),
    (
        "CronJob",
        "spec|schedule",
        "* * * *",
        ('spec.schedule: Invalid value: "* * * *": expected exactly 5 fields, found 4: [* * * *]'),
    ),
    ("CronJob", "spec|schedule", "", "spec.schedule: Required value"),
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
        "spec|concurrencyPolicy",
        "Maybe",
        ('spec.concurrencyPolicy: Unsupported value: "Maybe": supported values: "Allow", "Forbid", "Replace"'),
    ),
    (
        "CronJob",
        "spec|startingDeadlineSeconds",
        -1,
        ("spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0"),
    ),
    (
        "CronJob",
        "spec|jobTemplate|spec|manualSelector",
        True,
        ('spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"'),
    ),
    (
        "CronJob",
        "metadata|name",
        "a" * 53,
        (
            'metadata.name: Invalid value: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": must be '
            "no more than 52 characters"
        ),
    ),
    (
        "CronJob",
        "spec|jobTemplate|spec|template|spec|restartPolicy",
        "Always",
        ('spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'),
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
    ("ResourceQuota", "spec|scopes", ["Odd"], 'spec.scopes: Invalid value: ["Odd"]: unsupported scope'),
    (
        "ResourceQuota",
        "spec|scopes",
        ["BestEffort"],
        ('spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'),
    ),
    (
        "ResourceQuota",
        "spec|scopeSelector|matchExpressions|0|operator",
        "Near",
        ('spec.scopeSelector.matchExpressions.operator: Invalid value: "Near": not a valid selector operator'),
    ),
    (
        "ResourceQuota",
        "spec|scopeSelector|matchExpressions|0|values",
        [],
        (
            "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when "
            "`operator` is 'In' or 'NotIn' for scope selector"
        ),
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
        "spec|limits|1|max",
        {},
        (
            "spec.limits[1].limits: Required value: either minimum or maximum storage value is required, but "
            "neither was provided"
        ),
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
        "LimitRange",
        "spec|limits|0|type",
        "Odd",
        ('spec.limits[0].type: Invalid value: "Odd": must be a standard limit type or fully qualified'),
    ),
    (
        "HorizontalPodAutoscaler",
        "spec|maxReplicas",
        0,
        (
            "[spec.maxReplicas: Required value: must be set and greater than 0, spec.maxReplicas: Invalid "
            "value: 0: must be greater than or equal to `minReplicas`]"
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
        "spec|minReplicas",
        9,
        ("spec.maxReplicas: Invalid value: 5: must be greater than or equal to `minReplicas`"),
    ),
    ("HorizontalPodAutoscaler", "spec|scaleTargetRef|kind", "", "spec.scaleTargetRef.kind: Required value"),
    (
        "HorizontalPodAutoscaler",
        "spec|metrics|0|pods|target|averageValue",
        "-1",
        ('spec.metrics[0].pods.target.averageValue: Invalid value: "-1": must be positive'),
    ),
    (
        "HorizontalPodAutoscaler",
        "spec|metrics|0|type",
        "Odd",
        (
            'spec.metrics[0].type: Unsupported value: "Odd": supported values: "ContainerResource", '
            '"External", "Object", "Pods", "Resource"'
        ),
    ),
    (
        "HorizontalPodAutoscaler",
        "spec|behavior|scaleDown|stabilizationWindowSeconds",
        9999,
        ("spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 9999: must be less than or equal to 3600"),
    ),
    (
        "RuntimeClass",
        "handler",
        "Big",
        (
            'handler: Invalid value: "Big": a lowercase RFC 1123 label must consist of lower case '
            "alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. "
            "'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
        ),
    ),
    (
        "RuntimeClass",
        "overhead|podFixed|cpu",
        "-1",
        ('overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'),
    ),
    (
        "RuntimeClass",
        "scheduling|nodeSelector",
        {"a": "-"},
        (
            'scheduling.nodeSelector: Invalid value: "-": a valid label must be an empty string or consist '
            "of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
            "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
            "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        ),
    ),
    (
        "Ingress",
        "spec|rules|0|host",
        "*",
        (
            "spec.rules[0].host: Invalid value: \"*\": a wildcard DNS-1123 subdomain must start with '*.', "
            "followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, "
            "'-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for "
            "validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        ),
    ),
    (
        "Ingress",
        "spec|rules|0|http|paths|0|path",
        "a",
        ('spec.rules[0].http.paths[0].path: Invalid value: "a": must be an absolute path'),
    ),
    (
        "Ingress",
        "spec|rules|0|http|paths|0|pathType",
        "Odd",
        (
            'spec.rules[0].http.paths[0].pathType: Unsupported value: "Odd": supported values: "Exact", '
            '"ImplementationSpecific", "Prefix"'
        ),
    ),
    (
        "Ingress",
        "spec|rules|0|http|paths|0|backend",
        {},
        ('spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required'),
    ),
    (
        "IngressClass",
        "spec|controller",
        "me",
        ('spec.controller: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'),
    ),
    (
        "IngressClass",
        "spec|parameters|scope",
        "World",
        ('spec.parameters.scope: Unsupported value: "World": supported values: "Cluster", "Namespace"'),
    ),
    (
        "NetworkPolicy",
        "spec|policyTypes",
        ["Odd"],
        ('spec.policyTypes[0]: Unsupported value: "Odd": supported values: "Ingress", "Egress"'),
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
    (
        "NetworkPolicy",
        "spec|ingress|0|ports|0|endPort",
        70,
        ("spec.ingress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`"),
    ),
    ("NetworkPolicy", "spec|ingress|0|from|0", {}, ("spec.ingress[0].from[0]: Required value: must specify a peer")),
]


SETTLED: list[tuple[str, str, Any, str]] = [
    (
        "Deployment",
        "spec|selector|matchLabels",
        {"app": "web", "a": "b"},
        (
            '[spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match '
            'template `labels`, spec.selector: Invalid value: {"matchLabels":{"a":"b","app":"web"}}: field '
            "is immutable]"
        ),
    ),
    ("ControllerRevision", "data", {"a": 1}, 'data: Invalid value: {"a":1}: field is immutable'),
    (
        "Job",
        "spec|completions",
        5,
        ("spec.completions: Invalid value: 5: can only be modified in tandem with spec.parallelism"),
    ),
    ("Job", "spec|backoffLimitPerIndex", 5, ("spec.backoffLimitPerIndex: Invalid value: 5: field is immutable")),
    ("Job", "spec|podFailurePolicy", ..., ("spec.podFailurePolicy: Invalid value: null: field is immutable")),
    ("Job", "spec|successPolicy", ..., "spec.successPolicy: Invalid value: null: field is immutable"),
    (
        "ResourceQuota",
        "spec|scopes",
        ["Terminating"],
        ('spec.scopes: Invalid value: ["Terminating"]: field is immutable'),
    ),
    ("RuntimeClass", "handler", "kata", 'handler: Invalid value: "kata": field is immutable'),
    (
        "IngressClass",
        "spec|controller",
        "example.com/out",
        ('spec.controller: Invalid value: "example.com/out": field is immutable'),
    ),
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

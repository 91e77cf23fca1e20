"""Policies of v1.21 that cannot be translated: every problem is named, with its place and what to do."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.policies import a_policy, by_ratio, labelled, named, weighted

from kubesched.config.document import dump
from kubesched.config.errors import ConfigError
from kubesched.config.policy import translate, translate_provider
from kubesched.config.policy_names import PREDICATES


def problems(text: str | bytes) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        translate(text)
    return caught.value.errors


TAINTED = "the node controller taints such nodes and taints are always checked; remove it"
RATIO_PATH = "priorities[0].argument.requestedToCapacityRatioArguments"
REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "an unknown predicate": (
        {"predicates": named("HostName", "PodFits")},
        [f'predicates[1]: there is no predicate "PodFits"; there are {", ".join(sorted(PREDICATES))}'],
    ),
    "an unknown priority": (
        {"priorities": weighted(Best=1)},
        [
            'priorities[0]: there is no priority "Best"; there are BalancedResourceAllocation, EqualPriority, '
            "EvenPodsSpreadPriority, ImageLocalityPriority, InterPodAffinityPriority, LeastRequestedPriority, "
            "MostRequestedPriority, NodeAffinityPriority, RequestedToCapacityRatioPriority, SelectorSpreadPriority, "
            "TaintTolerationPriority"
        ],
    ),
    "names are matched by case": (
        {"predicates": named("hostname")},
        [f'predicates[0]: there is no predicate "hostname"; there are {", ".join(sorted(PREDICATES))}'],
    ),
    "a predicate of an older release": (
        {"predicates": named("CheckNodeMemoryPressure")},
        [f'predicates[0]: "CheckNodeMemoryPressure" has no equivalent; {TAINTED}'],
    ),
    "affinity to the pods of a service": (
        {"predicates": [{"name": "Region", "argument": {"serviceAffinity": {"labels": ["region"]}}}]},
        [
            'predicates[0]: serviceAffinity of "Region" has no equivalent; give the pods required pod affinity with '
            "the label as its topologyKey"
        ],
    ),
    "spreading the pods of a service": (
        {"priorities": [{"name": "Zone", "weight": 1, "argument": {"serviceAntiAffinity": {"label": "zone"}}}]},
        [
            'priorities[0]: serviceAntiAffinity of "Zone" has no equivalent; list the label as topologyKey in '
            "PodTopologySpread's defaultConstraints"
        ],
    ),
    "a preferred label": (
        {"priorities": [{"name": "Ssd", "weight": 1, "argument": {"labelPreference": {"label": "ssd"}}}]},
        [
            'priorities[0]: labelPreference of "Ssd" has no equivalent; describe the nodes in NodeAffinity\'s '
            "addedAffinity, as preferred"
        ],
    ),
    "the two predicates that did nothing under their own names": (
        {"predicates": [labelled("CheckNodeLabelPresence", "a"), *named("CheckServiceAffinity")]},
        [
            'predicates[0]: "CheckNodeLabelPresence" has no equivalent; v1.21 checked no label under this name; give '
            "the predicate a name of its own with the argument labelsPresence, or describe the nodes in NodeAffinity's "
            "addedAffinity",
            'predicates[1]: "CheckServiceAffinity" has no equivalent; give the pods required pod affinity with the '
            "label as its topologyKey",
        ],
    ),
    "avoiding pods, where it is named": (
        {"priorities": weighted(NodePreferAvoidPodsPriority=10000)},
        [
            'priorities[0]: "NodePreferAvoidPodsPriority" has no equivalent; taint the nodes with the effect '
            "PreferNoSchedule"
        ],
    ),
    "several ways to score the use of resources": (
        {"priorities": [*weighted(MostRequestedPriority=1, LeastRequestedPriority=2), by_ratio("Pack")]},
        [
            'priorities: "LeastRequestedPriority", "MostRequestedPriority", "Pack" have no equivalent together; keep '
            "one of them"
        ],
    ),
    "two ratios": (
        {"priorities": [by_ratio("A"), by_ratio("B")]},
        ['priorities[1]: "B" and "A" have requestedToCapacityRatioArguments; keep one'],
    ),
    "a ratio without arguments": (
        {"priorities": weighted(RequestedToCapacityRatioPriority=1)},
        [
            'priorities[0].argument: Required value: "RequestedToCapacityRatioPriority" needs '
            "requestedToCapacityRatioArguments"
        ],
    ),
    "a ratio with a bad shape and weight": (
        {
            "priorities": [
                by_ratio(shape=[{"utilization": 50, "score": 11}], resources=[{"name": "cpu", "weight": 101}]),
            ]
        },
        [
            f"{RATIO_PATH}.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range (0, 100]",
            f"{RATIO_PATH}.shape[0].score: Invalid value: 11: not in valid range [0, 10]",
        ],
    ),
    "a ratio without a shape": (
        {"priorities": [by_ratio(shape=[])]},
        [f"{RATIO_PATH}.shape: Required value: at least one point must be specified"],
    ),
    "a predicate twice": (
        {"predicates": named("HostName", "PodFitsPorts", "HostName", "PodFitsHostPorts")},
        [
            'predicates[2]: "HostName" is the same as predicates[0]; keep one',
            'predicates[3]: "PodFitsHostPorts" is the same as predicates[1]; keep one',
        ],
    ),
    "a priority twice": (
        {"priorities": weighted(ServiceSpreadingPriority=1, SelectorSpreadPriority=2)},
        ['priorities[1]: "SelectorSpreadPriority" is the same as priorities[0]; keep one'],
    ),
    "weights out of range": (
        {"priorities": weighted(ImageLocalityPriority=-1, NodeAffinityPriority=2**31, EqualPriority=0)},
        [
            f'priorities[{index}].weight: Invalid value: {weight}: the weight of "{name}" must be from 1 to 2147483647'
            for index, (name, weight) in enumerate(
                {"ImageLocalityPriority": -1, "NodeAffinityPriority": 2**31, "EqualPriority": 0}.items()
            )
        ],
    ),
    "a weight that no number type holds": (
        {"priorities": weighted(ImageLocalityPriority=2**63)},
        ["priorities[0].weight: number 9223372036854775808 is out of range for int64"],
    ),
    "no weight": (
        {"priorities": named("ImageLocalityPriority")},
        [
            'priorities[0].weight: Invalid value: 0: the weight of "ImageLocalityPriority" must be from 1 to '
            "2147483647",
        ],
    ),
    "no name": (
        {"predicates": [{}], "priorities": [None]},
        ["predicates[0].name: Required value", "priorities[0].name: Required value"],
    ),
    "an argument where none belongs": (
        {
            "predicates": [labelled("HostName", "a")],
            "priorities": [by_ratio("MostRequestedPriority"), by_ratio("EqualPriority")],
        },
        [
            'predicates[0].argument: "HostName" takes none; remove it',
            'priorities[0].argument: "MostRequestedPriority" takes none; remove it',
            'priorities[1].argument: "EqualPriority" takes none; remove it',
        ],
    ),
    "an argument with nothing or too much": (
        {
            "predicates": [
                {"name": "A", "argument": {}},
                {"name": "B", "argument": {"labelsPresence": {"labels": ["b"]}, "serviceAffinity": {}}},
                {"name": "C", "argument": {"labelsPresence": {"labels": ["c"]}, "serviceAffinity": None}},
                *named("MatchNodeSelector"),
            ],
            "priorities": [{"name": "C", "weight": 1, "argument": {}}],
        },
        [
            "predicates[0].argument: must have exactly one of serviceAffinity, labelsPresence, and has 0",
            "predicates[1].argument: must have exactly one of serviceAffinity, labelsPresence, and has 2",
            "priorities[0].argument: must have exactly one of serviceAntiAffinity, labelPreference, "
            "requestedToCapacityRatioArguments, and has 0",
        ],
    ),
    "labels without the check they go with": (
        {"predicates": [labelled("InRack", "rack")]},
        [
            "predicates: labelsPresence becomes NodeAffinity's addedAffinity, which goes with checking the node "
            "selectors of pods; add MatchNodeSelector"
        ],
    ),
    "labels that contradict each other": (
        {"predicates": [*named("MatchNodeSelector"), labelled("A", "a"), labelled("B", "b", "a", presence=False)]},
        ['predicates[2].argument.labelsPresence.labels[1]: Invalid value: "a": cannot be both present and absent'],
    ),
    "no labels": (
        {"predicates": [*named("MatchNodeSelector"), labelled("A")]},
        ["predicates[1].argument.labelsPresence.labels: Required value: name the labels, or remove the predicate"],
    ),
    "hard affinity out of range": (
        {"hardPodAffinitySymmetricWeight": 101},
        ["hardPodAffinitySymmetricWeight: Invalid value: 101: must be from 1 to 100, or 0 for the default"],
    ),
    "unknown fields at every level": (
        {
            "Predicates": [],
            "predicates": [{"name": "A", "arguments": {}}],
            "extenders": [{"urlPrefix": "http://a", "filterVerbs": "filter", "tlsConfig": {"key": "x"}}],
        },
        [
            'unknown field "Predicates"',
            'unknown field "predicates[0].arguments"',
            'unknown field "extenders[0].filterVerbs"',
            'unknown field "extenders[0].tlsConfig.key"',
        ],
    ),
    "values of the wrong type": (
        {"predicates": {}, "priorities": [{"name": "A", "weight": "1"}], "alwaysCheckAllPredicates": "yes"},
        [
            "predicates: cannot use object as array",
            'priorities[0].weight: cannot use string "1" as int64',
            'alwaysCheckAllPredicates: cannot use string "yes" as bool',
        ],
    ),
    "the timeout of an extender as a text": (
        {"extenders": [{"urlPrefix": "http://a", "httpTimeout": "5s"}]},
        ['extenders[0].httpTimeout: cannot use string "5s" as whole nanoseconds (5000000000 are 5s)'],
    ),
    "the timeout of an extender beyond all time": (
        {"extenders": [{"urlPrefix": "http://a", "httpTimeout": 2**63}]},
        [f"extenders[0].httpTimeout: {2**63} nanoseconds are out of range"],
    ),
    "a field of an extender twice": (
        {"extenders": [{"urlPrefix": "http://a", "bindVerb": "a", "BindVerb": "b"}]},
        ["extenders[0].BindVerb: is given twice, in different case; keep one"],
    ),
    "extenders that do not fit together": (
        {
            "extenders": [
                {"urlPrefix": "http://a", "prioritizeVerb": "p", "bindVerb": "b"},
                {"urlPrefix": "http://b", "bindVerb": "b", "managedResources": [{"name": "cpu"}]},
            ]
        },
        [
            'extenders: Invalid value: "found 2 extenders implementing bind": only one extender can implement bind',
            "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it",
            'extenders[1].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource name',
        ],
    ),
}


@pytest.mark.parametrize(("fields", "expected"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_translated_is_named(fields: dict[str, Any], expected: list[str]) -> None:
    assert problems(a_policy(**fields)) == tuple(expected)


def test_a_label_that_is_none_is_refused_under_its_place() -> None:
    (problem,) = problems(a_policy(predicates=[*named("MatchNodeSelector"), labelled("A", "ok", "not ok")]))
    assert problem.startswith('predicates[1].argument.labelsPresence.labels[1]: Invalid value: "not ok": ')


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the document is no object; expected kind "),
        ("[]", "the document is no object; expected kind "),
        ("kind: Policy", "Object 'apiVersion' is missing"),
        ("apiVersion: v1", "Object 'kind' is missing"),
        ("kind: Pod\napiVersion: v1", 'kind: "Pod" is not supported: expected "Policy"'),
        ("kind: Policy\napiVersion: v2", 'apiVersion: "v2" is not supported: expected "v1"'),
        ('{"kind": "Policy", "kind": "Policy"}', "yaml: line 1: "),
        ("{", "json: line 1"),
        (b"\xff", "not valid UTF-8: byte 0"),
    ],
)
def test_what_is_no_policy_is_refused(text: str | bytes, problem: str) -> None:
    assert problems(text)[0].startswith(problem)


def test_a_config_map_with_a_policy_is_read() -> None:
    policy = a_policy(predicates=[], priorities=[])
    meta = {"namespace": "kube-system", "name": "scheduler-policy"}
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
    assert translate(dump({**config_map, "data": {"policy.cfg": policy}})) == translate(policy)
    for data in ({}, {"data": None}, {"data": {"policy.json": policy}}, {"data": {"policy.cfg": 1}}):
        assert problems(dump({**config_map, **data})) == (
            'ConfigMap kube-system/scheduler-policy: no text under data["policy.cfg"]; the policy belongs there',
        )
    assert problems("kind: ConfigMap")[0].startswith("ConfigMap without a name: no text under data")
    assert problems(dump({**config_map, "data": {"policy.cfg": "{"}}))[0].startswith("json: line 1")


def test_an_unknown_provider_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError) as caught:
        translate_provider("Custom")
    assert caught.value.errors == (
        'there is no algorithm provider "Custom"; there are DefaultProvider and ClusterAutoscalerProvider',
    )

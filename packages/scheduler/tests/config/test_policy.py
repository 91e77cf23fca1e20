"""Policies of v1.21 and their providers: which plugins they become, and what is lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.policies import a_policy, by_ratio, labelled, named, weighted

from kubesched.config.document import parse
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.load import Loaded, load
from kubesched.config.policy import Migration, translate, translate_provider
from kubesched.config.policy_names import (
    CLOUD_VOLUME_PREDICATES,
    MANDATORY_PREDICATES,
    PREDICATES,
    PRIORITIES,
)

AVOID_PODS = "the annotation scheduler.alpha.kubernetes.io/preferAvoidPods has no effect"
OTHER_WEIGHTS = (
    "the default weights of v1.21 are kept; those of v1.36, with no configuration, are TaintToleration 3 instead of 1, "
    "NodeAffinity 2 instead of 1, InterPodAffinity 2 instead of 1"
)
# What the defaults of v1.36 have that no policy decides about.
KEPT = {
    "preEnqueue": ["SchedulingGates", "DynamicResources", "DefaultPreemption"],
    "queueSort": ["PrioritySort"],
    "preFilter": ["DynamicResources", "NodeDeclaredFeatures"],
    "filter": ["DynamicResources", "NodeDeclaredFeatures"],
    "postFilter": ["DynamicResources", "DefaultPreemption"],
    "reserve": ["DynamicResources"],
    "preBind": ["DynamicResources"],
    "bind": ["DefaultBinder"],
}


def loaded(migration: Migration) -> Loaded:
    return load(migration.config_text)


def at(migration: Migration, point: str) -> list[str]:
    return [plugin.name for plugin in loaded(migration).profiles[0].at(point)]


def filters(migration: Migration) -> list[str]:
    """Return what filters by the will of the policy."""
    return [name for name in at(migration, "filter") if name not in KEPT["filter"]]


def scores(migration: Migration) -> dict[str, int]:
    return {plugin.name: plugin.weight for plugin in loaded(migration).profiles[0].at("score")}


def args(migration: Migration, plugin: str) -> Any:
    return loaded(migration).profiles[0].args(plugin)


# --- names ------------------------------------------------------------------------------------------------------------

POLICIES: dict[str, tuple[dict[str, Any], list[str], dict[str, int]]] = {
    "the first example of the documentation": (
        {
            "predicates": named(
                "PodFitsHostPorts", "PodFitsResources", "NoDiskConflict", "NoVolumeZoneConflict", "MatchNodeSelector"
            )
            + named("HostName"),
            "priorities": weighted(
                LeastRequestedPriority=1, BalancedResourceAllocation=1, ServiceSpreadingPriority=1, EqualPriority=1
            ),
        },
        [
            "NodeUnschedulable",
            "NodeName",
            "NodePorts",
            "NodeAffinity",
            "NodeResourcesFit",
            "VolumeRestrictions",
            "TaintToleration",
            "VolumeZone",
        ],
        {"NodeResourcesBalancedAllocation": 1, "NodeResourcesFit": 1, "PodTopologySpread": 1},
    ),
    "everything that has an equivalent, in any order": (
        {
            "predicates": named(*reversed(PREDICATES)),
            "priorities": weighted(
                TaintTolerationPriority=3,
                SelectorSpreadPriority=4,
                NodeAffinityPriority=5,
                MostRequestedPriority=6,
                InterPodAffinityPriority=7,
                ImageLocalityPriority=8,
                EvenPodsSpreadPriority=4,
                BalancedResourceAllocation=9,
            ),
        },
        [
            "NodeUnschedulable",
            "NodeResourcesFit",
            "NodeName",
            "NodePorts",
            "NodeAffinity",
            "VolumeRestrictions",
            "TaintToleration",
            "NodeVolumeLimits",
            "VolumeBinding",
            "VolumeZone",
            "PodTopologySpread",
            "InterPodAffinity",
        ],
        {
            "NodeResourcesBalancedAllocation": 9,
            "PodTopologySpread": 4,
            "ImageLocality": 8,
            "InterPodAffinity": 7,
            "NodeResourcesFit": 6,
            "NodeAffinity": 5,
            "TaintToleration": 3,
        },
    ),
    "general predicates bring four plugins": (
        {"predicates": named("GeneralPredicates"), "priorities": []},
        ["NodeUnschedulable", "NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity", "TaintToleration"],
        {},
    ),
    "empty lists leave the mandatory predicates": (
        {"predicates": [], "priorities": []},
        ["NodeUnschedulable", "TaintToleration"],
        {},
    ),
    "the mandatory predicates may be named": (
        {"predicates": named("PodToleratesNodeTaints", "CheckNodeUnschedulable"), "priorities": []},
        ["NodeUnschedulable", "TaintToleration"],
        {},
    ),
    "ports under their older name": (
        {"predicates": named("PodFitsPorts"), "priorities": []},
        ["NodeUnschedulable", "NodePorts", "TaintToleration"],
        {},
    ),
    "absent lists are the defaults of v1.21": (
        {},
        [
            "NodeUnschedulable",
            "NodeResourcesFit",
            "NodeName",
            "NodePorts",
            "NodeAffinity",
            "VolumeRestrictions",
            "TaintToleration",
            "NodeVolumeLimits",
            "VolumeBinding",
            "VolumeZone",
            "PodTopologySpread",
            "InterPodAffinity",
        ],
        {
            "NodeResourcesBalancedAllocation": 1,
            "PodTopologySpread": 2,
            "ImageLocality": 1,
            "InterPodAffinity": 1,
            "NodeResourcesFit": 1,
            "NodeAffinity": 1,
            "TaintToleration": 1,
        },
    ),
    "the largest weight": (
        {"predicates": [], "priorities": weighted(ImageLocalityPriority=2**31 - 1)},
        ["NodeUnschedulable", "TaintToleration"],
        {"ImageLocality": 2**31 - 1},
    ),
}


@pytest.mark.parametrize(("fields", "expected_filters", "expected_scores"), POLICIES.values(), ids=POLICIES)
def test_a_policy_becomes_plugins(
    fields: dict[str, Any], expected_filters: list[str], expected_scores: dict[str, int]
) -> None:
    migration = translate(a_policy(**fields))
    assert filters(migration) == expected_filters
    assert scores(migration) == expected_scores
    assert list(scores(migration)) == list(expected_scores)


def test_null_lists_are_absent_and_yaml_is_read_too() -> None:
    absent = translate(a_policy())
    assert translate(a_policy(predicates=None, priorities=None, extenders=None)) == absent
    assert translate(b"# a comment\nkind: Policy\napiVersion: v1\n") == absent
    assert translate("kind: Policy\napiVersion: kubescheduler.config.k8s.io/v1\n") == absent


def test_one_absent_list_does_not_bring_the_other() -> None:
    assert filters(translate(a_policy(priorities=[]))) == filters(translate(a_policy()))
    assert scores(translate(a_policy(predicates=[]))) == scores(translate(a_policy()))


@settings(max_examples=50, deadline=None)
@given(
    st.sets(st.sampled_from(sorted(PREDICATES))),
    st.dictionaries(st.sampled_from(sorted(PRIORITIES)), st.integers(1, 2**31 - 1)),
)
def test_any_choice_of_names_gives_their_plugins_and_weights(chosen: set[str], weights: dict[str, int]) -> None:
    if "LeastRequestedPriority" in weights:
        weights.pop("MostRequestedPriority", None)
    migration = translate(a_policy(predicates=named(*chosen), priorities=weighted(**weights)))
    profile = loaded(migration).profiles[0]
    points = {point: [plugin.name for plugin in profile.at(point)] for point in KEPT}
    wanted = {plugin for name in chosen | MANDATORY_PREDICATES for plugin in PREDICATES[name]}
    assert set(points["filter"]) == wanted | set(KEPT["filter"])
    # Of two weights for one plugin the first by name counts.
    assert {plugin.name: plugin.weight for plugin in profile.at("score")} == {
        PRIORITIES[name]: weights[name] for name in sorted(weights, reverse=True)
    }
    for point, kept in KEPT.items():
        assert points[point][-len(kept) :] == kept


def test_a_plugin_that_filters_or_scores_has_its_other_points_too() -> None:
    migration = translate(
        a_policy(predicates=named("CheckVolumeBinding"), priorities=weighted(LeastRequestedPriority=1))
    )
    for point in ("preFilter", "filter", "reserve", "preBind"):
        assert "VolumeBinding" in at(migration, point)
    assert at(migration, "preScore") == ["NodeResourcesFit"]
    # It is scored by, but nobody asked for it as a filter.
    assert "NodeResourcesFit" not in at(migration, "filter")
    assert "VolumeBinding" not in at(migration, "score")


def test_plugins_for_features_behind_gates_stay_on_with_them() -> None:
    gates = FeatureGates({"GenericWorkload": True, "GangScheduling": True, "TopologyAwareWorkloadScheduling": True})
    profile = load(translate(a_policy(), gates).config_text, gates).profiles[0]
    assert [plugin.name for plugin in profile.at("permit")] == ["GangScheduling"]
    assert [plugin.name for plugin in profile.at("placementGenerate")] == ["TopologyPlacementGenerator"]
    assert [plugin.name for plugin in profile.at("placementScore")] == ["PodGroupPodsCount"]
    assert at(translate(a_policy()), "permit") == []
    without = FeatureGates.parse("", ["1.33"])
    assert "DynamicResources" not in translate(a_policy(), without).config_text


def test_the_written_configuration_is_what_was_translated() -> None:
    migration = translate(a_policy())
    assert parse(migration.config_text) == migration.document


# --- arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("priority", "strategy"),
    [("LeastRequestedPriority", "LeastAllocated"), ("MostRequestedPriority", "MostAllocated")],
)
def test_the_use_of_resources_is_a_strategy(priority: str, strategy: str) -> None:
    migration = translate(a_policy(priorities=weighted(**{priority: 7})))
    assert args(migration, "NodeResourcesFit").scoring_strategy.type == strategy
    assert scores(migration) == {"NodeResourcesFit": 7}


@pytest.mark.parametrize("name", ["RequestedToCapacityRatioPriority", "RequestedToCapacityRatio", "BinPacking"])
def test_a_ratio_of_capacity_has_its_shape_and_resources(name: str) -> None:
    resources = [{"name": "example.com/gpu", "weight": 5}, {"name": "cpu"}]
    migration = translate(a_policy(priorities=[by_ratio(name, 4, resources=resources)]))
    strategy = args(migration, "NodeResourcesFit").scoring_strategy
    assert strategy.type == "RequestedToCapacityRatio"
    assert [(spec.name, spec.weight) for spec in strategy.resources] == [("example.com/gpu", 5), ("cpu", 1)]
    assert [(point.utilization, point.score) for point in strategy.requested_to_capacity_ratio.shape] == [
        (0, 0),
        (100, 10),
    ]
    assert scores(migration) == {"NodeResourcesFit": 4}


def test_selector_spreading_is_the_system_default_and_even_spreading_alone_is_not() -> None:
    for weights, defaulting in (
        ({"SelectorSpreadPriority": 1}, "System"),
        ({"ServiceSpreadingPriority": 1}, "System"),
        ({"EvenPodsSpreadPriority": 2}, "List"),
        ({"EvenPodsSpreadPriority": 2, "SelectorSpreadPriority": 2}, "System"),
    ):
        migration = translate(a_policy(priorities=weighted(**weights)))
        assert args(migration, "PodTopologySpread").defaulting_type == defaulting


def test_labels_of_nodes_become_added_affinity() -> None:
    predicates = [
        *named("GeneralPredicates"),
        labelled("InRack", "rack", "row"),
        labelled("NotRetiring", "retiring", presence=False),
    ]
    added = args(translate(a_policy(predicates=predicates)), "NodeAffinity").added_affinity
    (term,) = added.required_during_scheduling_ignored_during_execution.node_selector_terms
    assert [(expression.key, expression.operator) for expression in term.match_expressions] == [
        ("rack", "Exists"),
        ("row", "Exists"),
        ("retiring", "DoesNotExist"),
    ]


def test_the_weight_of_hard_affinity_counts_with_inter_pod_affinity() -> None:
    migration = translate(a_policy(hardPodAffinitySymmetricWeight=100))
    assert args(migration, "InterPodAffinity").hard_pod_affinity_weight == 100
    assert args(translate(a_policy()), "InterPodAffinity").hard_pod_affinity_weight == 1
    lost = translate(a_policy(priorities=[], hardPodAffinitySymmetricWeight=100))
    assert lost.warnings == (
        "hardPodAffinitySymmetricWeight: has no effect without InterPodAffinityPriority, and is left out",
    )


# --- extenders --------------------------------------------------------------------------------------------------------


def test_extenders_keep_their_settings() -> None:
    settings = {
        "urlPrefix": "https://127.0.0.1:8888/scheduler",
        "filterVerb": "filter",
        "preemptVerb": "preempt",
        "prioritizeVerb": "prioritize",
        "weight": 5,
        "bindVerb": "bind",
        "enableHttps": True,
        "tlsConfig": {"serverName": "extender", "caData": "Y2E=", "certFile": "/c", "keyFile": "/k"},
        "httpTimeout": 1_500_000_000,
        "nodeCacheCapable": True,
        "managedResources": [{"name": "example.com/gpu", "ignoredByScheduler": True}, {"name": "example.com/fpga"}],
        "ignorable": True,
    }
    migration = translate(a_policy(extenders=[settings, {"urlPrefix": "http://127.0.0.1:1"}]))
    first, second = loaded(migration).config.extenders
    expected = {**settings, "enableHTTPS": True, "httpTimeout": "1.5s"}
    del expected["enableHttps"]
    assert migration.document["extenders"] == [expected, {"urlPrefix": "http://127.0.0.1:1"}]
    assert (first.weight, first.enable_https, first.http_timeout.seconds) == (5, True, 1.5)
    assert second.http_timeout.seconds == 5
    assert args(migration, "NodeResourcesFit").ignored_resources == ("example.com/gpu",)


def test_fields_of_extenders_are_read_in_any_case() -> None:
    text = a_policy(extenders=[{"URLPrefix": "http://a", "BindVerb": "bind", "TLSConfig": {"Insecure": True}}])
    (extender,) = loaded(translate(text)).config.extenders
    assert (extender.url_prefix, extender.bind_verb) == ("http://a", "bind")
    assert extender.tls_config is not None
    assert extender.tls_config.insecure


def test_resources_that_an_extender_manages_are_ignored_even_if_nothing_checks_resources() -> None:
    extender = {"urlPrefix": "http://a", "managedResources": [{"name": "example.com/a", "ignoredByScheduler": True}]}
    migration = translate(a_policy(predicates=[], priorities=[], extenders=[extender]))
    assert filters(migration) == ["NodeUnschedulable", "TaintToleration"]


def test_secrets_are_in_the_configuration_and_not_in_the_advice() -> None:
    extender = {"urlPrefix": "https://me:hunter2@a/b@c", "tlsConfig": {"keyData": "c2VjcmV0", "certData": "Y2VydA=="}}
    migration = translate(a_policy(extenders=[extender]))
    assert migration.document["extenders"][0]["tlsConfig"]["keyData"] == "c2VjcmV0"
    advice = migration.advice("--policy-config-file")
    assert advice.startswith("--policy-config-file belongs to v1.21")
    assert "c2VjcmV0" not in advice
    assert "hunter2" not in advice
    assert "https://<redacted>@a/b@c" in advice
    assert "Y2VydA==" in advice


def test_advice_is_the_configuration_itself_where_there_is_nothing_to_hide() -> None:
    migration = translate_provider("DefaultProvider")
    _, _, shown = migration.advice("--algorithm-provider").partition("\n")
    assert shown == migration.config_text


# --- providers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "strategy"),
    [("DefaultProvider", "LeastAllocated"), ("ClusterAutoscalerProvider", "MostAllocated")],
)
def test_providers_are_the_defaults_of_their_time(provider: str, strategy: str) -> None:
    migration = translate_provider(provider)
    assert filters(migration) == [
        "NodeUnschedulable",
        "NodeName",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "NodeVolumeLimits",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
    ]
    assert scores(migration) == scores(translate(a_policy()))
    assert args(migration, "NodeResourcesFit").scoring_strategy.type == strategy
    assert args(migration, "PodTopologySpread").defaulting_type == "System"
    assert migration.warnings[0].startswith(AVOID_PODS)
    assert migration.warnings[1:] == (OTHER_WEIGHTS,)


# --- warnings ---------------------------------------------------------------------------------------------------------

WARNINGS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "nothing is lost": ({"predicates": named("GeneralPredicates"), "priorities": weighted(EqualPriority=1)}, []),
    "default priorities had one that is gone, and other weights": ({"predicates": []}, [AVOID_PODS, OTHER_WEIGHTS]),
    "all reasons of a node": (
        {"priorities": [], "alwaysCheckAllPredicates": True},
        ["alwaysCheckAllPredicates: is left out; pods go to the same nodes"],
    ),
    "volumes of clouds": (
        {"predicates": named(*CLOUD_VOLUME_PREDICATES, "MaxCSIVolumeCountPred"), "priorities": []},
        [
            "predicates: MaxAzureDiskVolumeCount, MaxCinderVolumeCount, MaxEBSVolumeCount, MaxGCEPDVolumeCount became "
            "NodeVolumeLimits"
        ],
    ),
    "two weights for one plugin": (
        {"predicates": [], "priorities": weighted(SelectorSpreadPriority=5, EvenPodsSpreadPriority=3)},
        ["priorities: EvenPodsSpreadPriority and SelectorSpreadPriority are both PodTopologySpread, whose weight is"],
    ),
    "the version of an extender": (
        {"priorities": [], "extenders": [{"urlPrefix": "http://a", "apiVersion": "v1beta1"}]},
        ["extenders[0].apiVersion: has no meaning and is left out"],
    ),
}


@pytest.mark.parametrize(("fields", "expected"), WARNINGS.values(), ids=WARNINGS)
def test_what_is_lost_is_said(fields: dict[str, Any], expected: list[str]) -> None:
    warnings = translate(a_policy(**fields)).warnings
    assert len(warnings) == len(expected)
    for warning, beginning in zip(warnings, expected, strict=True):
        assert warning.startswith(beginning)
        assert "\n" not in warning

"""Loading: what the corpus does not ask."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubesched.config.args import NodeAffinityArgs
from kubesched.config.document import dump
from kubesched.config.encoding import to_wire
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.golang import Duration
from kubesched.config.intree import EXTENSION_POINTS, IN_TREE, Catalog, merge_catalogs
from kubesched.config.load import Loaded, load
from kubesched.config.types import RawArgs

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
BUILDING = "initializing profiles: creating profile for scheduler name default-scheduler: "


def a_config(**fields: Any) -> str:
    return HEAD + dump(fields) if fields else HEAD


def a_profile(name: str = "default-scheduler", **fields: Any) -> dict[str, Any]:
    return {"schedulerName": name, **fields}


def enabled(*names: str) -> dict[str, Any]:
    return {"enabled": [{"name": name} for name in names]}


def disabled(*names: str) -> dict[str, Any]:
    return {"disabled": [{"name": name} for name in names]}


def with_args(plugin: str, args: Any) -> str:
    return a_config(profiles=[a_profile(pluginConfig=[{"name": plugin, "args": args}])])


def failure(text: str | bytes, catalog: Catalog = IN_TREE, **options: Any) -> tuple[str, tuple[str, ...]]:
    with pytest.raises(ConfigError) as caught:
        load(text, catalog=catalog, **options)
    return caught.value.stage, caught.value.errors


def names(loaded: Loaded, point: str, profile: int = 0) -> list[str]:
    return [plugin.name for plugin in loaded.profiles[profile].at(point)]


def test_no_text_is_the_default_configuration() -> None:
    loaded = load()
    assert loaded.config == load(HEAD).config
    assert loaded.config.leader_election.lease_duration.seconds == 15
    assert set(loaded.profiles[0].points) == set(EXTENSION_POINTS)
    assert loaded.profile("default-scheduler") is loaded.profiles[0]
    assert loaded.profile("other") is None


def test_a_completed_configuration_is_its_own_completion() -> None:
    loaded = load()
    again = load(dump(to_wire(loaded.config)))
    assert again.config == loaded.config
    assert again.profiles == loaded.profiles


def test_a_configuration_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        load().config.parallelism = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"profiles": [0]}, "profiles[0]: cannot use number 0 as Profile"),
        ({"profiles": {}}, "profiles: cannot use object as array"),
        ({"profiles": [{"pluginConfig": [5]}]}, "profiles[0].pluginConfig[0]: cannot use number 5 as PluginConfig"),
        ({"podMaxBackoffSeconds": 2**63}, f"podMaxBackoffSeconds: number {2**63} is out of range for int64"),
        ({"clientConnection": {"qps": 1e39}}, "clientConnection.qps: number 1e+39 is out of range for float32"),
        ({"clientConnection": {"qps": "5"}}, 'clientConnection.qps: cannot use string "5" as float32'),
        ({"extenders": [{"tlsConfig": {"caData": "*"}}]}, "extenders[0].tlsConfig.caData: illegal base64 data"),
        (
            {"extenders": [{"tlsConfig": {"caData": 1}}]},
            "extenders[0].tlsConfig.caData: cannot use number 1 as base64 string",
        ),
        ({"delayCacheUntilActive": "x" * 99}, f'delayCacheUntilActive: cannot use string "{"x" * 56}... as bool'),
        ({"extenders": [{"enableHttps": True}]}, 'unknown field "extenders[0].enableHttps"'),
    ],
)
def test_decode_errors_name_the_field(fields: dict[str, Any], error: str) -> None:
    assert failure(a_config(**fields)) == ("decode", (error,))


def test_every_decode_error_is_listed() -> None:
    stage, errors = failure(a_config(foo=1, parallelism="x", leaderElection={"leaseDuration": "1d"}))
    assert stage == "decode"
    assert sorted(errors) == [
        'leaderElection.leaseDuration: time: unknown unit "d" in duration "1d"',
        'parallelism: cannot use string "x" as int32',
        'unknown field "foo"',
    ]


def test_bytes_must_be_utf8() -> None:
    assert failure(b"\xff\xfe") == ("decode", ("not valid UTF-8: byte 0",))


def test_null_is_the_same_as_absent() -> None:
    nothing = dict.fromkeys(("parallelism", "leaderElection", "profiles", "extenders", "enableProfiling"))
    assert load(a_config(**nothing)).config == load().config
    assert load(a_config(profiles=[None])).config == load().config


def test_fields_are_kept() -> None:
    extender = {
        "urlPrefix": "https://x",
        "enableHTTPS": True,
        "httpTimeout": "250ms",
        "tlsConfig": {"caData": "aGk=", "serverName": "s"},
    }
    loaded = load(a_config(extenders=[extender], clientConnection={"qps": 0.1}))
    assert loaded.config.extenders[0].enable_https
    assert loaded.config.extenders[0].http_timeout == Duration(250_000_000)
    wire = to_wire(loaded.config)
    assert wire["extenders"] == [extender]
    assert wire["clientConnection"]["qps"] == 0.1


def test_arguments_without_a_type_are_kept_as_they_are() -> None:
    catalog = merge_catalogs(IN_TREE, {"Mine": frozenset({"filter"})})
    text = a_config(
        profiles=[
            a_profile(plugins={"filter": enabled("Mine")}, pluginConfig=[{"name": "Mine", "args": {"a": [None]}}])
        ]
    )
    assert load(text, catalog=catalog).profiles[0].args("Mine") == RawArgs(value={"a": [None]})


def test_added_affinity_has_the_shape_of_kubernetes_objects() -> None:
    term = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
    affinity = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": term}],
    }
    args = load(with_args("NodeAffinity", {"addedAffinity": affinity})).profiles[0].args("NodeAffinity")
    assert isinstance(args, NodeAffinityArgs)
    assert to_wire(args.added_affinity) == affinity


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        (
            {"operator": "In"},
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
        ),
        (
            {"operator": "NotIn", "values": []},
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
        ),
        (
            {"operator": "Exists", "values": ["x"]},
            'values: Invalid value: ["x"]: values set must be empty for exists and does not exist',
        ),
        (
            {"operator": "Gt", "values": ["1", "2"]},
            "values: Invalid value: [\"1\",\"2\"]: for 'Gt', 'Lt' operators, exactly one value is required",
        ),
        (
            {"operator": "In", "values": ["a" * 64]},
            f'values[0][k]: Invalid value: "{"a" * 64}": must be no more than 63 bytes',
        ),
        (
            {"operator": "Lt", "values": ["9223372036854775808"]},
            "values[0]: Invalid value: \"9223372036854775808\": for 'Gt', 'Lt' operators, the value must be an integer",
        ),
    ],
)
def test_added_affinity_that_cannot_be_parsed(expression: dict[str, Any], error: str) -> None:
    terms = {"nodeSelectorTerms": [{}, {"matchExpressions": [{"key": "k", **expression}]}]}
    text = with_args("NodeAffinity", {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})
    path = "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchExpressions[0]."
    assert failure(text) == ("validate", (f"profiles[0].pluginConfig[0].args.{path}{error}",))


def test_terms_without_weight_are_not_parsed() -> None:
    bad = {"matchExpressions": [{"key": "b c", "operator": "Exists"}]}
    preferred = [{"weight": 0, "preference": bad}]
    text = with_args("NodeAffinity", {"addedAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}})
    assert load(text)


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("a/b/c", "a valid label key must consist of"),
        ("/a", "prefix part must be non-empty"),
        ("A_b/c", "prefix part a lowercase RFC 1123 subdomain must consist of"),
        ("x" * 254 + "/c", "prefix part must be no more than 253 bytes"),
        ("a/" + "c" * 64, "name part must be no more than 63 bytes"),
    ],
)
def test_malformed_label_keys(key: str, problem: str) -> None:
    constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    text = with_args("PodTopologySpread", {"defaultingType": "List", "defaultConstraints": [constraint]})
    stage, errors = failure(text)
    assert stage == "validate"
    assert problem in errors[0]


def test_a_plugin_that_has_the_name_of_arguments_cannot_have_any() -> None:
    message = 'args: Invalid value: {"a":"\\u003c"}: has to match plugin args'
    assert failure(with_args("NodeResourcesFitArgs", {"a": "<"}))[1][0].endswith(message)
    assert failure(with_args("NodeResourcesFitArgs", None))[1][0].endswith("null: has to match plugin args")


def test_arguments_of_a_plugin_that_is_off_are_neither_checked_nor_written() -> None:
    profile = a_profile(
        plugins={"multiPoint": disabled("NodeResourcesFit")},
        pluginConfig=[{"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "Bogus"}}}],
    )
    assert load(a_config(profiles=[profile])).profiles[0].args("NodeResourcesFit") is None


def test_plugins_from_elsewhere_are_expanded_like_any_other() -> None:
    catalog = merge_catalogs(IN_TREE, {"Mine": frozenset({"filter", "score"})})
    custom = {"multiPoint": {"enabled": [{"name": "Mine", "weight": 7}]}}
    loaded = load(a_config(profiles=[a_profile(plugins=custom)]), catalog=catalog)
    assert names(loaded, "filter")[-1] == "Mine"
    assert loaded.profiles[0].at("score")[-1].weight == 7
    assert "Mine" not in names(loaded, "preFilter")


def test_two_plugins_of_one_name_clash() -> None:
    with pytest.raises(ConfigError) as caught:
        merge_catalogs(IN_TREE, {"NodeName": frozenset()})
    assert caught.value.errors == ("a plugin named NodeName already exists",)


def test_a_point_with_a_star_keeps_only_what_it_lists() -> None:
    custom = {"filter": disabled("*") | enabled("NodePorts", "NodeName")}
    assert names(load(a_config(profiles=[a_profile(plugins=custom)])), "filter") == ["NodePorts", "NodeName"]


def test_profiles_share_one_queue() -> None:
    catalog = merge_catalogs(IN_TREE, {"Sort": frozenset({"queueSort"})})
    other = {"multiPoint": disabled("PrioritySort") | enabled("Sort")}
    text = a_config(profiles=[a_profile("a"), a_profile("b", plugins=other)])
    error = 'initializing profiles: different queue sort plugins for profile "b": "Sort", first: "PrioritySort"'
    assert failure(text, catalog) == ("build", (error,))


def test_profiles_share_the_arguments_of_the_queue_sort() -> None:
    configs = [[{"name": "PrioritySort", "args": {"a": value}}] for value in (1, 2)]
    text = a_config(profiles=[a_profile("a", pluginConfig=configs[0]), a_profile("b", pluginConfig=configs[1])])
    error = 'initializing profiles: different queue sort plugin args for profile "b"'
    assert failure(text) == ("build", (error,))


def test_one_placement_generator_at_most() -> None:
    catalog = merge_catalogs(IN_TREE, {"Gen": frozenset({"placementGenerate"})})
    custom = {"placementGenerate": enabled("Gen", "TopologyPlacementGenerator")}
    error = 'at most one placement generate plugin is allowed for profile with scheduler name "default-scheduler"'
    assert failure(a_config(profiles=[a_profile(plugins=custom)]), catalog) == ("build", (BUILDING + error,))


def test_extenders_that_cannot_be_built() -> None:
    tls = {"insecure": True, "caFile": "/ca"}
    error = "couldn't build extenders: specifying a root certificates file with the insecure flag is not allowed"
    assert failure(a_config(extenders=[{"tlsConfig": tls}])) == ("build", (error,))
    managed = [{"managedResources": [{"name": "a.b/c", "ignoredByScheduler": True}]}]
    profile = a_profile(plugins={"multiPoint": disabled("NodeResourcesFit")})
    error = "couldn't build extenders: can't find NodeResourcesFitArgs in plugin config"
    assert failure(a_config(extenders=managed, profiles=[profile])) == ("build", (error,))


@pytest.mark.parametrize(
    ("profiles", "error"),
    [
        ([a_profile("a"), a_profile("a")], 'duplicate profile with scheduler name "a"'),
        ([a_profile("")], "scheduler name is needed"),
        (
            [a_profile("a", pluginConfig=[{"name": "X", "args": {}}] * 2)],
            "creating profile for scheduler name a: repeated config for plugin X",
        ),
        (
            [a_profile("a", pluginConfig=[{"name": "VolumeBinding", "args": {"bindTimeoutSeconds": -1}}])],
            'creating profile for scheduler name a: initializing plugin "VolumeBinding": bindTimeoutSeconds: '
            "Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value",
        ),
    ],
)
def test_without_validation_the_build_still_checks_what_it_relies_on(profiles: list[Any], error: str) -> None:
    assert failure(a_config(profiles=profiles), validate=False) == ("build", (f"initializing profiles: {error}",))


def test_gates_decide_the_default_plugins() -> None:
    assert "GangScheduling" not in names(load(), "permit")
    gates = FeatureGates({"GenericWorkload": True, "GangScheduling": True})
    assert names(load(gates=gates), "permit") == ["GangScheduling"]


def test_structs_agree_with_msgspec() -> None:
    """The structs are ordinary msgspec structs: its own encoder understands them."""
    assert msgspec.json.decode(msgspec.json.encode(load().config))["parallelism"] == 16

"""Compiled profiles: plugins in order, what constructors are given, and every mistake an error that says where."""

from collections.abc import Mapping
from typing import Any

import pytest

from kubesched.config.build import EnabledPlugin
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.intree import IN_TREE, merge_catalogs
from kubesched.core.assembly import build_engine
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.profile import Profile, compile_profile
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import (
    EXTENSION_POINTS,
    FilterPlugin,
    Plugin,
    PreScorePlugin,
    QueueSortPlugin,
    ScorePlugin,
)
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import Status
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.cluster_view import ClusterView
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.errors import PluginError

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


class OneNode(FilterPlugin):
    """A filter for one node."""

    name = "OneNode"

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        return None


class Columns(FilterPlugin, ScorePlugin):
    """A filter and a score over columns."""

    name = "Columns"

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        return Verdict.uniform(len(nodes), None)

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Any:
        return nodes.free("cpu")


class Curious(OneNode):
    """A filter that asks for everything there is."""

    name = "Curious"

    def __init__(self, args: Any, cluster: ClusterView, gates: FeatureGates, more: int = 7) -> None:
        self.given = (args, cluster, gates, more)


class Greedy(OneNode):
    """A filter that asks for what nobody has."""

    name = "Greedy"

    def __init__(self, database: Any) -> None: ...


class Clumsy(OneNode):
    """A filter whose constructor fails."""

    name = "Clumsy"

    def __init__(self) -> None:
        raise ValueError("no such file")


class Choosy(OneNode):
    """A filter that refuses its arguments in words of its own."""

    name = "Choosy"

    def __init__(self, args: Any) -> None:
        raise PluginError("args: write them as {label: x}")


class Asynchronous(FilterPlugin):
    """A filter that is a coroutine."""

    name = "Asynchronous"

    async def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> None:  # type: ignore[override]
        ...


class Empty(FilterPlugin, ScorePlugin):
    """A plugin that defines nothing."""

    name = "Empty"


class PreScoreOnly(PreScorePlugin):
    """A plugin that lacks a filter."""

    name = "PreScoreOnly"


class LateKey(OneNode):
    """A plugin whose key would have to be waited for."""

    name = "LateKey"

    async def key(self, pod: PodInfo) -> Any:  # type: ignore[override]
        return None


class AnotherSort(QueueSortPlugin):
    """A second way to sort the queue."""

    name = "AnotherSort"

    def sort_key(self, pod: PodInfo, timestamp: float) -> tuple[float, ...]:
        return (timestamp,)


PLUGINS = (
    OneNode,
    Columns,
    Curious,
    Greedy,
    Clumsy,
    Choosy,
    Asynchronous,
    Empty,
    PreScoreOnly,
    LateKey,
    AnotherSort,
)


def a_registry() -> Registry:
    registry = Registry()
    for plugin in PLUGINS:
        registry.register(plugin)
    return registry


def compiled(profiles: str) -> dict[str, Profile]:
    return build_engine(HEAD + profiles, registry=a_registry()).profiles


def compile_at(point: str, *names: str, args: Mapping[str, Any] | None = None) -> Profile:
    enabled = {point: [EnabledPlugin(name, 1) for name in names]}
    return compile_profile(
        "mine", enabled, args or {}, a_registry(), {"cluster": ClusterState(), "gates": FeatureGates()}
    )


def test_plugins_stand_in_the_order_of_the_configuration() -> None:
    profile = compile_at("filter", "Columns", "OneNode")
    assert [plugin.name for plugin in profile.filter] == ["Columns", "OneNode"]
    assert profile.score == ()
    assert profile.scheduler_name == "mine"


def test_a_plugin_is_one_object_at_all_its_points() -> None:
    enabled = {"filter": [EnabledPlugin("Columns", 0)], "score": [EnabledPlugin("Columns", 5)]}
    profile = compile_profile("mine", enabled, {}, a_registry(), {})
    assert profile.filter[0] is profile.score[0]  # type: ignore[comparison-overlap]
    assert profile.plugins["Columns"] is profile.filter[0]
    assert profile.weights == {"Columns": 5}


def test_a_constructor_gets_what_it_names_and_nothing_else() -> None:
    cluster, gates = ClusterState(), FeatureGates()
    services = {"cluster": cluster, "gates": gates}
    enabled = {"filter": [EnabledPlugin("Curious", 0)]}
    profile = compile_profile("mine", enabled, {"Curious": {"a": 1}}, a_registry(), services)
    plugin = profile.filter[0]
    assert isinstance(plugin, Curious)
    args, view, given_gates, more = plugin.given
    assert (args, given_gates, more) == ({"a": 1}, gates, 7)
    # plugins of others get a view of the cluster, without its table
    assert isinstance(view, ClusterView)
    assert not hasattr(view, "table")


def test_plugin_config_reaches_an_out_of_tree_constructor_as_plain_values() -> None:
    profile = compiled(
        "profiles:\n- plugins: {filter: {enabled: [{name: Curious}]}}\n"
        "  pluginConfig: [{name: Curious, args: {labels: [a, b], deep: {depth: 1}}}]\n"
    )["default-scheduler"]
    plugin = profile.plugins["Curious"]
    assert isinstance(plugin, Curious)
    assert plugin.given[0] == {"labels": ["a", "b"], "deep": {"depth": 1}}


def test_without_plugin_config_there_are_no_args() -> None:
    profile = compiled("profiles:\n- plugins: {filter: {enabled: [{name: Curious}]}}\n")["default-scheduler"]
    plugin = profile.plugins["Curious"]
    assert isinstance(plugin, Curious)
    assert plugin.given[0] is None


def test_every_profile_has_plugins_of_its_own() -> None:
    profiles = compiled(
        "profiles:\n- schedulerName: a\n  percentageOfNodesToScore: 30\n"
        "- schedulerName: b\n  plugins: {filter: {enabled: [{name: OneNode}]}}\n"
    )
    assert list(profiles) == ["a", "b"]
    assert profiles["a"].percentage_of_nodes_to_score == 30
    assert "OneNode" not in profiles["a"].plugins
    assert profiles["b"].filter[-1].name == "OneNode"
    assert profiles["a"].queue_sort[0] is not profiles["b"].queue_sort[0]


def test_multi_point_enables_a_plugin_wherever_it_can_run() -> None:
    profile = compiled("profiles:\n- plugins: {multiPoint: {enabled: [{name: Columns, weight: 4}]}}\n")[
        "default-scheduler"
    ]
    assert profile.filter[-1].name == profile.score[-1].name == "Columns"
    assert profile.weights["Columns"] == 4


@pytest.mark.parametrize(
    ("point", "plugin", "text"),
    [
        ("filter", "Nope", "plugin 'Nope' does not exist; register it, install the package that declares it, or name"),
        ("filter", "Greedy", "plugin 'Greedy' asks for 'database', which nobody provides; its constructor may ask for"),
        ("filter", "Clumsy", "plugin 'Clumsy' cannot be built: its constructor failed with ValueError: no such file"),
        ("filter", "Choosy", "plugin 'Choosy': args: write them as {label: x}"),
        (
            "filter",
            "Asynchronous",
            "plugin 'Asynchronous': filter is `async def`; only pre_bind, bind and post_bind may be coroutines",
        ),
        ("filter", "Empty", "plugin 'Empty' is enabled at filter but defines neither filter nor filter_nodes"),
        ("score", "Empty", "plugin 'Empty' is enabled at score but defines neither score nor score_nodes"),
        ("filter", "PreScoreOnly", "plugin 'PreScoreOnly' is enabled at filter but does not extend FilterPlugin"),
        ("preScore", "PreScoreOnly", "plugin 'PreScoreOnly' is enabled at preScore but does not define pre_score"),
        ("filter", "LateKey", "plugin 'LateKey': key is `async def`; only pre_bind, bind and post_bind may be"),
    ],
)
def test_a_plugin_that_cannot_do_its_work_is_an_error_at_start(point: str, plugin: str, text: str) -> None:
    with pytest.raises(PluginError) as caught:
        compile_at(point, plugin)
    assert str(caught.value).startswith(f"profile 'mine': {text}")


@pytest.mark.parametrize(
    ("point", "base"), [item for item in EXTENSION_POINTS.items() if not item[0].startswith("placement")]
)
def test_a_plugin_that_defines_no_hook_is_an_error_at_start(point: str, base: type[Plugin]) -> None:
    registry = Registry()
    registry.register(type("Idle", (base,), {"name": "Idle"}))
    with pytest.raises(
        PluginError, match=f"plugin 'Idle' is enabled at {point} but (does not define|defines neither) "
    ):
        compile_profile("mine", {point: [EnabledPlugin("Idle", 1)]}, {}, registry, {})


@pytest.mark.parametrize(
    ("plugins", "text"),
    [
        ("{filter: {enabled: [{name: Nope}]}}", 'FilterPlugin "Nope" does not exist'),
        (
            "{filter: {enabled: [{name: PreScoreOnly}]}}",
            'plugin "PreScoreOnly" does not extend FilterPlugin plugin',
        ),
        (
            "{score: {enabled: [{name: Columns, weight: 1}, {name: Columns, weight: 2}]}}",
            'plugin "Columns" already registered as "ScorePlugin"',
        ),
        (
            "{queueSort: {enabled: [{name: AnotherSort}]}}",
            'only one queue sort plugin required for profile with scheduler name "mine", but got 2',
        ),
    ],
)
def test_a_configuration_that_cannot_be_built_says_so_in_the_words_of_the_reference(plugins: str, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        compiled(f"profiles:\n- schedulerName: mine\n  plugins: {plugins}\n")
    assert caught.value.errors == (f"initializing profiles: creating profile for scheduler name mine: {text}",)


def test_a_factory_must_return_a_plugin() -> None:
    def factory() -> Any:
        return {}

    registry = Registry()
    registry.register(OneNode, factory)
    with pytest.raises(PluginError, match="the factory of plugin 'OneNode' returned dict, not a kubesched"):
        compile_profile("mine", {"filter": [EnabledPlugin("OneNode", 0)]}, {}, registry, {})


def test_a_name_of_an_in_tree_plugin_is_taken() -> None:
    with pytest.raises(ConfigError, match=r"^a plugin named NodeName already exists$"):
        merge_catalogs(IN_TREE, {"NodeName": frozenset({"filter"})})

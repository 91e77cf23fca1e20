"""The examples of the configuration's documentation, with the plugin package in examples/plugins."""

import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kubesched.api.codec import to_builtins
from kubesched.cli.plugin_options import load_plugins
from kubesched.conformance.scenarios import answer
from kubesched.core.assembly import build_engine
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.building.registry import Registry
from kubesched.errors import PluginError
from kubesched.testing import a_node, a_pod

EXAMPLES = Path(__file__).parents[5] / "examples" / "plugins"


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """The plugins of the package, found by its own entry points."""
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    project = tomllib.loads((EXAMPLES / "pyproject.toml").read_text())["project"]
    yield load_plugins(project["entry-points"]["kubesched.plugins"].values())
    for name in [name for name in sys.modules if name.startswith("kubesched_examples")]:
        del sys.modules[name]


def profiles(config: str, registry: Registry) -> dict[str, Profile]:
    return build_engine((EXAMPLES / config).read_text(), registry=registry).profiles


def results(config: str, registry: Registry, *objects: Any) -> dict[str, Any]:
    """Return the result of the pod called `p`."""
    line = {
        "config": (EXAMPLES / config).read_text(),
        "objects": [to_builtins(obj) for obj in objects],
        "pods": ["default/p"],
    }
    result: dict[str, Any] = answer(line, registry)["results"][0]
    return result


def test_the_entry_points_have_the_names_of_their_plugins(registry: Registry) -> None:
    declared = tomllib.loads((EXAMPLES / "pyproject.toml").read_text())["project"]["entry-points"]["kubesched.plugins"]
    assert list(registry) == list(declared) == ["QuietNodes", "TenantNodes", "MyCustomPluginA", "MyCustomPluginB"]


def test_custom_scores_stand_beside_the_default_ones(registry: Registry) -> None:
    profile = profiles("custom-scores.yaml", registry)["default-scheduler"]
    names = [plugin.name for plugin in profile.score]
    assert names[-2:] == ["MyCustomPluginA", "MyCustomPluginB"]
    assert (profile.weights["MyCustomPluginA"], profile.weights["MyCustomPluginB"]) == (2, 1)
    assert "TaintToleration" in names
    assert "PodTopologySpread" not in names


def test_disabled_at_score_is_not_disabled_at_filter(registry: Registry) -> None:
    profile = profiles("custom-scores.yaml", registry)["default-scheduler"]
    assert "PodTopologySpread" in [plugin.name for plugin in profile.filter]


def test_custom_scores_count_with_their_weights(registry: Registry) -> None:
    result = results(
        "custom-scores.yaml",
        registry,
        a_node("new", memory="8Gi", labels={"example.com/generation": "9"}),
        a_node("old", memory="8Gi", labels={"example.com/generation": "3"}),
        a_node("odd", memory="8Gi", labels={"example.com/generation": "x"}),
        a_pod("busy", node="new", memory="6Gi"),
        a_pod("p"),
    )
    assert result["raw"]["MyCustomPluginA"] == {"new": 25, "odd": 100, "old": 100}
    assert result["raw"]["MyCustomPluginB"] == {"new": 90, "odd": 0, "old": 30}
    assert result["scores"]["MyCustomPluginA"] == {"new": 50, "odd": 200, "old": 200}
    assert result["scores"]["MyCustomPluginB"] == {"new": 90, "odd": 0, "old": 30}
    assert result["total"]["old"] - result["total"]["odd"] == 30


def test_the_scenario_has_the_configuration_of_the_file(registry: Registry) -> None:
    line = json.loads((EXAMPLES / "custom-scores.jsonl").read_text())
    assert line["config"] == (EXAMPLES / "custom-scores.yaml").read_text()
    assert answer(line, registry)["results"][0]["chosen"] == "old"


def test_a_scheduler_that_does_not_score(registry: Registry) -> None:
    both = profiles("no-scoring.yaml", registry)
    assert list(both) == ["default-scheduler", "no-scoring-scheduler"]
    assert not both["no-scoring-scheduler"].score
    assert not both["no-scoring-scheduler"].pre_score
    assert both["default-scheduler"].score
    assert [plugin.name for plugin in both["no-scoring-scheduler"].filter] == [
        plugin.name for plugin in both["default-scheduler"].filter
    ]


def test_without_scores_every_node_that_fits_is_as_good(registry: Registry) -> None:
    nodes = (a_node("big", cpu="64"), a_node("small", cpu="1"), a_node("full", cpu="0"))
    result = results("no-scoring.yaml", registry, *nodes, a_pod("p", cpu="500m", scheduler="no-scoring-scheduler"))
    assert result["best"] == result["feasible"] == ["big", "small"]
    assert result["total"] == {"big": 1, "small": 1}
    assert "scores" not in result
    result = results("no-scoring.yaml", registry, *nodes, a_pod("p", cpu="500m"))
    assert result["best"] == ["big"]


def test_a_filter_with_arguments_for_one_scheduler_only(registry: Registry) -> None:
    nodes = (
        a_node("blue", labels={"example.com/tenant": "blue"}),
        a_node("red", labels={"example.com/tenant": "red"}),
        a_node("crowded", cpu="50m", labels={"example.com/tenant": "blue"}),
    )
    pod = a_pod("p", labels={"example.com/tenant": "blue"}, scheduler="tenant-scheduler")
    result = results("tenants.yaml", registry, *nodes, pod)
    assert result["feasible"] == ["blue"]
    assert result["filter"] == {
        "crowded": {"QuietNodes": {"code": "Unschedulable", "reasons": ["node(s) nearly full"]}},
        "red": {"TenantNodes": {"code": "UnschedulableAndUnresolvable", "reasons": ["node(s) of another tenant"]}},
    }
    result = results("tenants.yaml", registry, *nodes, a_pod("p", labels={"example.com/tenant": "blue"}))
    assert result["feasible"] == ["blue", "crowded", "red"]


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("label: ''", "args: label: name a label, such as example.com/tenant"),
        ("labels: []", "args.labels"),
        ("label: 3", "args.label: "),
    ],
    ids=["what the plugin refuses itself", "a field that does not exist", "a number"],
)
def test_a_plugins_refusal_of_its_arguments_names_profile_and_plugin(
    registry: Registry, written: str, problem: str
) -> None:
    config = (EXAMPLES / "tenants.yaml").read_text().replace("label: example.com/tenant", written)
    with pytest.raises(PluginError) as caught:
        build_engine(config, registry=registry)
    where = "profile 'tenant-scheduler': plugin 'TenantNodes': profiles[1].pluginConfig[7]."
    assert str(caught.value).startswith(where + problem), caught.value

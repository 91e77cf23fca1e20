"""Changes of the form: what of the configuration differs afterwards, and under which plugins it runs."""

from typing import Any

import pytest

from kubesched.config.document import dump, parse
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.intree import EXTENSION_POINTS, IN_TREE
from kubesched.config.load import load
from kubesched.config.types import API_VERSION, KIND
from kubesched_lab.page.configuration.form import form_of, text_of
from kubesched_lab.page.configuration.form_changes import FormChange, FormChangeError, changed_tree

HEAD = f"apiVersion: {API_VERSION}\nkind: {KIND}\n"
ONLY = HEAD + "profiles: [{schedulerName: s, plugins: {multiPoint: {disabled: [{name: '*'}], enabled: [%s]}}}]"
FEW = ONLY % "{name: PrioritySort}, {name: DefaultBinder}, {name: NodeResourcesFit, weight: 4}"


def after(text: str, **change: Any) -> Any:
    return changed_tree(parse(text), FormChange(**change), FeatureGates(), IN_TREE)


def plugin_of(tree: Any, name: str, profile: int = 0) -> dict[str, Any]:
    form = form_of(load(dump(tree)), IN_TREE)
    return next(each for each in form["profiles"][profile]["plugins"] if each["name"] == name)


WEIGHTS = {
    "one that is on by default": (HEAD, "NodeResourcesFit", 7),
    "one that is off at score": (
        HEAD + "profiles: [{plugins: {score: {disabled: [{name: ImageLocality}]}}}]",
        "ImageLocality",
        3,
    ),
    "one that multiPoint lists": (FEW, "NodeResourcesFit", 9),
    "one that score lists": (
        HEAD + "profiles: [{plugins: {score: {enabled: [{name: NodeAffinity, weight: 2}]}}}]",
        "NodeAffinity",
        5,
    ),
    "none": (HEAD, "TaintToleration", 0),
}


@pytest.mark.parametrize("case", WEIGHTS)
def test_a_weight_is_that_of_the_form_afterwards(case: str) -> None:
    text, plugin, weight = WEIGHTS[case]
    tree = after(text, do="weight", plugin=plugin, weight=weight)
    found = plugin_of(tree, plugin)
    assert found["weight"] == weight
    others = {point["name"]: point["enabled"] for point in found["points"] if point["name"] != "score"}
    assert all(others.values())


@pytest.mark.parametrize("text", [HEAD, FEW], ids=["the defaults", "few plugins"])
@pytest.mark.parametrize("plugin", ["NodeResourcesFit", "NodePorts"])
@pytest.mark.parametrize("point", ["multiPoint", "filter"])
def test_a_plugin_goes_off_and_on_again(text: str, plugin: str, point: str) -> None:
    def runs(tree: Any) -> bool:
        points = plugin_of(tree, plugin)["points"]
        return any(each["enabled"] for each in points if point in ("multiPoint", each["name"]))

    off = after(text, do="disable", plugin=plugin, point=point)
    assert not runs(off)
    on = after(dump(off), do="enable", plugin=plugin, point=point)
    assert runs(on)
    if text == HEAD:
        assert "plugins" not in on["profiles"][0]


def test_arguments_are_set_and_left_to_their_defaults_again() -> None:
    path = ("scoringStrategy", "type")
    tree = after(HEAD, do="argument", plugin="NodeResourcesFit", path=path, value="MostAllocated")
    arguments = {each["name"]: each["value"] for each in plugin_of(tree, "NodeResourcesFit")["arguments"]}
    assert arguments["scoringStrategy.type"] == "MostAllocated"
    tree = after(dump(tree), do="argument", plugin="NodeResourcesFit", path=path, value=None)
    assert tree["profiles"] == [{"schedulerName": "default-scheduler"}]


def test_profiles_come_and_go() -> None:
    tree = after(HEAD, do="add-profile", value="second")
    assert [each["schedulerName"] for each in tree["profiles"]] == ["default-scheduler", "second"]
    tree = after(dump(tree), do="profile-field", profile=1, field="percentageOfNodesToScore", value=40)
    assert form_of(load(dump(tree)), IN_TREE)["profiles"][1]["percentageOfNodesToScore"] == 40
    tree = after(dump(tree), do="remove-profile", profile=0)
    assert tree["profiles"] == [{"schedulerName": "second", "percentageOfNodesToScore": 40}]


REFUSED: dict[str, tuple[Any, ...]] = {
    "an unknown thing to do": ({"do": "fly"}, "do: 'fly' is not known"),
    "an unknown plugin": ({"do": "weight", "plugin": "Foo", "weight": 1}, "there is no plugin 'Foo'"),
    "an unknown point": ({"do": "enable", "plugin": "NodePorts", "point": "fly"}, "'fly' is not an extension point"),
    "an unknown profile": ({"do": "enable", "plugin": "NodePorts", "profile": 7}, "there is no profile 7"),
    "the last profile": ({"do": "remove-profile"}, "the last profile cannot be removed"),
    "a field that is not in the form": ({"do": "field", "field": "extenders", "value": 1}, "'extenders' is not in"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_changed_is_told(case: str) -> None:
    change, why = REFUSED[case]
    with pytest.raises(FormChangeError, match=why):
        after(HEAD, **change)


@pytest.mark.parametrize("text", ["[]", HEAD + "profiles: [7]", HEAD + "profiles: [{plugins: 7}]"])
def test_texts_of_another_shape_are_told(text: str) -> None:
    with pytest.raises(FormChangeError):
        after(text, do="weight", plugin="NodePorts", weight=1)


@pytest.mark.parametrize("text", [HEAD, FEW, HEAD + "profiles: [{pluginConfig: [{name: X, args: {a: 1}}]}]"])
def test_the_short_text_of_a_configuration_reads_as_the_same(text: str) -> None:
    loaded = load(text)
    again = load(text_of(loaded))
    assert again.config.profiles[0].plugins == loaded.config.profiles[0].plugins
    assert [profile.points for profile in again.profiles] == [profile.points for profile in loaded.profiles]


def test_a_plugins_points_are_in_their_order() -> None:
    names = [each["name"] for each in plugin_of(parse(HEAD), "VolumeBinding")["points"]]
    assert names == [point for point in EXTENSION_POINTS if point in IN_TREE["VolumeBinding"]]

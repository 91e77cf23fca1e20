"""The registry: factories by name."""

import pytest

from kubesched.core.framework.building.registry import Registry, declared_plugins
from kubesched.core.framework.plugin import FilterPlugin, Plugin, ScorePlugin
from kubesched.errors import PluginError


class Mine(FilterPlugin, ScorePlugin):
    """A plugin with two hooks."""

    name = "Mine"


class Nameless(FilterPlugin):
    """A plugin whose author forgot the name."""


class Pointless(Plugin):
    """A plugin that implements nothing."""

    name = "Pointless"


def test_what_was_registered_is_found() -> None:
    registry = Registry()
    registry.register(Mine)
    assert list(registry) == ["Mine"]
    assert "Mine" in registry
    assert registry.factory("Mine") is Mine
    assert registry.catalog() == {"Mine": {"filter", "score"}}


def test_a_factory_may_make_the_plugin() -> None:
    def make() -> Plugin:
        return Mine()

    registry = Registry()
    registry.register(Mine, make)
    assert registry.factory("Mine") is make


@pytest.mark.parametrize(
    ("plugin", "text"),
    [
        (Mine, "a plugin named Mine already exists"),
        (Nameless, "plugin class Nameless has no name; set the class attribute `name`"),
        (
            Pointless,
            "plugin 'Pointless' extends no extension point; derive it from FilterPlugin, ScorePlugin, ...",
        ),
    ],
)
def test_what_cannot_be_registered(plugin: type[Plugin], text: str) -> None:
    registry = Registry()
    registry.register(Mine)
    with pytest.raises(PluginError) as caught:
        registry.register(plugin)
    assert str(caught.value) == text


def test_an_unknown_plugin_has_no_factory() -> None:
    with pytest.raises(PluginError, match=r"^Nope does not exist$"):
        Registry().factory("Nope")


def test_a_copy_is_independent() -> None:
    registry = Registry()
    copy = registry.copy()
    copy.register(Mine)
    assert "Mine" in copy
    assert "Mine" not in registry


def test_plugins_are_adopted_from_another_registry() -> None:
    ours, theirs = Registry(), Registry()
    theirs.register(Mine)
    ours.adopt(theirs, "Mine")
    assert ours.factory("Mine") is Mine
    with pytest.raises(PluginError, match=r"^a plugin named Mine already exists$"):
        ours.adopt(theirs, "Mine")


def test_an_attribute_stands_for_one_class_or_several() -> None:
    assert declared_plugins(Mine) == [Mine]
    assert declared_plugins([Mine, Nameless]) == [Mine, Nameless]


@pytest.mark.parametrize("value", [None, 1, "Mine", int, Mine(), [], [Mine, 1]])
def test_anything_else_is_no_plugin(value: object) -> None:
    with pytest.raises(PluginError, match="is no kubesched plugin; expected a class derived from FilterPlugin"):
        declared_plugins(value)

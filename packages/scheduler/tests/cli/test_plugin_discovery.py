"""Discovery: entry points, references, modules; whatever is wrong is one sentence."""

import importlib.metadata
import signal
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from kubesched.cli.plugin_discovery import (
    ENTRY_POINT_GROUP,
    SourcedRegistry,
    add_from_module,
    add_reference,
    discover_installed,
    guarded_load,
    plugin_classes,
)
from kubesched.cli.plugin_options import load_plugins
from kubesched.core.framework.plugin import FilterPlugin, ScorePlugin
from kubesched.errors import PluginError


class First(FilterPlugin):
    """A plugin."""

    name = "First"


class Second(ScorePlugin):
    """Another one."""

    name = "Second"


class Foundation(FilterPlugin):
    """Only a base for others."""


class OnFoundation(Foundation):
    """A plugin on that base."""

    name = "OnFoundation"


class _Private(FilterPlugin):
    """Not meant for others."""

    name = "Private"


BOTH = [First, Second]
NUMBER = 5


@pytest.fixture
def here() -> Iterator[str]:
    """This module under a name that can be imported."""
    sys.modules["plugins_under_test"] = module = ModuleType("plugins_under_test")
    for name in ("First", "Second", "Foundation", "OnFoundation", "_Private", "BOTH", "NUMBER", "FilterPlugin"):
        value = globals()[name]
        setattr(module, name, value)
        if isinstance(value, type) and value is not FilterPlugin:
            value.__module__ = "plugins_under_test"
    yield "plugins_under_test"
    del sys.modules["plugins_under_test"]


def entry_point(value: str, name: str = "Mine") -> importlib.metadata.EntryPoint:
    return importlib.metadata.EntryPoint(name, value, ENTRY_POINT_GROUP)


def problem(action: Any, *args: Any) -> str:
    with pytest.raises(PluginError) as caught:
        action(*args)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_module_offers_the_plugins_it_defines_itself(here: str) -> None:
    assert plugin_classes(sys.modules[here]) == [First, Second, OnFoundation]


def test_a_package_offers_what_its_modules_define(here: str) -> None:
    package = ModuleType("plugins_under")
    First.__module__ = "plugins_under.inner"
    package.First = First  # type: ignore[attr-defined]
    package.Second = Second  # type: ignore[attr-defined]
    assert plugin_classes(package) == [First]


@pytest.mark.parametrize(
    ("reference", "names"),
    [
        ("plugins_under_test:First", ["First"]),
        ("plugins_under_test:BOTH", ["First", "Second"]),
        ("plugins_under_test", ["First", "Second", "OnFoundation"]),
        (" plugins_under_test : First ", ["First"]),
    ],
)
def test_a_reference_names_a_class_several_or_a_module(reference: str, names: list[str], here: str) -> None:
    registry = SourcedRegistry()
    add_reference(registry, reference, "--plugin x")
    assert list(registry) == names


def test_entry_points_of_installed_packages(here: str) -> None:
    registry = SourcedRegistry()
    discover_installed(registry, [entry_point(f"{here}:First"), entry_point(f"{here}:BOTH"), entry_point(here)])
    assert list(registry) == ["First", "Second", "OnFoundation"]


def test_the_group_is_looked_up_where_packages_are_installed(monkeypatch: pytest.MonkeyPatch, here: str) -> None:
    asked = []

    def entry_points(group: str) -> list[importlib.metadata.EntryPoint]:
        asked.append(group)
        return [entry_point(f"{here}:First")]

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    assert list(load_plugins()) == ["First"]
    assert asked == ["kubesched.plugins"]


def test_a_broken_entry_point_is_named(here: str) -> None:
    assert problem(discover_installed, SourcedRegistry(), [entry_point(f"{here}:Nope")]) == (
        "entry point 'Mine': no attribute Nope; plugins of the module: First, Second, OnFoundation"
    )
    assert problem(discover_installed, SourcedRegistry(), [entry_point("no_such_package.plugins:X")]) == (
        "entry point 'Mine': no module no_such_package; install the package that contains it, or run in its folder"
    )


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("", "not a module; write module:Class or path/to/file.py"),
        (":First", "not a module; write module:Class or path/to/file.py"),
        (".relative:First", "not a module; write module:Class or path/to/file.py"),
        ("no_such_module:X", "no module no_such_module; install the package that contains it"),
        ("os.nope:X", "no module os.nope; install the package that contains it"),
        ("plugins_under_test:Nope", "no attribute Nope; plugins of the module: First, Second, OnFoundation"),
        ("plugins_under_test:First.nope", "no attribute First.nope; plugins of the module: First"),
        (
            "plugins_under_test:NUMBER",
            "NUMBER is not a kubesched plugin but of type int; expected a class derived from",
        ),
        ("string:digits", "digits is not a kubesched plugin but of type str; expected a class derived from"),
        ("string", "no plugin in it; define a class derived from FilterPlugin, ScorePlugin, ... with a `name`"),
        ("os:path", "no plugin in it; define a class derived from FilterPlugin"),
    ],
)
def test_what_a_reference_can_get_wrong(reference: str, text: str, here: str) -> None:
    assert problem(add_reference, SourcedRegistry(), reference, "--plugin x").startswith(f"--plugin x: {text}")


def test_a_name_that_is_taken(here: str) -> None:
    class Imposter(FilterPlugin):
        name = "NodeName"

    class Twin(FilterPlugin):
        name = "First"

    registry = SourcedRegistry()
    registry.add(First, "--plugin a")
    registry.add(First, "entry point 'First'")
    assert problem(registry.add, Imposter, "--plugin b").startswith(
        "--plugin b: a plugin named NodeName already exists (in-tree); set `name` of "
    )
    assert problem(registry.add, Twin, "--plugin b").startswith(
        "--plugin b: a plugin named First already exists (from --plugin a); set `name` of "
    )
    assert list(registry) == ["First"]


def test_a_class_without_a_name_is_told_with_its_source() -> None:
    class Nameless(FilterPlugin):
        pass

    assert "--plugin a: plugin class " in problem(SourcedRegistry().add, Nameless, "--plugin a")


def fail(error: BaseException) -> Any:
    def load() -> None:
        raise error

    return load


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("two\n  lines"), "with ValueError: two lines"),
        (ModuleNotFoundError("No module named 'torch'", name="torch"), "with ModuleNotFoundError: No module named"),
        (SystemExit(3), "with SystemExit: 3"),
        (BaseException("of its own"), "with BaseException: of its own"),
        (GeneratorExit(), "with GeneratorExit"),
        (RecursionError(), "with RecursionError"),
        (SyntaxError("invalid syntax", ("f.py", 7, 1, "", None, None)), "s: syntax error in line 7: invalid syntax"),
        (PluginError("plugin 'X': no"), "s: plugin 'X': no"),
    ],
)
def test_whatever_foreign_code_raises_is_one_sentence(error: BaseException, text: str) -> None:
    told = problem(guarded_load, fail(error), "s")
    assert told.startswith("s: ")
    assert text in told


def test_an_interrupt_is_not_swallowed() -> None:
    # a process in the background ignores it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            guarded_load(fail(KeyboardInterrupt()), "s")
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_module_that_is_an_attribute_is_taken_whole(here: str) -> None:
    outer = ModuleType("outer")
    outer.inner = sys.modules[here]  # type: ignore[attr-defined]
    registry = SourcedRegistry()
    add_from_module(registry, outer, "inner", "--plugin x")
    assert list(registry) == ["First", "Second", "OnFoundation"]

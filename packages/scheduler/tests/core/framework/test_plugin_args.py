"""Typed arguments of plugins: decoded strictly, defaulted, checked by their own class; errors begin with the path."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from kubesched.core.framework.building.plugin_args import ArgsField, args_fields, args_schema, decoded_args, shown_args
from kubesched.errors import PluginError


@dataclass(frozen=True)
class Window:
    """A part of the day."""

    from_hour: int = 0
    to_hour: int = 24


@dataclass(frozen=True)
class RackArgs:
    """Arguments as a dataclass."""

    label: str
    most_pods: int = 2
    share: float = 0.5
    windows: list[Window] = field(default_factory=list)
    by_zone: dict[str, Window] = field(default_factory=dict)
    fallback: Window | None = None

    def __post_init__(self) -> None:
        if self.most_pods < 1:
            raise ValueError("mostPods: must be at least 1")


class StructArgs(msgspec.Struct, rename="camel"):
    """Arguments as a struct."""

    most_pods: int = 2


def test_fields_are_written_in_camel_case_and_defaulted() -> None:
    args = decoded_args(RackArgs, {"label": "rack", "windows": [{"fromHour": 8}], "byZone": {"a": {"toHour": 9}}})
    assert args == RackArgs("rack", 2, 0.5, [Window(8, 24)], {"a": Window(0, 9)})
    assert decoded_args(StructArgs, {"mostPods": 3}) == StructArgs(3)
    assert decoded_args(StructArgs, None) == StructArgs()
    assert decoded_args(RackArgs, {"label": "x", "fallback": {"fromHour": 1}}).fallback == Window(1, 24)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param({}, "args.label: is required", id="a required field is missing"),
        pytest.param({"label": 3}, "args.label: expected `str`, got `int`", id="a wrong type"),
        pytest.param({"label": "x", "mostPods": "3"}, "args.mostPods: expected `int`, got `str`", id="no conversion"),
        pytest.param(
            {"label": "x", "mostPod": 3}, "args.mostPod: there is no such field; did you mean mostPods?", id="a typo"
        ),
        pytest.param(
            {"label": "x", "most_pods": 3},
            "args.most_pods: there is no such field; did you mean mostPods?",
            id="another spelling",
        ),
        pytest.param({"label": "x", "mostPods": 0}, "args: mostPods: must be at least 1", id="the class's own check"),
        pytest.param(
            {"label": "x", "windows": [{}, {"fromHour": "8"}]},
            "args.windows[1].fromHour: expected `int`, got `str`",
            id="a field within a list",
        ),
        pytest.param(
            {"label": "x", "byZone": {"a": {"from": 8}}},
            "args.byZone.a.from: there is no such field; did you mean fromHour?",
            id="a typo within a mapping",
        ),
        pytest.param(
            [1], "args: expected fields such as {label: ..., mostPods: ..., share: ...}, got list", id="a list"
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_path(value: Any, text: str) -> None:
    with pytest.raises(PluginError) as caught:
        decoded_args(RackArgs, value)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "RackArgs"}, "", id="both"),
        pytest.param({"kind": "RackArgs"}, "", id="the kind alone"),
        pytest.param(
            {"kind": "RacksArgs"}, "args.kind: expected RackArgs, or leave it out, got 'RacksArgs'", id="kind"
        ),
        pytest.param(
            {"apiVersion": "v1"},
            "args.apiVersion: expected kubescheduler.config.k8s.io/v1, or leave it out, got 'v1'",
            id="another version",
        ),
    ],
)
def test_arguments_may_name_their_kind(value: dict[str, Any], text: str) -> None:
    if not text:
        assert decoded_args(RackArgs, {**value, "label": "x"}, "Rack") == RackArgs("x")
        return
    with pytest.raises(PluginError) as caught:
        decoded_args(RackArgs, {**value, "label": "x"}, "Rack")
    assert str(caught.value) == text


def test_arguments_are_shown_as_they_are_written() -> None:
    args = decoded_args(RackArgs, {"label": "rack", "windows": [{"fromHour": 8}]})
    assert shown_args(args) == {
        "label": "rack",
        "mostPods": 2,
        "share": 0.5,
        "windows": [{"fromHour": 8, "toHour": 24}],
        "byZone": {},
        "fallback": None,
    }
    assert decoded_args(RackArgs, shown_args(args)) == args


def test_fields_have_types_and_defaults() -> None:
    assert args_fields(RackArgs)[:4] == [
        ArgsField("label", "str", None, True),
        ArgsField("mostPods", "int", 2, False),
        ArgsField("share", "float", 0.5, False),
        ArgsField("windows", f"list[{__name__}.Window]", [], False),
    ]


class Typed:
    def __init__(self, args: RackArgs) -> None: ...


class Optional:
    def __init__(self, args: RackArgs | None = None) -> None: ...


class Untyped:
    def __init__(self, args: Any = None) -> None: ...


class Without: ...


def test_the_schema_is_the_annotation_of_args() -> None:
    assert [args_schema(each) for each in (Typed, Optional, Untyped, Without)] == [RackArgs, RackArgs, None, None]

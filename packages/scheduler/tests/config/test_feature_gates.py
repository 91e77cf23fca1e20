"""Feature gates: defaults by version, the flag's syntax, and what may not be set."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import DEPENDENCIES, FeatureGates, Version


def errors_of(text: str, *versions: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        FeatureGates.parse(text, versions)
    assert caught.value.stage == "gates"
    return caught.value.errors


def test_defaults_are_those_of_the_last_version_reached() -> None:
    known = json.loads(resources.files("kubesched.config").joinpath("feature_gates.json").read_text())
    gates = FeatureGates()
    assert {name: specs[-1]["default"] for name, specs in known.items()} == gates.all()


def test_every_default_set_meets_its_own_dependencies() -> None:
    for minor in range(33, 37):
        assert FeatureGates(version=Version(1, minor)).version.minor == minor
    assert all(FeatureGates().enabled(name) in (True, False) for name in DEPENDENCIES)


def test_the_flag_sets_gates() -> None:
    gates = FeatureGates.parse("GenericWorkload=true, GangScheduling = T ,,SchedulerAsyncPreemption=0")
    assert gates["GenericWorkload"]
    assert gates.enabled("GangScheduling")
    assert not gates["SchedulerAsyncPreemption"]
    assert gates.explicit == {"GenericWorkload": True, "GangScheduling": True, "SchedulerAsyncPreemption": False}
    assert FeatureGates.parse("kube:GenericWorkload=true")["GenericWorkload"]


def test_all_alpha_and_all_beta_yield_to_a_gates_own_setting_in_either_order() -> None:
    for text in ("AllAlpha=true,StorageCapacityScoring=false", "StorageCapacityScoring=false,AllAlpha=true"):
        gates = FeatureGates.parse(text)
        assert not gates["StorageCapacityScoring"]
        assert gates["GenericWorkload"]
    beta = [name for name in FeatureGates().all() if FeatureGates().stage(name) == "BETA" and name != "AllBeta"]
    assert beta
    assert all(FeatureGates({"AllBeta": True})[name] for name in beta)


def test_an_older_version_has_its_own_gates() -> None:
    old = FeatureGates.parse("", ["kube=1.33"])
    assert old.stage("GangScheduling") == "PRE-ALPHA"
    assert not old["GangScheduling"]
    assert FeatureGates().stage("GangScheduling") == "ALPHA"


@pytest.mark.parametrize(
    ("text", "versions", "error"),
    [
        ("Nope=true", (), "unrecognized feature gate: Nope"),
        ("Nope", (), "missing bool value for Nope"),
        ("A=x", (), 'invalid value of A=x, err: strconv.ParseBool: parsing "x": invalid syntax'),
        (
            "DynamicResourceAllocation=false",
            (),
            "cannot set feature gate DynamicResourceAllocation to false, feature is locked to true",
        ),
        (
            "GangScheduling=true",
            (),
            "GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]",
        ),
        (
            "GangScheduling=true",
            ("1.34",),
            "cannot set feature gate GangScheduling to true, feature is PreAlpha at emulated version 1.34, "
            "min compatibility version 1.33",
        ),
        ("wardle:A=true", (), "component not registered: wardle"),
        (
            "kube:AllAlpha=true,AllBeta=true",
            (),
            "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use",
        ),
        ("", ("1.30",), "emulation version 1.30 is not between [1.33, 1.36.0]"),
        ("", ("1.37",), "emulation version 1.37 is not between [1.33, 1.36.0]"),
        ("", ("1.35.2",), "patch version not allowed, got: kube=1.35.2"),
        ("", ("1.35", "kube=1.34"), "duplicate version flag, kube=1.35 and kube=1.34"),
        ("", ("wardle=1.2",), "component not registered: wardle"),
        ("", ("new",), 'could not parse "new" as version'),
    ],
)
def test_refusals(text: str, versions: tuple[str, ...], error: str) -> None:
    assert errors_of(text, *versions) == (error,)


def test_all_unknown_gates_are_named() -> None:
    assert errors_of("A=true,B=true") == ("unrecognized feature gate: A", "unrecognized feature gate: B")


def test_an_unknown_name_asked_by_code_is_a_bug() -> None:
    with pytest.raises(KeyError):
        FeatureGates().enabled("Nope")

"""The kinds of custom resources that a cluster is read with."""

import pytest

from kubesched import Registry, build_engine
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import load_config
from kubesched.core.framework.plugin import FilterPlugin
from kubesched.sources import custom_kinds
from kubesched.sources.custom_kinds import custom_kinds_in, custom_kinds_of

ENABLED = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {filter: {enabled: [{name: Quota}]}}}]
"""


class Quota(FilterPlugin):
    name = "Quota"
    looks_up = ("quotas.v1.example.com",)

    def filter(self, cycle: object, pod: object, node: object) -> None:
        return None


def registry_of_quota() -> Registry:
    registry = Registry()
    registry.register(Quota)
    return registry


def test_in_tree_plugins_look_up_no_custom_resources_whatever_the_gates() -> None:
    engine = build_engine(gates=FeatureGates({"AllAlpha": True, "AllBeta": True}))
    assert custom_kinds_in(engine.profiles, engine.loaded.gates) == []


def test_the_kinds_of_an_enabled_plugin_are_found() -> None:
    registry = registry_of_quota()
    assert custom_kinds_of(load_config(ENABLED, registry=registry), registry) == ["quotas.v1.example.com"]


@pytest.mark.parametrize(
    "registry", [Registry(), registry_of_quota()], ids=["no plugin", "a plugin that is not enabled"]
)
def test_without_an_enabled_plugin_no_engine_is_built(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(custom_kinds, "engine_of")
    assert custom_kinds_of(load_config(registry=registry), registry) == []

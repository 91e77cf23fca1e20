"""A swap lists the kinds that new plugins look up before it takes place; one that cannot be listed changes nothing."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any, cast

import pytest
from tests.support.configurations import config, profile

from kubesched.config.load import Loaded
from kubesched.core.assembly import load_config
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import FilterPlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import Status, unschedulable
from kubesched.core.framework.views.cluster_view import ClusterView
from kubesched.run import reloader
from kubesched.run.configuration_swap import ConfigurationSwap, ReloadError
from kubesched.run.reload_reports import APPLIED, REFUSED, ReloadOutcome
from kubesched.run.reloader import reloaded
from kubesched.run.restart_fields import with_restart_fields_of
from kubesched.testing import a_node, a_pod
from kubesched.testing.plugin_config import registry_of
from kubesched_controlplane.testing.embedded_cluster import EmbeddedCluster

RACKS = "racks.v1.example.com"
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "racks.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Cluster",
        "names": {"plural": "racks", "singular": "rack", "kind": "Rack", "listKind": "RackList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}


class OpenRacks(FilterPlugin):
    """Accepts the nodes that a rack names."""

    name = "OpenRacks"
    looks_up = (RACKS,)

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self.racks = cluster.index(RACKS, lambda rack: [rack.name])

    def filter(self, cycle: CycleState, pod: PodInfo, node: Any) -> Status | None:
        return None if self._cluster.get(RACKS, node.name) is not None else unschedulable("no rack")

    def events_to_register(self) -> Sequence[Any]:
        return ()


def with_racks() -> Loaded:
    text = config(profile(plugins="{filter: {enabled: [{name: OpenRacks}]}}"))
    return load_config(text, registry=registry_of([OpenRacks]))


def swap_of(cluster: EmbeddedCluster) -> ConfigurationSwap:
    local = cluster._started()
    return ConfigurationSwap(local.parts.scheduler, local.parts.informers, local._grant)


def test_new_kinds_are_listed_before_plugins_look_them_up() -> None:
    with EmbeddedCluster(OpenRacks, config=config(profile())) as cluster:
        cluster.put(DEFINITION, a_node("n1"), a_node("n2"))
        cluster.put({"apiVersion": "example.com/v1", "kind": "Rack", "metadata": {"name": "n2"}})
        cluster.settle()
        assert RACKS not in cluster._started().parts.informers.reflectors
        cluster.wait_for(swap_of(cluster).put_in_force(with_racks()))
        cluster.put(*(a_pod(f"p{number}") for number in range(4)))
        cluster.settle()
        assert {cluster.node_of(f"p{number}") for number in range(4)} == {"n2"}


def test_a_kind_that_is_not_served_refuses_the_configuration() -> None:
    with EmbeddedCluster(OpenRacks, config=config(profile())) as cluster:
        cluster.put(a_node("n1"))
        cluster.settle()
        before = cluster._started().parts.scheduler.engine
        words = "/apis/example.com/v1/racks could not be listed within 30 s, which OpenRacks needs"
        with pytest.raises(ReloadError, match=words):
            cluster.wait_for(swap_of(cluster).put_in_force(with_racks()))
        cluster.put(a_pod("p"))
        cluster.settle()
        assert cluster.node_of("p") == "n1"
        parts = cluster._started().parts
        assert parts.scheduler.engine is before
        assert RACKS not in parts.informers.reflectors
        assert parts.informers.same_incarnation
        assert not parts.scheduler.cluster.objects._followers.get(RACKS), "the plugin's index is released"
        # once it is served, the same configuration can be put in force
        cluster.put(DEFINITION)
        cluster.wait_for(swap_of(cluster).put_in_force(with_racks()))
        assert parts.scheduler.engine.generation == 2


def test_a_refusal_that_may_pass_is_told_from_one_that_stays() -> None:
    def wrong() -> Loaded:
        return load_config("profiles: [")

    with EmbeddedCluster(OpenRacks, config=config(profile())) as cluster:
        cluster.put(a_node("n1"))
        cluster.settle()
        swap, in_force = swap_of(cluster), cluster._started().parts.scheduler.engine.loaded
        missing = cluster.wait_for(reloaded("no file", with_racks, in_force, swap))
        assert (missing.result, missing.again, "racks could not be listed" in missing.reason) == (REFUSED, True, True)
        invalid = cluster.wait_for(reloaded("no file", wrong, in_force, swap))
        assert (invalid.result, invalid.again) == (REFUSED, False)
        cluster.put(DEFINITION)
        assert cluster.wait_for(reloaded("no file", with_racks, in_force, swap)) == ReloadOutcome(APPLIED)


def with_profiles(count: int) -> Loaded:
    return load_config(config(*(profile(name=f"p{number}") for number in range(count))))


def test_a_configuration_is_read_and_compared_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []

    def compared(old: Any, new: Any) -> Any:
        threads.append(threading.current_thread())
        return with_restart_fields_of(old, new)

    class Swap:
        """Puts nothing in force."""

        async def put_in_force(self, loaded: Loaded) -> None:
            assert len(loaded.config.profiles) == 2

    monkeypatch.setattr(reloader, "with_restart_fields_of", compared)
    # virtual time has no threads
    outcome = asyncio.run(reloaded("no file", lambda: with_profiles(2), with_profiles(1), cast(Any, Swap())))
    assert outcome == ReloadOutcome(APPLIED)
    assert len(threads) == 1
    assert threads != [threading.current_thread()]


@pytest.mark.parametrize(("count", "is_refused"), [(100, False), (101, True), (5000, True)])
def test_a_reload_builds_a_bounded_number_of_profiles(count: int, is_refused: bool) -> None:
    loaded = with_profiles(count)
    with EmbeddedCluster(config=config(profile())) as cluster:
        swap, scheduler = swap_of(cluster), cluster._started().parts.scheduler
        before = scheduler.engine
        outcome = cluster.wait_for(reloaded("no file", lambda: loaded, before.loaded, swap))
        if is_refused:
            reason = f"profiles: {count}; a reload builds at most 100: restart the scheduler"
            assert outcome == ReloadOutcome(REFUSED, reason)
        assert (scheduler.engine is before) == is_refused


def without_racks() -> Loaded:
    return load_config(config(profile()), registry=registry_of([OpenRacks]))


def racks(cluster: EmbeddedCluster, *names: str) -> None:
    cluster.put(*({"apiVersion": "example.com/v1", "kind": "Rack", "metadata": {"name": name}} for name in names))


def test_kinds_that_no_plugin_needs_any_more_are_not_watched_and_come_back_when_one_does() -> None:
    with EmbeddedCluster(OpenRacks, config=config(profile())) as cluster:
        cluster.put(DEFINITION, a_node("n1"), a_node("n2"))
        racks(cluster, "n2")
        cluster.settle()
        parts = cluster._started().parts
        before = set(parts.informers.reflectors)
        swap = swap_of(cluster)
        for round_number in range(3):
            cluster.wait_for(swap.put_in_force(with_racks()))
            assert set(parts.informers.reflectors) == {*before, RACKS}
            cluster.put(a_pod(f"p{round_number}"))
            cluster.settle()
            assert cluster.node_of(f"p{round_number}") == "n2"
            assert [each.name for each in parts.scheduler.cluster.objects.named(RACKS)] == ["n2"]
            cluster.wait_for(swap.put_in_force(without_racks()))
            cluster.settle()
            assert set(parts.informers.reflectors) == before
            assert parts.informers.same_incarnation
            assert not list(parts.scheduler.cluster.objects.named(RACKS)), "nobody would tell of changes"


def test_kinds_of_in_tree_plugins_leave_with_their_plugins() -> None:
    lean = config(profile(plugins="{multiPoint: {disabled: [{name: VolumeBinding}, {name: VolumeZone}]}}"))
    with EmbeddedCluster(config=config(profile())) as cluster:
        cluster.put(a_node("n1"))
        cluster.settle()
        parts = cluster._started().parts
        before = set(parts.informers.reflectors)
        swap = swap_of(cluster)
        cluster.wait_for(swap.put_in_force(load_config(lean)))
        cluster.settle()
        assert "CSIStorageCapacity" in before - set(parts.informers.reflectors)
        assert {"Pod", "Node"} <= set(parts.informers.reflectors)
        cluster.wait_for(swap.put_in_force(load_config(config(profile()))))
        assert set(parts.informers.reflectors) == before
        cluster.put(a_pod("p"))
        cluster.settle()
        assert cluster.node_of("p") == "n1"

"""Plugins can be enabled at every extension point at which those of scheduler-plugins v0.34 can."""

from importlib import import_module

import pytest
from packages.contrib.tests.examples import ENTRY_POINTS

from kubesched import Registry, build_engine
from kubesched_contrib.node_resource_topology import NodeResourceTopologyMatch

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    queueSort: {disabled: [{name: "*"}], enabled: [{name: SORT}]}
    POINT: {enabled: [{name: NAME}]}
  pluginConfig: [{name: NAME, args: ARGS}]
"""
SORT = "PrioritySort"
POINTS = {
    "Coscheduling": "queueSort preFilter postFilter permit reserve",
    "CapacityScheduling": "preFilter postFilter",
    "LoadVariationRiskBalancing": "score",
    "LowRiskOverCommitment": "preScore score",
    "NetworkOverhead": "preFilter filter score",
    "NodeMetadata": "score",
    "NodeResourceTopologyMatch": "filter score reserve postBind",
    "NodeResourcesAllocatable": "score",
    "Peaks": "score",
    "PreemptionToleration": "postFilter",
    "SySched": "score",
    "TargetLoadPacking": "score",
    "TopologicalSort": "queueSort",
}
ARGS = {
    "NodeMetadata": "{metadataKey: k, metadataSource: Label, metadataType: Number, scoringStrategy: Lowest}",
    "Peaks": "{WatcherAddress: 'http://load-watcher:2020', NodePowerModel: {n: {k0: 1, k1: 2, k2: 0.1}}}",
}


@pytest.mark.parametrize(("name", "point"), [(name, point) for name in POINTS for point in POINTS[name].split()])
def test_a_plugin_is_enabled_at_a_point_alone(name: str, point: str) -> None:
    module, _, attribute = ENTRY_POINTS[name].partition(":")
    registry = Registry()
    registry.register(getattr(import_module(module), attribute))
    config = CONFIG.replace("ARGS", ARGS.get(name, "{}")).replace("SORT", name if point == "queueSort" else SORT)
    config = config.replace("    POINT: {enabled: [{name: NAME}]}\n", "") if point == "queueSort" else config
    engine = build_engine(config.replace("POINT", point).replace("NAME", name), registry=registry)
    assert name in next(iter(engine.profiles.values())).plugins


TOPOLOGY_AWARE = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
profiles:
- schedulerName: topo-aware-scheduler
  plugins:
    multiPoint: {enabled: [{name: NodeResourceTopologyMatch}]}
    reserve: {disabled: [{name: NodeResourceTopologyMatch}]}
  pluginConfig:
  - name: NodeResourceTopologyMatch
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourceTopologyMatchArgs
      scoringStrategy: {type: LeastAllocated}
      cacheResyncPeriodSeconds: 5
"""


def test_a_configuration_for_scheduler_plugins_is_taken_as_it_is() -> None:
    registry = Registry()
    registry.register(NodeResourceTopologyMatch)
    assert list(build_engine(TOPOLOGY_AWARE, registry=registry).profiles) == ["topo-aware-scheduler"]

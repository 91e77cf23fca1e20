"""Metrics of plugins have the plugin's name and exist once."""

import pytest
from prometheus_client import generate_latest

from kubesched.core.framework.services.plugin_metrics import PluginMetrics
from kubesched.errors import PluginError


def test_metrics_carry_the_name_of_the_plugin_and_exist_once() -> None:
    first = PluginMetrics("RackQuota").counter("refusals_total", "Nodes refused.", ["rack"])
    again = PluginMetrics("RackQuota").counter("refusals_total", "Nodes refused.", ["rack"])
    first.labels("a").inc()
    again.labels("a").inc()
    assert 'kubesched_plugin_rack_quota_refusals_total{rack="a"} 2.0' in generate_latest().decode()


def test_a_name_is_of_one_kind_of_metric() -> None:
    metrics = PluginMetrics("RackQuota")
    metrics.gauge("racks", "Racks.")
    with pytest.raises(PluginError, match="metric 'racks' is a gauge already"):
        metrics.histogram("racks", "Racks.", buckets=[1, 2])


def test_a_name_that_prometheus_does_not_know_is_refused() -> None:
    with pytest.raises(PluginError, match="metric 'a b'"):
        PluginMetrics("RackQuota").counter("a b", "No name.")

"""Tracebacks of plugins that fail: at -v 4 and in `up`, once a minute, and none where it is an answer that is wrong."""

import io
from pathlib import Path
from typing import Any

import pytest

from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import build_engine
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.observing.observer import Observer, Observers
from kubesched.core.framework.plugin import FilterPlugin
from kubesched.core.scheduling.decision import decide
from kubesched.run.instruments import Instruments
from kubesched.run.klog.logs import Logs
from kubesched.run.klog.options import LogOptions
from kubesched.run.plugin_failures import PluginFailures
from kubesched.serving.metrics.options import MetricOptions
from kubesched.testing import a_node, a_pod

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {filter: {enabled: [{name: Bad}]}}
"""
HERE = Path(__file__).name


class Bad(FilterPlugin):
    name = "Bad"
    answer: Any = None

    def filter(self, cycle: Any, pod: Any, node: Any) -> Any:
        if Bad.answer is not None:
            return Bad.answer
        secrets = {"there": 1, "password": "password=hunter2hunter2"}
        return self._deeper(secrets)

    def _deeper(self, numbers: dict[str, Any]) -> Any:
        raise LookupError(f"missing here {numbers['password']}")


def failure(*observers: Observer, times: int = 1, nodes: int = 20) -> str:
    registry = Registry()
    registry.register(Bad)
    told = Observers(observers, clock=lambda: 0.0, note=lambda line: None)
    engine = build_engine(CONFIG, registry=registry, observers=told)
    for number in range(nodes):
        engine.cluster.add(a_node(f"n{number}"))
    for _ in range(times):
        failed = decide(engine.evaluation_of(engine.cluster.reader.read(a_pod("p"))), lambda count: 0).failure
    assert failed is not None
    return failed.message


@pytest.fixture(autouse=True)
def _raises() -> None:
    Bad.answer = None


def test_the_message_names_file_and_line() -> None:
    message = failure()
    assert message.startswith('running "Bad" filter plugin: plugin "Bad" failed in filter: LookupError: missing here')
    line = next(n for n, text in enumerate(Path(__file__).read_text().splitlines(), 1) if "raise LookupError" in text)
    assert message.endswith(f" ({HERE}:{line})")


def test_the_traceback_is_written_once_a_minute_and_without_secrets() -> None:
    now, written = [0.0], []
    failures = PluginFailures(lambda *words: written.append(words), lambda: now[0])
    failure(failures, times=3)
    ((plugin, hook, text),) = written
    assert (plugin, hook) == ("Bad", "filter")
    assert text.startswith("Traceback (most recent call last):")
    assert "return self._deeper(secrets)" in text
    assert "LookupError: missing here" in text
    assert "hunter2" not in text
    now[0] = 61.0
    failure(failures)
    assert len(written) == 2


def test_an_answer_that_is_none_has_no_traceback() -> None:
    Bad.answer = "full"
    written: list[Any] = []
    assert "filter returned 'full'" in failure(PluginFailures(lambda *words: written.append(words)))
    assert not written


@pytest.mark.parametrize(("level", "logged"), [(3, False), (4, True)])
def test_it_is_in_the_log_from_level_4_on(level: int, logged: bool) -> None:
    out = io.StringIO()
    logs = Logs(LogOptions(verbosity=level), errors=out)
    instruments = Instruments(logs.log, MetricOptions(), FeatureGates.parse(""), "v1.36.4")
    registry = Registry()
    registry.register(Bad)
    engine = build_engine(CONFIG, registry=registry, observers=instruments.observers)
    engine.cluster.add(a_node("n"))
    decide(engine.evaluation_of(engine.cluster.reader.read(a_pod("p"))), lambda count: 0)
    logs.close()
    assert ("return self._deeper(secrets)" in out.getvalue()) is logged

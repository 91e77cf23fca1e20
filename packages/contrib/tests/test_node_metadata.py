"""NodeMetadata: scores by labels and annotations, texts that are none, and arguments."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packages.contrib.tests.examples import run_example

from kubesched import CycleState, PluginError, Registry, build_engine, decide
from kubesched.testing import a_node, a_pod, check_plugin
from kubesched_contrib.node_metadata import INVALID, LARGEST_VALUE, NodeMetadata

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: NodeMetadata, weight: 1000}]}}
  pluginConfig: [{name: NodeMetadata, args: {ARGS}}]
"""
NUMBER = "metadataKey: k, metadataSource: Label, metadataType: Number"
TIME = "metadataKey: k, metadataSource: Annotation, metadataType: Timestamp"


def an_engine(args: str) -> Any:
    registry = Registry()
    registry.register(NodeMetadata)
    return build_engine(CONFIG.replace("ARGS", args), registry=registry)


def chosen(args: str, **texts: str | None) -> str:
    engine = an_engine(args)
    for name, text in texts.items():
        told = {} if text is None else {"k": text}
        engine.cluster.add(a_node(name, labels=told, annotations=told))
    pod = engine.cluster.reader.read(a_pod("web"))
    return decide(engine.evaluation_of(pod), pick=lambda nodes: 0).node_name


@pytest.mark.parametrize(
    ("args", "texts", "node"),
    [
        (f"{NUMBER}, scoringStrategy: Highest", {"a": "9", "b": "100", "c": "-5"}, "b"),
        (f"{NUMBER}, scoringStrategy: Lowest", {"a": "9", "b": "100", "c": "-5"}, "c"),
        (f"{NUMBER}, scoringStrategy: Lowest", {"a": "0.9", "b": "0.2", "c": "0.5"}, "b"),
        (f"{NUMBER}, scoringStrategy: Lowest", {"a": None, "b": "100", "c": "much"}, "b"),
        (f"{NUMBER}, scoringStrategy: Highest", {"a": "nan", "b": "-7", "c": "1_000"}, "b"),
        (f"{NUMBER}, scoringStrategy: Highest", {"a": "1e999", "b": "1e99", "c": "2"}, "b"),
        (f"{TIME}, scoringStrategy: Newest", {"a": "2026-01-01T00:00:00Z", "b": "2026-01-01T00:30:00+02:00"}, "a"),
        (f"{TIME}, scoringStrategy: Oldest", {"a": "2026-01-01T00:00:00Z", "b": "2026-01-01T00:30:00+02:00"}, "b"),
        (f"{TIME}, scoringStrategy: Oldest", {"a": "2025", "b": "2026-01-01T00:00:00Z"}, "b"),
        (f"{TIME}, scoringStrategy: Oldest, timestampFormat: 02.01.2006", {"a": "03.02.2026", "b": "04.01.2026"}, "b"),
    ],
    ids=[
        "the highest",
        "the lowest",
        "fractions count",
        "no value is worse than any",
        "what is no number is none",
        "a large number is cut, one beyond any number is none",
        "the newest, across zones",
        "the oldest",
        "what is no time is none",
        "another layout",
    ],
)
def test_the_node_that_is_preferred(args: str, texts: dict[str, Any], node: str) -> None:
    assert chosen(args, **texts) == node


@given(st.lists(st.integers(-LARGEST_VALUE, LARGEST_VALUE) | st.just(INVALID), min_size=1, max_size=9))
def test_values_are_stretched_from_1_to_100_and_none_is_0(raw: list[int]) -> None:
    pod: Any = None
    plugin = NodeMetadata.__new__(NodeMetadata)
    final = plugin.normalize_scores(CycleState(), pod, np.array(raw, np.int64)).tolist()
    valid = [value for value in raw if value != INVALID]
    for value, score in zip(raw, final, strict=True):
        assert (score == 0) == (value == INVALID)
        if value == INVALID:
            continue
        assert value != max(valid) or score == (100 if len(set(valid)) > 1 else 1)
        assert value != min(valid) or score == 1
    assert sorted(final) == [score for _, score in sorted(zip(raw, final, strict=True))]


def test_the_contract() -> None:
    args = {"metadataKey": "k", "metadataSource": "Label", "metadataType": "Number", "scoringStrategy": "Lowest"}
    nodes = [a_node(f"n{number}", labels={"k": text}) for number, text in enumerate(["1", "7.5", "much"])]
    report = check_plugin(NodeMetadata, args=args, nodes=nodes, examples=15, speed=False)
    assert report, str(report)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("metadataSource: Label, metadataType: Number, scoringStrategy: Highest", "metadataKey"),
        (f"{NUMBER}, scoringStrategy: Highest".replace(" k,", ' "",'), "metadataKey: cannot be empty"),
        (f"{NUMBER}, scoringStrategy: Newest", "Newest does not apply to metadataType Number; write Highest or Lowest"),
        (f"{TIME}, scoringStrategy: Lowest", "Lowest does not apply to metadataType Timestamp; write Newest or Oldest"),
        (f"{TIME}, scoringStrategy: Newest, timestampFormat: yyyy", "timestampFormat: 'yyyy' has no year"),
        (f"{NUMBER}, scoringStrategy: Best", "scoringStrategy: invalid enum value 'Best'"),
        (f"{NUMBER}, scoringStrategy: Highest, key: k", "key"),
    ],
)
def test_arguments_that_are_wrong_are_told_at_start(args: str, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        an_engine(args)


def test_the_example_prefers_the_cheap_node() -> None:
    assert run_example("node-metadata") == {"web": "cheap"}

"""The public API as somebody meets it who has not read the source: what is wrong is said, what is wanted is there."""

from typing import Any

import pytest

from kubesched import build_engine, decide
from kubesched.api.codec import decode_json
from kubesched.api.custom import CustomObject, custom_kind, custom_kind_of
from kubesched.core.cluster.cluster import ClusterState
from kubesched.testing import a_custom_object, a_node, a_pod

LOADS = "nodeloads.v1.example.com"


def test_a_decision_says_why_there_is_no_node() -> None:
    engine = build_engine()
    pod = engine.cluster.reader.read(a_pod("web", cpu="5"))
    assert decide(engine.evaluation_of(pod), pick=lambda n: 0).message == "no nodes available to schedule pods"
    for name in ("n1", "n2"):
        engine.cluster.add(a_node(name, cpu="4"))
    decision = decide(engine.evaluation_of(pod), pick=lambda n: 0)
    assert (decision.node_name, decision.message) == ("", "0/2 nodes are available: 2 Insufficient cpu.")
    engine.cluster.add(a_node("n3", cpu="8"))
    assert decide(engine.evaluation_of(pod), pick=lambda n: 0).message == ""


def test_a_pod_that_nobody_has_read_is_told_how_to_be_evaluated() -> None:
    pod: Any = a_pod("web")
    with pytest.raises(TypeError, match=r"engine\.cluster\.reader\.read\(pod\)"):
        build_engine().evaluation_of(pod)


@pytest.mark.parametrize(
    ("what", "words"), [({"kind": "Node"}, r"not dict; kubesched\.api\.codec\.decode"), ("node", "not str")]
)
def test_a_cluster_takes_objects(what: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        ClusterState().add(what)


def test_custom_objects_have_whatever_fields_they_have() -> None:
    text = (
        b'{"apiVersion":"example.com/v1","kind":"NodeLoad","metadata":{"name":"n1"},"usage":{"cpu":9},"timestamp":null}'
    )
    load = decode_json(custom_kind(LOADS), text)
    assert (load.name, load.usage, load.spec, load.status) == ("n1", {"cpu": 9}, None, None)
    with pytest.raises(AttributeError, match=f"{LOADS} n1 has no field 'window'; it has usage"):
        load.window  # noqa: B018


def test_a_custom_object_is_found_under_its_kind() -> None:
    cluster = ClusterState()
    cluster.add(a_custom_object(LOADS, "n1", usage={"cpu": 9}, labels={"a": "b"}))
    (load,) = cluster.objects.named(LOADS)
    assert isinstance(load, CustomObject)
    assert (load.metadata.labels, load.usage) == ({"a": "b"}, {"cpu": 9})


@pytest.mark.parametrize(
    ("kind", "api_version", "name"),
    [
        ("NodeLoad", "example.com/v1", LOADS),
        ("Policy", "example.com/v2", "policies.v2.example.com"),
        ("NodeLoad", "example.com/v2", None),
        ("NodeLoad", "v1", None),
        ("Pod", "v1", None),
    ],
)
def test_which_kind_a_document_is_of(kind: str, api_version: str, name: str | None) -> None:
    names = ("Pod", LOADS, "policies.v2.example.com")
    assert custom_kind_of({"kind": kind, "apiVersion": api_version}, names) == name


def test_nodes_have_annotations() -> None:
    assert a_node("n", annotations={"carbon": "7"}).metadata.annotations == {"carbon": "7"}

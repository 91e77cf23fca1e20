"""Paths to fields: what they change, and what they say when they lead nowhere."""

from typing import Any

import pytest

from kubesched_lab.sweep.errors import SweepError
from kubesched_lab.sweep.field_paths import short_names, with_value

FIT = "profiles[0].plugins.score.enabled[NodeResourcesFit].weight"
DOCUMENT = {"pods": [{"name": "web", "cpu": 1}, {"name": "batch"}], "until": "1h"}


@pytest.mark.parametrize(
    ("document", "path", "changed"),
    [
        ({}, "until", {"until": 7}),
        ({"until": 1, "kind": "W"}, "until", {"until": 7, "kind": "W"}),
        ({"pods": [{"cpu": 1}, {}]}, "pods[1].arrivals.rate", {"pods": [{"cpu": 1}, {"arrivals": {"rate": 7}}]}),
        ({}, FIT, {"profiles": [{"plugins": {"score": {"enabled": [{"name": "NodeResourcesFit", "weight": 7}]}}}]}),
        (
            {"a": [{"name": "x", "w": 1}, {"name": "y"}]},
            "a[y].w",
            {"a": [{"name": "x", "w": 1}, {"name": "y", "w": 7}]},
        ),
        ({"p": [{"schedulerName": "mine"}]}, "p[mine].w", {"p": [{"schedulerName": "mine", "w": 7}]}),
        ({"labels": {"a": "b"}}, 'labels["example.com/pool"]', {"labels": {"a": "b", "example.com/pool": 7}}),
        ({"a": None}, "a.b", {"a": {"b": 7}}),
        ({"a": [[1, 2]]}, "a[0][1]", {"a": [[1, 7]]}),
    ],
)
def test_a_value_is_put_where_the_path_leads(document: Any, path: str, changed: Any) -> None:
    before = repr(document)
    assert with_value(document, path, 7, makes_items=True) == changed
    assert repr(document) == before


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("", "'' is not a path such as pods[0].arrivals.rate"),
        ("pods[", "'pods[' is not a path"),
        ("pods..cpu", "'pods..cpu' is not a path"),
        ("pods[-1]", "pods[-1]: there is no item named -1; the items are web, batch"),
        ("pods[2].cpu", "pods[2].cpu: there is no item [2], the list has 2"),
        ("pods[job].cpu", "pods[job].cpu: there is no item named job; the items are web, batch"),
        ("until.hours", "until.hours: there is no field hours in '1h'"),
        ("pods.cpu", "pods.cpu: there is no field cpu in a list"),
        ("until[0]", "until[0]: there is no item [0] in '1h'"),
    ],
)
def test_a_path_that_leads_nowhere_is_told(path: str, why: str) -> None:
    with pytest.raises(SweepError) as raised:
        with_value(DOCUMENT, path, 7, makes_items=False)
    assert str(raised.value).startswith(why)


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["until"], ["until"]),
        ([FIT], ["NodeResourcesFit.weight"]),
        (["pods[0].arrivals.rate"], ["arrivals.rate"]),
        (["pods[0].cpu", "pods[1].cpu"], ["pods[0].cpu", "pods[1].cpu"]),
        (["pods[web].cpu", "pods[batch].cpu"], ["web.cpu", "batch.cpu"]),
    ],
)
def test_short_names_are_of_one_path_each(paths: list[str], names: list[str]) -> None:
    assert list(short_names(paths).values()) == names

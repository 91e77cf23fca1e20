"""How many of something fit, over the page's interface: as `kubesched capacity` counts, or why that cannot be said."""

import asyncio
from typing import Any

import pytest
from packages.lab.tests.page.routes.test_action_routes import acting

from kubesched.testing import a_node, a_pod
from kubesched_lab.page.routes import capacity

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: i, resources: {requests: {cpu: 500m}}}]}
"""


def asked(**question: Any) -> tuple[int, Any]:
    async def ask() -> tuple[int, Any]:
        objects = a_node("n", cpu="4", zone="a"), a_node("m", cpu="2", zone="b"), a_pod("p", cpu="1", node="n")
        async with acting(*objects, simulate=False) as page:
            before = (await page.ask("GET", "/v1/cluster"))[1]["seq"]
            found = await page.ask("POST", "/v1/capacity", question)
            assert (await page.ask("GET", "/v1/cluster"))[1]["seq"] == before, "a question changes nothing"
            return found

    return asyncio.run(ask())


def test_copies_of_a_pod_are_counted() -> None:
    status, found = asked(pod="default/p")
    assert status == 200
    (part,) = found["capacity"]["templates"]
    assert (part["replicas"], part["nodes"]) == (5, {"m": 2, "n": 3})
    assert [(zone["name"], zone["replicas"]) for zone in part["zones"]] == [("a", 3), ("b", 2)]


def test_a_workload_is_counted() -> None:
    status, found = asked(yaml=DEPLOYMENT, namespace="shop")
    assert status == 200
    assert found["capacity"]["summary"].startswith("10 replicas of Deployment shop/web fit on 2 nodes")


REFUSED: dict[str, tuple[dict[str, Any], int, str]] = {
    "nothing": ({}, 400, "give either the name of a pod or the YAML of a workload"),
    "a pod and a workload": ({"pod": "default/p", "yaml": DEPLOYMENT}, 400, "give either the name of a pod"),
    "a pod that is not there": ({"pod": "default/x"}, 404, "there is no pod default/x"),
    "what is no YAML": ({"yaml": "a: ["}, 422, "the manifest: document 1: yaml: line 2"),
    "what has no pods": ({"yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}"}, 422, "no workload to count"),
    "a wide document": ({"yaml": "a: [" + "1," * 1000}, 413, "yaml: the text may have more than 500 values"),
    "an unknown field": ({"pods": "x"}, 400, "unknown field `pods`"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_counted_is_refused(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity, "MOST_VALUES", 500)
    question, status, sentence = REFUSED[case]
    found = asked(**question)
    assert found[0] == status
    assert sentence in found[1]["error"]

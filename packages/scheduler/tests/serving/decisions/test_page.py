"""/debug/decisions over TLS: who may see it, and what its parameters do."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from tests.support.serving import Facts, FakeApi, Served, served

from kubesched.serving.decisions.ring import DecisionRing, RingEntry
from kubesched.serving.options import ServingOptions
from kubesched.serving.pages.routes import Pages

PATH = "/debug/decisions"
ANNA, BEN = {"Authorization": "Bearer of-anna"}, {"Authorization": "Bearer of-ben"}


class Recording(Facts):
    """A scheduler with three decisions about two pods, and a quiet profiler."""

    def pages(self) -> Pages:
        ring = DecisionRing(1 << 20, now=lambda: 100.0)
        for at, name in enumerate(("a", "b", "a")):
            ring.add(RingEntry(float(at), "default", name, f"uid-{name}", "bound", node=f"n{at}"))
        return msgspec.structs.replace(super().pages(), decisions=ring, set_verbosity=None)


@pytest.fixture(scope="module")
def scheduler() -> Iterator[Served]:
    api = FakeApi()
    api.tokens = {"of-anna": {"username": "anna"}, "of-ben": {"username": "ben"}}
    api.allowed = {("anna", PATH)}
    with served(ServingOptions(), api, Recording()) as found:
        yield found


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        pytest.param(ANNA, 200, id="a user who may get the path"),
        pytest.param(BEN, 403, id="a user who may not"),
        pytest.param({}, 403, id="nobody in particular"),
        pytest.param({"Authorization": "Bearer wrong"}, 401, id="a token that nobody has"),
    ],
)
def test_it_is_for_those_whom_the_api_server_lets_get_the_path(
    scheduler: Served, headers: dict[str, str], code: int
) -> None:
    found = scheduler.fetch(PATH, headers)
    assert found.code == code
    assert ("decisions" in json.loads(found.body)) == (code == 200)


def nodes(page: Any) -> list[str]:
    return [record["node"] for record in page["decisions"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["n2", "n1", "n0"]),
        ("?limit=1", ["n2"]),
        ("?pod=default/a", ["n2", "n0"]),
        ("?pod=default%2Fa&limit=1", ["n2"]),
        ("?pod=default/nobody", []),
        ("?limit=999999999", ["n2", "n1", "n0"]),
    ],
)
def test_parameters_select_decisions(scheduler: Served, query: str, expected: list[str]) -> None:
    found = scheduler.fetch(PATH + query, ANNA)
    assert found.headers["Content-Type"] == "application/json"
    assert nodes(json.loads(found.body)) == expected


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?pod=a", "pod=a: expected NAMESPACE/NAME"),
        ("?pod=a/b/c", "pod=a/b/c: expected NAMESPACE/NAME"),
        ("?limit=0", "limit=0: expected a positive number"),
        ("?limit=-1", "limit=-1: expected a positive number"),
        ("?limit=many", "limit=many: expected a positive number"),
    ],
)
def test_wrong_parameters_are_refused_with_a_line(scheduler: Served, query: str, said: str) -> None:
    found = scheduler.fetch(PATH + query, ANNA)
    assert (found.code, found.body) == (400, said + "\n")


def test_it_can_only_be_read(scheduler: Served) -> None:
    assert scheduler.api is not None
    assert scheduler.fetch(PATH, ANNA, method="DELETE").code == 405


def test_without_a_record_there_is_no_page() -> None:
    api = FakeApi()
    api.tokens = {"of-anna": {"username": "anna"}}
    api.allowed = {("anna", PATH)}
    with served(ServingOptions(), api) as found:
        assert found.fetch(PATH, ANNA).code == 404

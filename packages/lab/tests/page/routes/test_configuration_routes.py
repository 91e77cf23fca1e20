"""The page's interface to configurations, over real connections: faults with their places, and comparisons."""

import asyncio
import io
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from tests.support.models import a_model

from kubesched.cli.configurations import ASSUMED
from kubesched.testing import a_node, a_pod
from kubesched_answers.whatif.compare import NamedModel, compare
from kubesched_lab.page.page_state import PageState
from kubesched_lab.page.routes.configuration import NOT_APPLICABLE
from kubesched_lab.page.server import PageServer
from kubesched_lab.page.shown.shown_cluster import ShownCluster

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
PACKING = (
    HEAD
    + "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args: {scoringStrategy: {type: MostAllocated}}\n"
)
BOMB = "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n" for before, name in itertools.pairwise("abcdefg")
)
SECRET = HEAD + "extenders:\n# ours\n- urlPrefix: https://me:secret@host/x\n  tlsConfig:\n    keyData: c2VjcmV0\n"


class Asking:
    """Asks a page's server about configurations."""

    def __init__(self, session: aiohttp.ClientSession, base: str) -> None:
        self._session = session
        self._base = base

    async def get(self, path: str) -> Any:
        async with self._session.get(self._base + path) as found:
            return await found.json()

    async def post(self, path: str, body: Any, **options: Any) -> tuple[int, Any]:
        given = {"json": body, **options}
        async with self._session.post(self._base + path, **given) as found:
            return found.status, await found.json()


def objects() -> list[Any]:
    return [a_node("full", cpu="8"), a_node("free", cpu="8"), a_pod("p", node="full", cpu="4"), a_pod("q", cpu="1")]


@asynccontextmanager
async def asking(configuration: str = "", assumed: str = "") -> AsyncIterator[Asking]:
    shown = ShownCluster(a_model(*objects(), config=configuration or None))
    server = PageServer(PageState(shown, configuration=configuration, assumed=assumed), token="t")
    base = (await server.start()).partition("/#")[0]
    try:
        async with aiohttp.ClientSession(headers={"Authorization": "Bearer t"}) as session:
            yield Asking(session, base)
    finally:
        await server.close()


def test_the_configuration_in_force_is_its_text_without_secrets() -> None:
    async def story() -> None:
        async with asking(SECRET) as page:
            found = await page.get("/v1/configuration")
            assert found["faults"] == []
            assert "# ours" in found["yaml"]
            assert "secret" not in found["yaml"]
            assert "c2VjcmV0" not in found["yaml"]
        async with asking() as page:
            found = await page.get("/v1/configuration")
            assert "schedulerName: default-scheduler" in found["yaml"]
            assert found["form"]["profiles"][0]["schedulerName"] == "default-scheduler"

    asyncio.run(story())


FAULTS: dict[str, tuple[str, list[tuple[int, int, str]]]] = {
    "no YAML": ("a: [", [(2, 1, "")]),
    "an unknown field": (HEAD + "profiles:\n- shedulerName: x\n", [(4, 3, "profiles[0].shedulerName")]),
    "a wrong type": (HEAD + "parallelism: x\n", [(3, 14, "parallelism")]),
    "a bad value": (
        HEAD + "parallelism: 0\npodInitialBackoffSeconds: 0\n",
        [(3, 14, "parallelism"), (4, 27, "podInitialBackoffSeconds")],
    ),
    "a plugin that does not exist": (
        HEAD + "profiles:\n- plugins:\n    score:\n      enabled:\n      - name: Foo\n",
        [(7, 9, "profiles[0].plugins.score.enabled[0]")],
    ),
    "a bad argument": (
        PACKING.replace("MostAllocated", "Most"),
        [(6, 36, "profiles[0].pluginConfig[0].args.scoringStrategy.type")],
    ),
    "no kind": ("apiVersion: kubescheduler.config.k8s.io/v1\n", [(1, 1, "kind")]),
    "nothing": ("", [(1, 1, "apiVersion"), (1, 1, "kind")]),
    "a list": ("- a\n", [(1, 1, "")]),
    "too much by aliases": (BOMB, [(6, 1, "")]),
    "deeper than a stack": ("[" * 50_000 + "]" * 50_000, [(1, 1, "")]),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults_have_their_places(case: str) -> None:
    text, expected = FAULTS[case]

    async def story() -> None:
        async with asking() as page:
            status, found = await page.post("/v1/configuration/check", {"yaml": text})
            assert status == 200
            places = [(each["line"], each["column"], each["field"]) for each in found["faults"]]
            assert places == expected
            assert found["form"] is None

    asyncio.run(story())


def test_a_comparison_is_that_of_whatif() -> None:
    async def story() -> None:
        async with asking() as page:
            for everything in (False, True):
                body = {"yaml": PACKING, "rescheduleAll": everything}
                status, found = await page.post("/v1/configuration/compare", body)
                assert status == 200
                models = NamedModel("a", a_model(*objects())), NamedModel("b", a_model(*objects(), config=PACKING))
                expected = compare(*models, reschedule_all=everything).to_dict()
                assert found["comparison"]["differences"] == expected["differences"] != []
                assert found["comparison"]["summary"] == expected["summary"]

    asyncio.run(story())


JSON = {"headers": {"Content-Type": "application/json"}}
REFUSED: dict[str, tuple[Any, ...]] = {
    "a configuration with a fault": ("compare", {"yaml": "a: 1"}, {}, 422, "the configuration has a fault"),
    "no text": ("check", {}, {}, 400, "missing required field `yaml`"),
    "a number as text": ("check", {"yaml": 1}, {}, 400, "Expected `str`"),
    "an unknown field": ("check", {"yaml": "", "x": 1}, {}, 400, "unknown field `x`"),
    "a change that is unknown": ("check", {"yaml": HEAD, "change": {"do": "fly"}}, {}, 422, "'fly' is not known"),
    "a change that is nested too deep": (
        "check",
        {"yaml": HEAD, "change": {"do": "argument", "plugin": "NodeResourcesFit", "path": ["a"] * 5000, "value": 1}},
        {},
        422,
        "nested too deep",
    ),
    "no JSON": (
        "check",
        None,
        {"json": None, "data": b"{", **JSON},
        400,
        "body",
    ),
    "another type": ("check", None, {"json": None, "data": b"{}"}, 415, "Content-Type: application/json"),
    "too much": ("check", None, {"json": None, "data": io.BytesIO(b"x" * (2 << 20)), **JSON}, 413, "more than 1048576"),
    "applying without a simulation": ("", {"yaml": HEAD}, {}, 409, "applied to simulations only"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_told(case: str) -> None:
    path, body, options, status, why = REFUSED[case]

    async def story() -> None:
        async with asking() as page:
            found, answer = await page.post(f"/v1/configuration/{path}".rstrip("/"), body, **options)
            assert found == status
            assert why in answer["error"]

    asyncio.run(story())


def test_of_several_comparisons_that_wait_the_newest_is_answered() -> None:
    async def story() -> None:
        async with asking() as page:
            asked = [page.post("/v1/configuration/compare", {"yaml": PACKING}) for _ in range(4)]
            statuses = [status for status, _ in await asyncio.gather(*asked)]
            assert set(statuses) <= {200, 409}
            assert 200 in statuses

    asyncio.run(story())


def test_a_configuration_that_is_assumed_is_not_said_to_be_in_force() -> None:
    async def story() -> None:
        async with asking(PACKING) as page:
            found = await page.get("/v1/configuration")
            assert (found["status"], found["applicable"]) == ("In force.", False)
            assert found["why"] == NOT_APPLICABLE
        async with asking(assumed=ASSUMED) as page:
            assert (await page.get("/v1/configuration"))["status"] == ASSUMED
            await page.post("/v1/simulation", {})
            found = await page.get("/v1/configuration")
            assert (found["status"], found["applicable"], found["why"]) == ("In force.", True, "")

    asyncio.run(story())

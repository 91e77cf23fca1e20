"""The page's server: who gets what, over real connections on loopback."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec
import pytest
from tests.support.models import a_model

from kubesched.errors import KubeschedError
from kubesched.testing import a_node, a_pod
from kubesched_answers.explain.explain_pod import explain_named_pod
from kubesched_answers.explain.triage import triage
from kubesched_lab.page.server import PageServer
from kubesched_lab.page.shown.shown_cluster import LOST, ShownCluster

TOKEN = "of-this-test"


class Browser:
    """Asks a server as the page does."""

    def __init__(self, session: aiohttp.ClientSession, base: str, shown: ShownCluster) -> None:
        self.session = session
        self.base = base
        self.shown = shown

    async def get(self, path: str, **headers: str) -> tuple[int, Any]:
        async with self.session.get(self.base + path, headers={"Authorization": f"Bearer {TOKEN}", **headers}) as found:
            body = await found.read()
            return found.status, msgspec.json.decode(body) if "json" in found.content_type else body

    async def events(self, since: int, count: int) -> list[tuple[str, Any]]:
        seen: list[tuple[str, Any]] = []
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with self.session.get(f"{self.base}/v1/changes?since={since}", headers=headers) as found:
            name = ""
            async for line in found.content:
                if line.startswith(b"event: "):
                    name = line[7:].decode().strip()
                elif line.startswith(b"data: "):
                    seen.append((name, msgspec.json.decode(line[6:])))
                    if len(seen) == count:
                        break
        return seen


@asynccontextmanager
async def browser(*objects: Any) -> AsyncIterator[Browser]:
    shown = ShownCluster(a_model(*objects))
    server = PageServer(shown, token=TOKEN)
    base = (await server.start()).partition("/#")[0]
    try:
        async with aiohttp.ClientSession() as session:
            yield Browser(session, base, shown)
    finally:
        await server.close()


REFUSED = {
    "no token": ("/v1/cluster", {"Authorization": ""}, 401, "the token is missing or wrong"),
    "a wrong token": ("/v1/cluster", {"Authorization": "Bearer x"}, 401, "the token is missing or wrong"),
    "another host name": ("/", {"Host": "evil.example"}, 421, "and not 'evil.example'"),
    "an unknown file": ("/secret.txt", {}, 404, "not found"),
    "a file outside": ("/../server.py", {}, 404, "not found"),
    "an unknown pod": ("/v1/pods/default/nobody", {}, 404, "there is no pod default/nobody"),
    "an unknown node": ("/v1/nodes/nowhere", {}, 404, "there is no node nowhere"),
    "changes since no number": ("/v1/changes?since=x", {}, 400, "since: expected the seq"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_told_in_a_sentence(case: str) -> None:
    path, headers, status, why = REFUSED[case]

    async def story() -> None:
        async with browser(a_node("n"), a_pod("p")) as asking:
            found, body = await asking.get(path, **headers)
            assert found == status
            assert why in body["error"]

    asyncio.run(story())


def test_the_page_may_load_nothing_from_elsewhere() -> None:
    async def story() -> None:
        async with browser() as asking, asking.session.get(asking.base + "/") as found:
            assert found.status == 200
            assert "default-src 'none'" in found.headers["Content-Security-Policy"]
            assert found.headers["X-Content-Type-Options"] == "nosniff"
            assert found.headers["Server"] == "kubesched"

    asyncio.run(story())


def test_a_pods_explanation_is_that_of_explain_with_a_funnel() -> None:
    objects = (a_node("n", cpu="1"), a_node("m", cpu="8"), a_pod("p", cpu="2"))

    async def story() -> None:
        async with browser(*objects) as asking:
            status, body = await asking.get("/v1/pods/default/p")
            assert status == 200
            assert body["explanation"] == explain_named_pod(a_model(*objects), "default/p").to_dict()
            assert body["funnel"]["feasible"] == 1
            status, node = await asking.get("/v1/nodes/n")
            assert (status, node["explanation"]["node"]) == (200, "n")

    asyncio.run(story())


def test_remedies_can_be_asked_for_by_themselves() -> None:
    objects = (a_node("n", cpu="1"), a_pod("p", cpu="2"), a_pod("q", node="n"))

    async def story() -> None:
        async with browser(*objects) as asking:
            _, whole = await asking.get("/v1/pods/default/p")
            assert whole["explanation"]["remedies"]
            _, quick = await asking.get("/v1/pods/default/p?remedies=no")
            assert quick["explanation"] == {**whole["explanation"], "remedies": []}
            _, later = await asking.get("/v1/pods/default/p/remedies")
            assert later["remedies"] == whole["explanation"]["remedies"]
            assert (await asking.get("/v1/pods/default/q/remedies"))[1]["remedies"] == []
            assert (await asking.get("/v1/pods/default/nobody/remedies"))[0] == 404

    asyncio.run(story())


def test_pending_pods_are_those_of_explain_with_remedies_or_without() -> None:
    objects = (a_node("n", cpu="1"), a_pod("p", cpu="2"), a_pod("q"))

    async def story() -> None:
        async with browser(*objects) as asking:
            _, whole = await asking.get("/v1/pending")
            assert whole["explanation"]["summary"] == triage(a_model(*objects)).summary
            assert whole["explanation"]["groups"][0]["remedy"]
            _, quick = await asking.get("/v1/pending?remedies=no")
            assert "remedy" not in quick["explanation"]["groups"][0]
            assert quick["explanation"]["groups"][0]["names"] == ["default/p"]
            asking.shown.put(a_pod("p", node="n"))
            assert (await asking.get("/v1/pending?remedies=no"))[1]["explanation"]["unschedulable"] == 0

    asyncio.run(story())


def test_changes_come_as_events_and_so_does_a_source_that_is_lost() -> None:
    async def story() -> None:
        async with browser(a_node("n"), a_pod("p")) as asking:
            status, everything = await asking.get("/v1/cluster")
            assert (status, everything["seq"]) == (200, 0)
            asking.shown.put(a_pod("p", node="n"))
            seen = await asking.events(0, 2)
            assert seen[0] == ("source", {"state": "there", "why": ""})
            assert seen[1][0] == "changes"
            assert [pod["node"] for pod in seen[1][1]["pods"]] == ["n"]
            asking.shown.report_source(LOST, "connection refused")
            assert await asking.events(1, 1) == [("source", {"state": "lost", "why": "connection refused"})]
            assert (await asking.events(99, 2))[1] == ("reset", {})
            asking.shown.report_scheduler("https://s:1", LOST, "connection refused")
            (_, (name, told)) = await asking.events(1, 2)
            assert (name, told["state"], told["url"]) == ("scheduler", "lost", "https://s:1")
            assert (await asking.get("/v1/cluster"))[1]["scheduler"] == told

    asyncio.run(story())


def test_a_port_that_is_taken_is_told() -> None:
    async def story() -> None:
        async with browser() as asking:
            port = int(asking.base.rpartition(":")[2])
            with pytest.raises(KubeschedError, match=f"--port {port}"):
                await PageServer(asking.shown).start(port)

    asyncio.run(story())


def test_nobody_is_told_of_a_browser_that_leaves(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        async with browser(a_node("n"), a_pod("p")) as asking:
            await asking.events(0, 1)
            for number in range(30):
                asking.shown.put(a_pod("p", labels={"number": str(number)}))
                await asyncio.sleep(0.02)

    asyncio.run(story())
    assert not caplog.records


@pytest.mark.parametrize(
    ("origin", "status"),
    [("http://evil.example", 403), ("null", 403), ("https://127.0.0.1:1", 403), ("own", 200), ("", 403)],
)
def test_pages_of_other_origins_are_refused_even_with_the_token(origin: str, status: int) -> None:
    async def story() -> None:
        async with browser(a_node("n")) as page:
            given = page.base if origin == "own" else origin
            found, _ = await page.get("/v1/cluster", Origin=given)
            assert found == status

    asyncio.run(story())


def test_of_several_origins_each_has_to_be_ours() -> None:
    async def story() -> None:
        async with browser(a_node("n")) as page:
            reader, writer = await asyncio.open_connection(*page.base.removeprefix("http://").split(":"))
            host = page.base.removeprefix("http://")
            lines = [f"Host: {host}", f"Origin: {page.base}", "Origin: http://evil.example", "Connection: close"]
            writer.write("\r\n".join(["GET / HTTP/1.1", *lines, "", ""]).encode())
            assert b" 403 " in await reader.readline()
            writer.close()
            await writer.wait_closed()

    asyncio.run(story())

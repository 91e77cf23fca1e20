"""The text of requests: headers are formatted once, and always those of the credentials that are valid now."""

import asyncio
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packages.scheduler.tests.client.test_connection_pool import OK, a_question, always, asked, read_question, serving

from kubesched.client.connection_pool import ConnectionPool
from kubesched.client.http_messages import HttpRequest, ServerAddress
from kubesched.client.rest import RestClient, RestConfig


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_path_is_quoted_whether_it_is_plain_or_not(path: str) -> None:
    text = ServerAddress("http://host/clusters/ä").text(HttpRequest("GET", path, {}))
    expected = quote(f"/clusters/ä{path}", safe="/%:@!$&'()*+,;=~")
    assert text == f"GET {expected} HTTP/1.1\r\nHost: host\r\n\r\n".encode()


@pytest.mark.parametrize("method", ["GET /evil HTTP/1.1\r\nX: ", "GET\n", ""])
def test_a_method_is_a_word(method: str) -> None:
    with pytest.raises(ValueError, match="the method of the request is no word"):
        ServerAddress("http://host").text(HttpRequest(method, "/x", {}))


def test_requests_carry_the_headers_of_credentials_that_change_in_place() -> None:
    heads: list[str] = []
    credentials = {"Authorization": "Bearer first"}

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            heads.append(await read_question(reader))
            writer.write(OK)

    async def headers() -> dict[str, str]:
        return credentials

    async def story() -> None:
        async with serving(play) as (_, address), asyncio.timeout(10):
            client = RestClient(RestConfig(address, headers), "test")
            await client.send("POST", "/x", b"{}")
            await client.send("PATCH", "/x", b"{}", content_type="application/merge-patch+json")
            credentials["Authorization"] = "Bearer second"
            await client.send("POST", "/x", b"{}")
            await client.get("/x")
            credentials["X-One"] = "1\r\nX-Evil: 1"
            with pytest.raises(ValueError, match="line break"):
                await client.get("/x")
            await client.close()

    asyncio.run(story())
    told = [
        {line.partition(": ")[0]: line.partition(": ")[2] for line in head.split("\r\n")[1:] if line} for head in heads
    ]
    assert [found["Authorization"] for found in told] == ["Bearer first"] * 2 + ["Bearer second"] * 2
    assert [found.get("Content-Type") for found in told] == [
        "application/json",
        "application/merge-patch+json",
        "application/json",
        None,
    ]
    assert all(found["Accept"] == "application/json" and found["User-Agent"] == "test" for found in told)


def test_requests_of_one_connection_share_a_timer_and_keep_their_own_patience() -> None:
    async def story() -> None:
        async with serving(always(OK)) as (_, address), asyncio.timeout(10):
            pool, loop = ConnectionPool(address), asyncio.get_running_loop()
            await asked(pool, a_question(silence=60))
            (connection,) = pool._idle
            timer = connection._timer
            assert timer is not None
            for _ in range(3):
                await asked(pool, a_question(silence=60))
            assert connection._timer is timer
            await asked(pool, a_question(silence=1))
            assert connection._timer is not timer
            assert connection._timer_at <= loop.time() + 1
            await pool.close()
            assert connection._timer is None

    asyncio.run(story())

"""Requests as metrics see them: answers, refusals, silence, waiting for one's turn, watches."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer, unused_port

from kubesched.client.rate_limiter import RateLimiter
from kubesched.client.rest import Refused, RestClient, RestConfig, Unreachable
from kubesched.serving.metrics.client_metrics import RequestMetrics
from kubesched.serving.metrics.registry import MetricRegistry


async def no_headers() -> dict[str, str]:
    return {}


async def answer(request: web.Request) -> web.StreamResponse:
    if request.path == "/gone":
        return web.json_response({"message": "gone", "reason": "NotFound"}, status=404)
    if request.path == "/401":
        return web.json_response({"message": "who are you?"}, status=401)
    return web.Response(body=b"x" * 300)


def asked(story: Callable[[RestClient], Awaitable[None]], server: str = "", **options: object) -> list[str]:
    """Return the counts and sums of requests after a story with a server on loopback, or another."""
    registry = MetricRegistry(others=None)

    async def play() -> None:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", answer)
        async with TestServer(app) as here:
            target = RestConfig(server or str(here.make_url("")).rstrip("/"), no_headers)
            client = RestClient(target, "test", watcher=RequestMetrics(registry, "api"), **options)  # type: ignore[arg-type]
            try:
                await story(client)
            finally:
                await client.close()

    asyncio.run(play())
    lines = [line for line in registry.text().splitlines() if line.startswith("rest_client") and "_bucket" not in line]
    return [line.replace("rest_client_", "") for line in lines if "duration_seconds_sum" not in line]


def test_an_answer_is_counted_with_its_time_and_size() -> None:
    async def story(client: RestClient) -> None:
        await client.send("POST", "/here", b"y" * 70)

    assert asked(story) == [
        'request_duration_seconds_count{host="api",verb="POST"} 1',
        'request_size_bytes_sum{host="api",verb="POST"} 70',
        'request_size_bytes_count{host="api",verb="POST"} 1',
        'requests_total{code="200",host="api",method="POST"} 1',
        'response_size_bytes_sum{host="api",verb="POST"} 300',
        'response_size_bytes_count{host="api",verb="POST"} 1',
    ]


def test_a_refusal_is_counted_by_its_code() -> None:
    async def story(client: RestClient) -> None:
        with pytest.raises(Refused):
            await client.get("/gone")

    lines = asked(story)
    assert 'requests_total{code="404",host="api",method="GET"} 1' in lines
    assert 'request_duration_seconds_count{host="api",verb="GET"} 1' in lines


def test_silence_is_counted_as_an_error() -> None:
    async def story(client: RestClient) -> None:
        with pytest.raises(Unreachable):
            await client.get("/here")

    lines = asked(story, server=f"http://127.0.0.1:{unused_port()}")
    assert 'requests_total{code="<error>",host="api",method="GET"} 1' in lines


def test_a_watch_is_counted_but_not_timed() -> None:
    async def story(client: RestClient) -> None:
        async with client.stream("/here", {"watch": "true"}) as body:
            await body.read()

    assert asked(story) == ['requests_total{code="200",host="api",method="GET"} 1']


def test_a_list_that_is_read_as_it_arrives_is_a_request_like_others() -> None:
    async def story(client: RestClient) -> None:
        async with client.stream("/here", {"limit": "500"}) as body:
            await body.read()

    lines = asked(story, limiter=RateLimiter(1000, 1))
    assert 'rate_limiter_duration_seconds_count{host="api",verb="GET"} 1' in lines
    assert 'request_duration_seconds_count{host="api",verb="GET"} 1' in lines
    assert 'response_size_bytes_sum{host="api",verb="GET"} 300' in lines


def test_waiting_for_ones_turn_is_timed() -> None:
    async def story(client: RestClient) -> None:
        for _ in range(3):
            await client.get("/here")

    assert 'rate_limiter_duration_seconds_count{host="api",verb="GET"} 3' in asked(story, limiter=RateLimiter(1000, 1))


def test_new_credentials_make_it_a_retry() -> None:
    async def story(client: RestClient) -> None:
        async def there_are_others(shown: object) -> bool:
            return True

        target = client._config
        client._config = RestConfig(target.server, no_headers, rejected=there_are_others)
        with pytest.raises(Refused):
            await client.get("/401")

    lines = asked(story)
    assert 'request_retries_total{code="401",host="api",verb="GET"} 1' in lines
    assert 'requests_total{code="401",host="api",method="GET"} 2' in lines

"""HTTP for plugins: answers, and every failure as one error that names the URL."""

import asyncio
import ssl
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, unquote

import pytest
from aiohttp import web
from packages.scheduler.tests.client.conftest import Authority

from kubesched.client.plugin_http import PluginHttp
from kubesched.client.rest import Refused, Rest
from kubesched.core.framework.services.http_client import HttpAnswer, HttpError


class Api:
    """An API server that knows one path."""

    def __init__(self) -> None:
        self.queries: list[Any] = []

    async def get(self, path: str, query: Any = None) -> bytes:
        self.queries.append(query)
        if path != "/known":
            raise Refused(404, "NotFound", "the server could not find the requested resource")
        return b'{"kind": "NodeMetricsList"}'


async def handle(request: web.Request) -> web.StreamResponse:
    if request.path == "/slow":
        await asyncio.sleep(30)
    if request.path == "/refused":
        return web.Response(status=403, text="no")
    if request.query_string.startswith("to="):
        host = request.host
        location = unquote(request.query_string[3:]).format(host=host, port=host.partition(":")[2])
        return web.Response(status=302, headers={"Location": location})
    if request.path == "/text":
        return web.Response(text="hello")
    return web.json_response({"token": request.headers.get("Authorization"), "key": request.headers.get("X-Api-Key")})


async def asked(path: str, tls: ssl.SSLContext | None = None, **options: Any) -> HttpAnswer:
    server = web.AppRunner(web.Application(), shutdown_timeout=0, handler_cancellation=True)
    server.app.router.add_get("/{any:.*}", handle)
    await server.setup()
    site = web.TCPSite(server, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    port = server.addresses[0][1]
    try:
        return await PluginHttp(cast(Rest, Api())).get(
            f"{'https' if tls else 'http'}://me:secret@127.0.0.1:{port}{path}", **options
        )
    finally:
        await server.cleanup()


def test_an_answer_in_json() -> None:
    answer = asyncio.run(asked("/", headers={"X-Test": "1"}))
    assert answer.status == 200
    assert answer.json()["token"].startswith("Basic ")


@pytest.mark.parametrize(
    ("path", "words"), [("/refused", "the server answered with status 403"), ("/text", "the answer is not JSON")]
)
def test_what_is_no_usable_answer_is_an_error_without_the_password(path: str, words: str) -> None:
    with pytest.raises(HttpError, match=words) as caught:
        asyncio.run(asked(path)).json()
    assert "secret" not in str(caught.value)


def test_a_server_that_does_not_answer_is_an_error() -> None:
    with pytest.raises(HttpError, match=r"no answer within 0\.2 seconds"):
        asyncio.run(asked("/slow", timeout_seconds=0.2))


@pytest.mark.parametrize("location", ["/", "//{host}/", "http://{host}/"])
def test_a_redirect_within_the_origin_is_followed_with_the_headers(location: str) -> None:
    answer = asyncio.run(asked("/?to=" + quote(location), headers={"X-Api-Key": "key"}))
    assert (answer.json()["token"][:6], answer.json()["key"]) == ("Basic ", "key")


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("http://127.0.0.2:{port}/", r"redirects to another origin, http://127\.0\.0\.2:"),
        ("http://127.0.0.1:1/", r"redirects to another origin, http://127\.0\.0\.1:1"),
        ("https://{host}/", "redirects to another origin, https://"),
        ("file:///etc/passwd", "redirects to another origin, file://"),
        ("http://[", "Invalid URL|IPv6"),
        ("/?to=/?to=/?to=/?to=/", "redirects more than 3 times"),
    ],
)
def test_a_redirect_to_another_origin_is_an_error_and_nobody_there_is_asked(location: str, words: str) -> None:
    with pytest.raises(HttpError, match=words) as caught:
        asyncio.run(asked("/?to=" + quote(location), headers={"X-Api-Key": "key"}))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "no url", "ftp://127.0.0.1/"])
def test_a_url_that_leads_nowhere_is_an_error(url: str) -> None:
    with pytest.raises(HttpError, match=url):
        asyncio.run(PluginHttp(cast(Rest, Api())).get(url))


def test_the_api_server_is_asked_by_the_scheduler() -> None:
    client = PluginHttp(cast(Rest, Api()))
    assert asyncio.run(client.get_from_api_server("/known")) == {"kind": "NodeMetricsList"}
    with pytest.raises(HttpError, match="/apis/x: the server could not find"):
        asyncio.run(client.get_from_api_server("/apis/x"))


def test_a_path_of_the_api_server_may_have_a_query() -> None:
    api = Api()
    asyncio.run(PluginHttp(cast(Rest, api)).get_from_api_server("/known?labelSelector=example.com%2Fa&limit=5"))
    assert api.queries == [{"labelSelector": "example.com/a", "limit": "5"}]


def test_certificates_are_verified_unless_the_plugin_asks_not_to(authority: Authority, tmp_path: Path) -> None:
    tls = authority.serving(tmp_path)
    with pytest.raises(HttpError, match="certificate"):
        asyncio.run(asked("/", tls))
    assert asyncio.run(asked("/", tls, insecure_skip_verify=True)).status == 200

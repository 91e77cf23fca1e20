"""Proxies: which one is on the way, and requests through a real one."""

import asyncio
import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from kubesched.client.credentials.proxies import ProxyError, proxy_from
from kubesched.client.credentials.rest_config import load_rest_config
from kubesched.client.rest import RestClient, Unreachable
from kubesched.errors import KubeconfigError

Write = Callable[..., str]


@pytest.mark.parametrize(
    ("server", "environment", "expected"),
    [
        ("https://host", {}, None),
        ("https://host", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://host", {"https_proxy": "p:1"}, "http://p:1"),
        ("https://host", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://host", {"HTTP_PROXY": "http://p:1"}, "http://p:1"),
        ("https://localhost", {"HTTPS_PROXY": "http://p:1"}, None),
        ("https://127.0.0.7", {"HTTPS_PROXY": "http://p:1"}, None),
        ("https://[::1]:6443", {"HTTPS_PROXY": "http://p:1"}, None),
        ("https://host", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, None),
        ("https://10.0.0.1", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "a, 10.0.0.0/8"}, None),
        ("https://11.0.0.1", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "a, 10.0.0.0/8"}, "http://p:1"),
        ("https://[fd00::1]", {"HTTPS_PROXY": "http://p:1", "no_proxy": "fd00::/8"}, None),
        ("https://10.0.0.1", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "10.0.0.1"}, None),
        ("https://a.b.c", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "b.c"}, None),
        ("https://b.c", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": ".b.c"}, "http://p:1"),
        ("https://a.b.c", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*.b.c"}, None),
        ("https://ab.c", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "b.c"}, "http://p:1"),
        ("https://b.c:6443", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "b.c:443"}, "http://p:1"),
        ("https://b.c", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "b.c:443"}, None),
    ],
)
def test_proxies_of_the_environment(server: str, environment: dict[str, str], expected: str | None) -> None:
    assert proxy_from(environment, server) == expected


def test_the_kubeconfig_goes_before_the_environment(kubeconfig: Write) -> None:
    path = kubeconfig(cluster={"server": "https://host", "proxy-url": "http://mine:1"})
    assert load_rest_config(path, environment={"HTTPS_PROXY": "http://p:1"}).proxy == "http://mine:1"
    assert (
        load_rest_config(
            kubeconfig(cluster={"server": "https://host"}), environment={"HTTPS_PROXY": "http://p:1"}
        ).proxy
        == "http://p:1"
    )


def test_a_variable_that_names_no_proxy_is_named(kubeconfig: Write) -> None:
    with pytest.raises(ProxyError, match="the variable HTTPS_PROXY names a SOCKS proxy"):
        proxy_from({"https_proxy": "socks5://me:s3cr3t@p"}, "https://host")
    with pytest.raises(KubeconfigError, match="the variable HTTPS_PROXY is no address of an HTTP proxy"):
        load_rest_config(kubeconfig(cluster={"server": "https://host"}), environment={"HTTPS_PROXY": "ftp://p"})


class Tunnel:
    """A proxy that lets everybody through, and remembers where to."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.asked.append(head.splitlines()[0])
        host, _, port = head.split()[1].rpartition(":")
        onward_reader, onward_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(_pump(reader, onward_writer), _pump(onward_reader, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
    writer.close()


def test_requests_through_a_proxy_show_the_same_certificates(
    serving: Any, authority: Any, kubeconfig: Write, tmp_path: Path
) -> None:
    async def who(request: web.Request) -> web.Response:
        assert request.transport is not None
        certificate = request.transport.get_extra_info("peercert")
        return web.Response(text=dict(part[0] for part in certificate["subject"])["commonName"])

    async def play() -> None:
        mine = authority.issue("me")
        tunnel = Tunnel()
        # the server's certificate is for another address: only its name fits
        async with serving(who, authority.serving(tmp_path, "10.0.0.1")) as server:
            proxy = await asyncio.start_server(tunnel.serve, "127.0.0.1", 0)
            port = proxy.sockets[0].getsockname()[1]
            cluster = {
                "server": server,
                "tls-server-name": "server.test",
                "certificate-authority-data": base64.b64encode(authority.certificate).decode(),
                "proxy-url": f"http://127.0.0.1:{port}",
            }
            user = {
                "client-certificate-data": base64.b64encode(mine.certificate).decode(),
                "client-key-data": base64.b64encode(mine.key).decode(),
            }
            path = kubeconfig(user, cluster)
            rest = RestClient(load_rest_config(path, environment={}), "test")
            assert await rest.get("/") == b"me"
            assert tunnel.asked == [f"CONNECT {server.removeprefix('https://')} HTTP/1.1"]
            await rest.close()
            proxy.close()
            await proxy.wait_closed()
            rest = RestClient(load_rest_config(path, environment={}), "test")
            with pytest.raises(Unreachable, match=r"cannot connect to https://.*: Connection refused \(proxy\)"):
                await rest.get("/")
            await rest.close()

    asyncio.run(play())

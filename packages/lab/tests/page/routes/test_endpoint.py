"""Where the page is served: loopback without a word, elsewhere with TLS and under the names of the certificate."""

import asyncio
import ssl
from pathlib import Path

import aiohttp
import pytest
from tests.support.models import a_model
from tests.support.serving import Authority

from kubesched.errors import KubeschedError
from kubesched.testing import a_node
from kubesched_lab.page.routes.endpoint import PageEndpoint, endpoint_of
from kubesched_lab.page.server import PageServer
from kubesched_lab.page.shown.shown_cluster import ShownCluster

AUTHORITY = Authority("of-this-test")


def files(folder: Path, *hosts: str) -> tuple[str, str]:
    return AUTHORITY.issue("page", usage="server", hosts=hosts).write(folder, "page")


@pytest.mark.parametrize(
    ("address", "port", "hosts"),
    [
        ("0.0.0.0", 8443, ["page.example:8443", "10.1.2.3:8443"]),
        ("10.9.9.9", 8443, ["10.9.9.9:8443", "page.example:8443", "10.1.2.3:8443"]),
        ("::", 443, ["page.example:443", "10.1.2.3:443", "page.example", "10.1.2.3"]),
        ("::1", 8443, ["[::1]:8443", "page.example:8443", "10.1.2.3:8443", "localhost:8443"]),
    ],
)
def test_the_names_are_those_of_the_certificate_and_the_address(
    address: str, port: int, hosts: list[str], tmp_path: Path
) -> None:
    found = endpoint_of(address, *files(tmp_path, "page.example", "*.example", "10.1.2.3"))
    assert found.hosts(port) == hosts
    assert found.url(port) == f"https://{hosts[0]}"


def test_a_certificate_without_any_name_is_refused_where_all_addresses_are_served(tmp_path: Path) -> None:
    with pytest.raises(KubeschedError, match="nor an address to be served under"):
        endpoint_of("0.0.0.0", *files(tmp_path, "*.example"))
    assert endpoint_of("10.1.2.3", *files(tmp_path, "*.example")).names == ("10.1.2.3",)


@pytest.mark.parametrize("address", ["0.0.0.0", "10.1.2.3", "::"])
def test_beyond_loopback_nothing_is_served_without_tls(address: str) -> None:
    with pytest.raises(KubeschedError, match="ssh -L or kubectl port-forward"):
        endpoint_of(address)
    assert endpoint_of("127.0.0.2").hosts(1) == ["127.0.0.2:1", "localhost:1"]


def test_what_is_asked_for_is_served_with_tls_and_guarded_as_ever(tmp_path: Path) -> None:
    trusting = ssl.create_default_context(cadata=AUTHORITY.certificate.decode())

    async def status(session: aiohttp.ClientSession, url: str, **headers: str) -> int:
        async with session.get(url, headers=headers, ssl=trusting) as found:
            assert "default-src 'none'" in found.headers["Content-Security-Policy"]
            return found.status

    async def story() -> None:
        endpoint = endpoint_of("127.0.0.2", *files(tmp_path, "page.example", "127.0.0.2"))
        server = PageServer(ShownCluster(a_model(a_node("n"))), token="t", endpoint=endpoint)
        address = await server.start()
        try:
            base, port = address.partition("/#")[0], address.partition("/#")[0].rpartition(":")[2]
            assert base.startswith("https://127.0.0.2:")
            path, token = f"{base}/v1/cluster", {"Authorization": "Bearer t"}
            async with aiohttp.ClientSession() as session:
                assert await status(session, path, **token) == 200
                assert await status(session, path) == 401
                assert await status(session, path, **token, Host=f"page.example:{port}") == 200
                assert await status(session, path, **token, Host=f"evil.example:{port}") == 421
                assert await status(session, path, **token, Origin=f"https://page.example:{port}") == 200
                assert await status(session, path, **token, Origin="https://evil.example") == 403
                with pytest.raises(aiohttp.ClientError):
                    await status(session, path.replace("https", "http"), **token)
        finally:
            await server.close()

    asyncio.run(story())


def test_loopback_is_the_default() -> None:
    assert PageEndpoint().hosts(80) == ["127.0.0.1:80", "localhost:80"]
    assert PageEndpoint().url(80) == "http://127.0.0.1:80"

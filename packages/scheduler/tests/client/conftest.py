"""An authority that issues certificates, servers on loopback, and kubeconfig files."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Identity(NamedTuple):
    """A certificate and its key, as PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """Issues certificates."""

    def __init__(self, name: str = "authority") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = self._builder(self._name, self._key).add_extension(x509.BasicConstraints(True, None), critical=True)
        self.certificate = builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def issue(self, name: str, *addresses: str) -> Identity:
        """Return a certificate for a client of that name, or for a server at some addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), key)
        if addresses:
            names = [x509.IPAddress(ip_address(address)) for address in addresses]
            builder = builder.add_extension(x509.SubjectAlternativeName([*names, x509.DNSName(name)]), critical=False)
        return Identity(
            builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM),
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            ),
        )

    def serving(self, folder: Path, *addresses: str) -> ssl.SSLContext:
        """Return a server's context, which asks clients for certificates and takes those of this authority."""
        identity = self.issue("server.test", *addresses or ("127.0.0.1",))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        file = folder / "serving.pem"
        file.write_bytes(identity.certificate + identity.key)
        context.load_cert_chain(file)
        context.load_verify_locations(cadata=self.certificate.decode())
        context.verify_mode = ssl.CERT_OPTIONAL
        return context

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=1))
        )


@pytest.fixture(scope="session")
def authority() -> Authority:
    return Authority()


@pytest.fixture(scope="session")
def other_authority() -> Authority:
    return Authority("another")


Serving = Callable[..., AbstractAsyncContextManager[str]]


@pytest.fixture
def serving() -> Serving:
    @asynccontextmanager
    async def serve(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
        """Give the address of a server on loopback that answers everything with `handler`."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", handler)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
        try:
            yield f"{'https' if tls else 'http'}://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()

    return serve


WriteKubeconfig = Callable[..., str]


@pytest.fixture
def kubeconfig(tmp_path: Path) -> WriteKubeconfig:
    def write(user: dict[str, Any] | None = None, cluster: dict[str, Any] | None = None, **changes: Any) -> str:
        """Return the path of a kubeconfig with one cluster, one user and one context, changed as told."""
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1", **(cluster or {})}}],
            "users": [{"name": "u", "user": user or {}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
            **changes,
        }
        file = tmp_path / "kubeconfig"
        file.write_text(json.dumps(document))
        return str(file)

    return write


class Hands:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def hands() -> Hands:
    return Hands()


Eventually = Callable[[Callable[[], Any]], Awaitable[None]]


@pytest.fixture
def eventually() -> Eventually:
    async def wait(condition: Callable[[], Any], seconds: float = 10.0) -> None:
        """Wait until a condition holds; fail if it does not in time."""
        async with asyncio.timeout(seconds):
            while not condition():
                await asyncio.sleep(0.005)

    return wait

"""A served scheduler to ask: authorities that issue certificates, an API server that reviews, a client over TLS.

Everything is on loopback and real but the API server, which is a dictionary.
"""

import http.client
import json
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kubesched.errors import KubeschedError
from kubesched.serving.auth.authentication import Authentication
from kubesched.serving.auth.authorization import Authorization
from kubesched.serving.auth.reviews import ACCESS_REVIEWS, TOKEN_REVIEWS
from kubesched.serving.options import ServingOptions
from kubesched.serving.pages.health import HealthCheck, HealthChecks, handler_sync_check, shutdown_check
from kubesched.serving.pages.routes import MetricsPage, Pages
from kubesched.serving.pages.zpages import ComponentVersions
from kubesched.serving.server import Server

_USAGES = {"client": ExtendedKeyUsageOID.CLIENT_AUTH, "server": ExtendedKeyUsageOID.SERVER_AUTH}


class Pair(NamedTuple):
    """A certificate and its key, in PEM."""

    certificate: bytes
    key: bytes

    def write(self, folder: Path, name: str) -> tuple[str, str]:
        """Write both into a folder; return their paths."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = folder / f"{name}.crt", folder / f"{name}.key"
        paths[0].write_bytes(self.certificate)
        paths[1].write_bytes(self.key)
        return str(paths[0]), str(paths[1])


class Authority:
    """Issues certificates; one that another authority stands behind if `by` is given."""

    def __init__(self, name: str, by: "Authority | None" = None) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        signer = by or self
        builder = _builder(self._name, signer._name, self._key, 1)
        builder = builder.add_extension(x509.BasicConstraints(True, None), critical=True)
        self.certificate = builder.sign(signer._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def issue(
        self,
        name: str,
        groups: Sequence[str] = (),
        *,
        usage: str = "client",
        hosts: Sequence[str] = (),
        days: int = 1,
    ) -> Pair:
        """Return a certificate for a user, or for a server at some hosts; expired with negative days."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        names += [x509.NameAttribute(NameOID.COMMON_NAME, name)] if name else []
        builder = _builder(x509.Name(names), self._name, key, days)
        if usage:
            builder = builder.add_extension(x509.ExtendedKeyUsage([_USAGES[usage]]), critical=False)
        if hosts:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False
            )
        return Pair(
            builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM),
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            ),
        )


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, days: int
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    start = now - timedelta(days=2)
    return x509.CertificateBuilder(
        issuer, subject, key.public_key(), x509.random_serial_number(), start, now + timedelta(days=days)
    )


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


class RefusedError(KubeschedError):
    """An API server that says no, with a code."""

    def __init__(self, code: int, message: str = "refused") -> None:
        super().__init__(message)
        self.code = code


class FakeApi:
    """Reviews by what it was told, and remembers what it was asked."""

    def __init__(self) -> None:
        # token -> user as a review has it
        self.tokens: dict[str, Mapping[str, Any]] = {}
        # users and paths that may be seen
        self.allowed: set[tuple[str, str]] = set()
        self.reason = ""
        # the data of the ConfigMap, None if there is none
        self.data: dict[str, str] | None = None
        # raised in place of answers, the first one first; the last one for ever if `broken`
        self.errors: list[Exception] = []
        self.broken: Exception | None = None
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.closed = False

    async def send(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Return the answer to a review, or the ConfigMap."""
        spec = json.loads(body)["spec"] if body else {}
        self.asked.append((path, spec))
        if self.broken is not None:
            raise self.broken
        if self.errors:
            raise self.errors.pop(0)
        if path == TOKEN_REVIEWS:
            user = self.tokens.get(spec["token"])
            return _json({"status": {"authenticated": user is not None, "user": user or {}}})
        if path == ACCESS_REVIEWS:
            allowed = (spec["user"], spec["nonResourceAttributes"]["path"]) in self.allowed
            return _json({"status": {"allowed": allowed, "reason": "" if allowed else self.reason}})
        if self.data is None:
            raise RefusedError(404, "not found")
        return _json({"kind": "ConfigMap", "data": self.data})

    async def close(self) -> None:
        """Take note that nobody will ask any more."""
        self.closed = True

    def count(self, path: str) -> int:
        """Return how often a path was asked."""
        return sum(asked == path for asked, _ in self.asked)


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


class Reply(NamedTuple):
    """What was answered."""

    code: int
    headers: Mapping[str, str]
    body: str
    data: bytes = b""


class Facts:
    """What the checks and pages of a served scheduler say; tests change it while it is served."""

    def __init__(self) -> None:
        self.leader_problem: str | None = None
        self.stopping = False
        self.synced = True
        self.verbosity: list[int] = []
        self.observed: list[tuple[str, str, bool]] = []
        self.metrics: Callable[[], str | None] = lambda: "scheduler_up 1\n"
        self.config: dict[str, Any] = {"kind": "KubeSchedulerConfiguration"}
        self.cbor = False

    def checks(self) -> HealthChecks:
        """Return the checks of a scheduler that stands for election."""
        leader = HealthCheck("leaderElection", lambda: self.leader_problem)
        return HealthChecks(
            healthz=(leader,),
            readyz=(leader, shutdown_check(lambda: self.stopping), handler_sync_check(lambda: self.synced)),
            observed=lambda *outcome: self.observed.append(outcome),
        )

    def pages(self) -> Pages:
        """Return all pages there are."""
        return Pages(
            config=lambda: self.config,
            metrics=MetricsPage(lambda: self.metrics(), reset=lambda: setattr(self, "metrics", lambda: "reset 1\n")),
            slis=MetricsPage(lambda: "kubernetes_healthcheck 1\n"),
            resources=MetricsPage(lambda: None if self.stopping else "kube_pod_resource_request 1\n"),
            started_at=1_700_000_000.0,
            flags=lambda: {"v": "2", "secure-port": "10259"},
            versions=ComponentVersions("1.36.4", "1.36"),
            set_verbosity=self.verbosity.append,
            cbor=self.cbor,
        )


class Served:
    """A served scheduler, and a client."""

    def __init__(self, server: Server, facts: Facts, api: FakeApi | None, notes: list[str]) -> None:
        self.server = server
        self.facts = facts
        self.api = api
        self.notes = notes

    def fetch(
        self,
        path: str,
        headers: Mapping[str, str] | None = None,
        *,
        method: str = "GET",
        body: bytes | None = None,
        identity: tuple[str, str] | None = None,
        host: str = "127.0.0.1",
    ) -> Reply:
        """Return what is answered to a request over a connection of its own."""
        connection = http.client.HTTPSConnection(host, self.server.port, timeout=10, context=trusting(identity))
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            data = response.read()
            return Reply(response.status, dict(response.headers.items()), data.decode("utf-8", "replace"), data)
        finally:
            connection.close()

    @contextmanager
    def connected(self, context: ssl.SSLContext | None = None, name: str | None = None) -> Iterator[ssl.SSLSocket]:
        """Give a connection."""
        with (
            socket.create_connection(("127.0.0.1", self.server.port), timeout=10) as plain,
            (context or trusting()).wrap_socket(plain, server_hostname=name) as secured,
        ):
            yield secured

    def certificate(self, name: str | None = None) -> x509.Certificate:
        """Return the certificate that is shown to clients who ask for a name."""
        with self.connected(name=name) as connection:
            return x509.load_der_x509_certificate(connection.getpeercert(True) or b"")


def trusting(identity: tuple[str, str] | None = None) -> ssl.SSLContext:
    """Return how to connect to whoever is there, with a certificate of one's own if one is given."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if identity is not None:
        context.load_cert_chain(*identity)
    return context


@contextmanager
def served(
    options: ServingOptions | None = None, api: FakeApi | None = None, facts: Facts | None = None
) -> Iterator[Served]:
    """Serve on a free port of loopback; `api` is the server for all reviews."""
    wanted, told, notes = options or ServingOptions(bind_address="127.0.0.1"), facts or Facts(), list[str]()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        server = Server(
            wanted,
            told.checks(),
            told.pages(),
            Authentication(wanted, api, notes.append),
            Authorization(wanted, api, notes.append),
            notes.append,
            listener=listener,
        )
        try:
            server.start()
            yield Served(server, told, api, notes)
        finally:
            server.stop()

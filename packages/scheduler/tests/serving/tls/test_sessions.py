"""Certificates and TLS: given, made, rotated and chosen by name; versions and ciphers; what cannot be."""

import os
import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID
from tests.support.serving import Authority, Pair, Served, served, trusting

from kubesched.serving.listener import listen
from kubesched.serving.options import ServingError, ServingOptions
from kubesched.serving.tls.certificates import load_identities
from kubesched.serving.tls.sessions import tls_settings

AUTHORITY = Authority("servers")


def name_of(certificate: x509.Certificate) -> str:
    return str(certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)


def options_of(pair: tuple[str, str], **more: object) -> ServingOptions:
    return ServingOptions(tls_cert_file=pair[0], tls_private_key_file=pair[1], **more)  # type: ignore[arg-type]


class Clock:
    """A clock that stands still until it is told otherwise."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


# -- where certificates are from


def test_one_is_made_in_memory() -> None:
    with served(ServingOptions(bind_address="127.0.0.1")) as found:
        shown = found.certificate()
        assert "Generated self-signed cert in-memory" in found.notes
    names = shown.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(name) for name in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert name_of(shown).startswith("localhost@")


@pytest.mark.parametrize(
    ("suites", "key"),
    [
        ((), ec.EllipticCurvePublicKey),
        (("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",), rsa.RSAPublicKey),
        (
            ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
            ec.EllipticCurvePublicKey,
        ),
    ],
)
def test_the_key_that_is_made_suits_the_ciphers(suites: tuple[str, ...], key: type) -> None:
    with served(ServingOptions(tls_cipher_suites=suites)) as found:
        assert isinstance(found.certificate().public_key(), key)


def test_one_is_made_in_a_directory_and_used_again(tmp_path: Path) -> None:
    options = ServingOptions(cert_dir=str(tmp_path / "made" / "here"))
    with served(options) as found:
        first = found.certificate()
    folder = tmp_path / "made" / "here"
    assert sorted(file.name for file in folder.iterdir()) == ["kube-scheduler.crt", "kube-scheduler.key"]
    assert os.stat(folder / "kube-scheduler.key").st_mode & 0o777 == 0o600
    with served(options) as found:
        assert found.certificate() == first
        # a client that was given the certificate can check it
        context = ssl.create_default_context(cafile=str(folder / "kube-scheduler.crt"))
        with found.connected(context, "localhost") as connection:
            assert connection.version() == "TLSv1.3"


def test_one_is_given(tmp_path: Path) -> None:
    pair = AUTHORITY.issue("given", usage="server", hosts=["localhost"]).write(tmp_path, "given")
    with served(options_of(pair, cert_dir="/nowhere")) as found:
        assert name_of(found.certificate()) == "given"


# -- rotation


def test_a_certificate_that_is_replaced_is_shown_to_new_clients(tmp_path: Path) -> None:
    clock, notes = Clock(), list[str]()
    pair = AUTHORITY.issue("old", usage="server").write(tmp_path, "serving")
    identities = load_identities(options_of(pair), notes.append, clock)
    new = AUTHORITY.issue("new", usage="server")

    def shown() -> str:
        clock.now += 1
        return name_of(identities.find("").chain[0])

    assert shown() == "old"
    Path(pair[0]).write_bytes(new.certificate)
    assert shown() == "old", "half of a pair is not used"
    assert notes == [f"{pair[1]}: does not belong to the certificate in {pair[0]}; the last valid version is used"]
    assert shown() == "old"
    assert len(notes) == 1, "the same trouble is told once"
    Path(pair[1]).write_bytes(new.key)
    assert shown() == "new"
    Path(pair[1]).unlink()
    assert shown() == "new"
    assert notes[1:] == [f"{pair[1]}: No such file or directory; give a readable file; the last valid version "
                         "is used"]  # fmt: skip
    Path(pair[1]).write_bytes(new.key)
    assert shown() == "new"


def test_files_are_looked_at_once_a_second_at_most(tmp_path: Path) -> None:
    clock = Clock()
    pair = AUTHORITY.issue("old", usage="server").write(tmp_path, "serving")
    identities = load_identities(options_of(pair), lambda line: None, clock)
    AUTHORITY.issue("new", usage="server").write(tmp_path, "serving")
    clock.now = 0.9
    assert name_of(identities.find("").chain[0]) == "old"
    clock.now = 1.0
    assert name_of(identities.find("").chain[0]) == "new"


def test_rotation_while_serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a kubelet does it for a mounted secret: a link is moved to another directory."""
    monkeypatch.setattr("kubesched.serving.tls.watched_files.LOOK_EVERY_SECONDS", 0.0)
    for name in ("old", "new"):
        AUTHORITY.issue(name, usage="server").write(tmp_path / name, "tls")
    link = tmp_path / "current"
    link.symlink_to("old")
    with served(options_of((str(link / "tls.crt"), str(link / "tls.key")))) as found:
        assert name_of(found.certificate()) == "old"
        moved = tmp_path / "moved"
        moved.symlink_to("new")
        moved.rename(link)
        assert name_of(found.certificate()) == "new"


def test_client_authorities_that_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An old one is believed no more; a broken bundle changes nothing."""
    monkeypatch.setattr("kubesched.serving.tls.watched_files.LOOK_EVERY_SECONDS", 0.0)
    old, new = Authority("old"), Authority("new")
    bundle = tmp_path / "ca.crt"
    bundle.write_bytes(old.certificate)
    identity = old.issue("anna", ["system:masters"]).write(tmp_path, "anna")
    with served(ServingOptions(client_ca_file=str(bundle))) as found:
        assert found.fetch("/metrics", identity=identity).code == 200
        bundle.write_bytes(b"garbage")
        assert found.fetch("/metrics", identity=identity).code == 200
        assert any("holds no PEM certificate" in note for note in found.notes)
        bundle.write_bytes(new.certificate)
        assert found.fetch("/metrics", identity=identity).code == 401
        bundle.write_bytes(new.certificate + old.certificate)
        assert found.fetch("/metrics", identity=identity).code == 200


# -- names


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> ServingOptions:
    folder = tmp_path_factory.mktemp("named")

    def pair(name: str, *hosts: str) -> str:
        return ",".join(AUTHORITY.issue(name, usage="server", hosts=hosts).write(folder, name))

    crt, _, key = pair("default").partition(",")
    return ServingOptions(
        tls_cert_file=crt,
        tls_private_key_file=key,
        tls_sni_cert_key=(
            pair("extracted", "a.example", "*.wild.example", "192.0.2.7"),
            pair("explicit", "unused.example") + ":A.example,127.0.0.1",
            pair("late", "a.example", "late.example") + ":late.example",
        ),
    )


@pytest.mark.parametrize(
    ("case", "asked", "shown"),
    [
        ("an explicit name is before one in a certificate", "a.example", "explicit"),
        ("names are the same in any case", "A.EXAMPLE", "explicit"),
        ("a name in a certificate", "extracted", "extracted"),
        ("a star is one label", "b.wild.example", "extracted"),
        ("not two", "c.b.wild.example", "default"),
        ("names in a certificate with explicit names do not count", "unused.example", "default"),
        ("a later pair", "late.example", "late"),
        ("nobody's name", "other.example", "default"),
        ("no name: the address that was connected to", None, "explicit"),
    ],
)
def test_certificates_by_name(named: ServingOptions, case: str, asked: str | None, shown: str) -> None:
    with served(named) as found:
        assert name_of(found.certificate(asked)) == shown, case


# -- versions and ciphers


def handshake(found: Served, change: Callable[[ssl.SSLContext], object]) -> tuple[str, str] | None:
    """Return the version and cipher that are agreed upon, None if none are."""
    context = trusting()
    change(context)
    try:
        with found.connected(context) as connection:
            return str(connection.version()), str((connection.cipher() or ("",))[0])
    except (ssl.SSLError, ConnectionError):
        return None


def at_most(version: ssl.TLSVersion) -> Callable[[ssl.SSLContext], None]:
    def change(context: ssl.SSLContext) -> None:
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.maximum_version = version

    return change


def test_versions() -> None:
    with served() as found:
        assert handshake(found, at_most(ssl.TLSVersion.TLSv1_2))
        assert handshake(found, at_most(ssl.TLSVersion.TLSv1_3))
    with served(ServingOptions(tls_min_version="VersionTLS13")) as found:
        assert handshake(found, at_most(ssl.TLSVersion.TLSv1_2)) is None
        assert handshake(found, at_most(ssl.TLSVersion.TLSv1_3))


def test_ciphers_by_their_go_names() -> None:
    options = ServingOptions(tls_cipher_suites=("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "TLS_AES_128_GCM_SHA256"))
    old = at_most(ssl.TLSVersion.TLSv1_2)
    with served(options) as found:
        assert handshake(found, old) == ("TLSv1.2", "ECDHE-RSA-CHACHA20-POLY1305")

        def others(context: ssl.SSLContext) -> None:
            old(context)
            context.set_ciphers("ECDHE+AESGCM")

        assert handshake(found, others) is None
        assert handshake(found, at_most(ssl.TLSVersion.TLSv1_3))


def test_ciphers_of_the_newest_version_only_leave_no_older_version() -> None:
    with served(ServingOptions(tls_cipher_suites=("TLS_AES_128_GCM_SHA256",))) as found:
        assert handshake(found, at_most(ssl.TLSVersion.TLSv1_2)) is None
        assert handshake(found, at_most(ssl.TLSVersion.TLSv1_3))


def test_insecure_ciphers_are_told() -> None:
    notes: list[str] = []
    tls_settings(ServingOptions(tls_cipher_suites=("TLS_RSA_WITH_RC4_128_SHA",)), notes.append)
    assert notes == ["Use of insecure cipher 'TLS_RSA_WITH_RC4_128_SHA' detected."]


def test_sessions_are_not_resumed() -> None:
    """Or a certificate would be good for longer than its authority says."""
    with served() as found:
        context = trusting()
        at_most(ssl.TLSVersion.TLSv1_2)(context)
        with found.connected(context) as connection:
            session = connection.session
        with (
            socket.create_connection(("127.0.0.1", found.server.port)) as plain,
            context.wrap_socket(plain, session=session) as again,
        ):
            assert not again.session_reused


# -- what cannot be, in one line


def broken_pair(tmp_path: Path, change: Callable[[Pair], Pair]) -> ServingOptions:
    pair = AUTHORITY.issue("pair", usage="server")
    return options_of(change(pair).write(tmp_path, "pair"))


CANNOT_BE = {
    "a version that is none": (
        lambda tmp: ServingOptions(tls_min_version="TLS9"),
        "--tls-min-version TLS9 is not known; choose one of VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13",
    ),
    "ciphers that are none": (
        lambda tmp: ServingOptions(tls_cipher_suites=("TLS_X", "TLS_AES_128_GCM_SHA256", "TLS_Y")),
        "--tls-cipher-suites: TLS_X, TLS_Y not known; choose from TLS_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384,",
    ),
    "a certificate that is not there": (
        lambda tmp: options_of((f"{tmp}/a.crt", f"{tmp}/a.key")),
        "{tmp}/a.crt: No such file or directory; give a readable file",
    ),
    "a certificate that is a directory": (lambda tmp: options_of((str(tmp), str(tmp))), "{tmp}: Is a directory;"),
    "a file without a certificate": (
        lambda tmp: broken_pair(tmp, lambda pair: Pair(b"x", pair.key)),
        "{tmp}/pair.crt: holds no PEM certificate (-----BEGIN CERTIFICATE-----)",
    ),
    "a certificate that is damaged": (
        lambda tmp: broken_pair(tmp, lambda pair: Pair(pair.certificate.replace(b"M", b"N", 3), pair.key)),
        "{tmp}/pair.crt: holds a certificate that cannot be read",
    ),
    "a file without a key": (
        lambda tmp: broken_pair(tmp, lambda pair: Pair(pair.certificate, b"")),
        "{tmp}/pair.key: holds no PEM private key (-----BEGIN PRIVATE KEY-----)",
    ),
    "another key": (
        lambda tmp: broken_pair(tmp, lambda pair: Pair(pair.certificate, AUTHORITY.issue("b").key)),
        "{tmp}/pair.key: does not belong to the certificate in {tmp}/pair.crt",
    ),
    "a key with a passphrase": (
        lambda tmp: broken_pair(
            tmp, lambda pair: Pair(pair.certificate, pair.key.replace(b"PRIVATE KEY", b"ENCRYPTED PRIVATE KEY"))
        ),
        "{tmp}/pair.key: is protected by a passphrase; write it without one (openssl pkey)",
    ),
    "half a pair in the directory": (
        lambda tmp: _half_a_pair(tmp),
        "--cert-dir: {tmp}/kube-scheduler.crt is there, but {tmp}/kube-scheduler.key is not;",
    ),
    "a directory that cannot be made": (
        lambda tmp: ServingOptions(cert_dir="/proc/nope"),
        "--cert-dir: /proc/nope: No such file or directory; name a directory that can be written",
    ),
    "a pair with names that is not there": (
        lambda tmp: ServingOptions(tls_sni_cert_key=(f"{tmp}/x.crt,{tmp}/x.key:a.example",)),
        "{tmp}/x.crt: No such file or directory; give a readable file",
    ),
    "authorities that are not there": (
        lambda tmp: ServingOptions(client_ca_file=f"{tmp}/ca.crt"),
        "{tmp}/ca.crt: No such file or directory; give a readable file",
    ),
    "a bundle without authorities": (
        lambda tmp: ServingOptions(requestheader_client_ca_file=os.__file__),
        "--requestheader-client-ca-file {file}: holds no PEM certificate",
    ),
}


def _half_a_pair(folder: Path) -> ServingOptions:
    (folder / "kube-scheduler.crt").write_bytes(b"")
    return ServingOptions(cert_dir=str(folder))


@pytest.mark.parametrize("case", CANNOT_BE)
def test_what_cannot_be_is_said_in_one_line(tmp_path: Path, case: str) -> None:
    make, text = CANNOT_BE[case]
    with pytest.raises(ServingError) as raised, served(make(tmp_path)):
        pass
    assert str(raised.value).startswith(text.format(tmp=tmp_path, file=os.__file__))
    assert "\n" not in str(raised.value)
    assert "PRIVATE KEY-----\n" not in str(raised.value)


# -- addresses


def port_of(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])


def test_an_address_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        with pytest.raises(ServingError) as raised:
            listen(ServingOptions(bind_address="127.0.0.1", secure_port=port_of(other)))
        assert str(raised.value) == (
            f"failed to listen on 127.0.0.1:{port_of(other)}: Address already in use; another process listens there: "
            "stop it, or choose another --secure-port"
        )


def test_an_address_of_another_machine() -> None:
    with pytest.raises(ServingError, match="this machine has no such address: choose another --bind-address"):
        listen(ServingOptions(bind_address="192.0.2.1", secure_port=10259))


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="no IPv6 here")
@pytest.mark.parametrize(
    ("address", "reached"),
    [
        ("0.0.0.0", ("127.0.0.1", "::1")),
        ("::", ("127.0.0.1", "::1")),
        ("", ("127.0.0.1", "::1")),
        ("::1", ("::1",)),
        ("127.0.0.1", ("127.0.0.1",)),
    ],
)
def test_addresses_of_both_families(address: str, reached: tuple[str, ...]) -> None:
    """An unspecified address is all addresses, as in Go."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = port_of(free)
    with listen(ServingOptions(bind_address=address, secure_port=port)):
        for host in ("127.0.0.1", "::1"):
            try:
                socket.create_connection((host, port), timeout=5).close()
                found = True
            except OSError:
                found = False
            assert found is (host in reached), host


def test_a_port_that_is_shared() -> None:
    shared = ServingOptions(bind_address="127.0.0.1", secure_port=0, permit_port_sharing=True)
    with listen(shared) as first:
        both = ServingOptions(bind_address="127.0.0.1", secure_port=port_of(first), permit_port_sharing=True)
        with listen(both) as second:
            assert port_of(first) == port_of(second)

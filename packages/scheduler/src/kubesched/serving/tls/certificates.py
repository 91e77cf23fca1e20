"""Serving certificates: from files, made and kept in a directory, or made and kept in memory.

From options to an identity (a certificate chain and its key) for every name that clients ask for. Files are read again
when they change. Nothing of a key is in any text.
"""

# upstream: apiserver/pkg/server/options/serving.go, dynamiccertificates/named_certificates.go,
# client-go/util/cert/cert.go (v1.36)

import os
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from ipaddress import ip_address
from pathlib import Path

import msgspec
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from OpenSSL import SSL

from kubesched.common.notes import Clock, Note
from kubesched.common.pem import certificate_blocks, key_block
from kubesched.serving.options import PAIR_NAME, ServingError, ServingOptions, named_pair
from kubesched.serving.tls.watched_files import WatchedFiles

Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey

VALID_FOR = timedelta(days=365)
# clocks of clients may be slow
SLACK = timedelta(hours=1)
KEY_BITS = 2048
_HOST = re.compile(r"(\*\.)?[a-z0-9]([-.a-z0-9]*[a-z0-9])?|\*")


class Identity(msgspec.Struct, frozen=True, eq=False):
    """A serving certificate with its chain and key."""

    chain: tuple[x509.Certificate, ...]
    key: Key


class Identities:
    """The identities by host name, and a default one."""

    def __init__(self, default: Callable[[], Identity], named: list[tuple[tuple[str, ...], Callable[[], Identity]]]):
        self._default = default
        self._named = named

    def find(self, name: str) -> Identity:
        """Return the identity for a server name or address, the default one if none matches."""
        name = name.lower()
        _, dot, rest = name.partition(".")
        for wanted in (name, f"*{dot}{rest}"):
            for explicit in (True, False):
                for names, identity in self._named:
                    if bool(names) is explicit and wanted in (names or _names(identity().chain[0])):
                        return identity()
        return self._default()


def load_identities(
    options: ServingOptions, note: Note, clock: Clock = time.monotonic, *, inform: Note | None = None
) -> Identities:
    """Return the configured identities; without any, make a self-signed one and `inform`."""
    inform = inform or note

    def watch(certificate: str, key: str) -> Callable[[], Identity]:
        return WatchedFiles((certificate, key), partial(parse_identity, certificate, key), note, clock).current

    pairs = [named_pair(text) for text in options.tls_sni_cert_key]
    named = [(tuple(name.lower() for name in pair.names), watch(pair.certificate, pair.key)) for pair in pairs]
    if options.tls_cert_file:
        return Identities(watch(options.tls_cert_file, options.tls_private_key_file), named)
    if not options.cert_dir:
        made = parse_identity("the certificate", "the key", *make_pair(options))
        inform("Generated self-signed cert in-memory")
        return Identities(lambda: made, named)
    certificate, key = (str(Path(options.cert_dir, PAIR_NAME + suffix)) for suffix in (".crt", ".key"))
    if _pair_is_missing(certificate, key):
        _write_pair(certificate, key, *make_pair(options))
        inform(f"Generated self-signed cert ({certificate}, {key})")
    return Identities(watch(certificate, key), named)


def parse_identity(certificate_name: str, key_name: str, certificate: bytes, key: bytes) -> Identity:
    """Return the identity of a certificate and a key in PEM; the names are their sources, for errors."""
    chain = pem_certificates(certificate, certificate_name)
    block = key_block(key)
    if block is None:
        raise ServingError(f"{key_name}: holds no PEM private key (-----BEGIN PRIVATE KEY-----)")
    if block.startswith(b"-----BEGIN ENCRYPTED ") or b"Proc-Type: 4,ENCRYPTED" in block:
        raise ServingError(f"{key_name}: is protected by a passphrase; write it without one (openssl pkey)")
    try:
        private = serialization.load_pem_private_key(block, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ServingError(f"{key_name}: holds a private key that cannot be read") from None
    if not isinstance(private, Key):
        raise ServingError(f"{key_name}: is neither an RSA, an ECDSA nor an Ed25519 key; TLS needs one of them")
    if private.public_key() != chain[0].public_key():
        raise ServingError(f"{key_name}: does not belong to the certificate in {certificate_name}")
    identity = Identity(chain, private)
    try:
        use_identity(SSL.Context(SSL.TLS_SERVER_METHOD), identity)
    except SSL.Error as error:
        raise ServingError(f"{certificate_name}: cannot be used for TLS: {openssl_words(error)}") from None
    return identity


def pem_certificates(pem: bytes, where: str) -> tuple[x509.Certificate, ...]:
    """Return the certificates in a PEM text, at least one; `where` is its source, for errors."""
    blocks = certificate_blocks(pem)
    if not blocks:
        raise ServingError(f"{where}: holds no PEM certificate (-----BEGIN CERTIFICATE-----)")
    try:
        found = tuple(x509.load_pem_x509_certificate(block) for block in blocks)
        # a certificate that cannot be parsed in full fails here, not at its first use
        for certificate in found:
            certificate.public_key()
    except (ValueError, UnsupportedAlgorithm):
        raise ServingError(f"{where}: holds a certificate that cannot be read") from None
    return found


def use_identity(context: SSL.Context, identity: Identity) -> None:
    """Load an identity into a context; raises SSL.Error if OpenSSL refuses it, for example for a small key."""
    context.use_certificate(identity.chain[0])
    for certificate in identity.chain[1:]:
        context.add_extra_chain_cert(certificate)
    context.use_privatekey(identity.key)


def openssl_words(error: SSL.Error) -> str:
    """Return the error text of OpenSSL."""
    problems = error.args[0] if error.args and isinstance(error.args[0], list) else []
    return "; ".join(str(problem[-1]) for problem in problems if problem) or "TLS error"


def make_pair(options: ServingOptions, now: datetime | None = None) -> tuple[bytes, bytes]:
    """Return a fresh certificate for the address that is served, and its key, in PEM."""
    moment, address = now or datetime.now(UTC), options.bind_address
    # differs (D-101): the reference always uses RSA, which costs a tenth of a second at every start; here only if
    # cipher suites are limited to those with RSA
    suites = options.tls_cipher_suites
    only_rsa = bool(suites) and not any("_ECDSA_" in suite for suite in suites)
    key = rsa.generate_private_key(65537, KEY_BITS) if only_rsa else ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"localhost@{int(moment.timestamp())}")])
    addresses = {ip_address("127.0.0.1"), ip_address(address or "0.0.0.0")}
    hosts = [
        x509.DNSName("localhost"),
        *(x509.IPAddress(ip) for ip in sorted(addresses, key=str) if not ip.is_unspecified),
    ]
    usage = x509.KeyUsage(True, False, True, False, False, False, False, False, False)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(moment - SLACK)
        .not_valid_after(moment - SLACK + VALID_FOR)
        .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM), private


def _pair_is_missing(certificate: str, key: str) -> bool:
    """Return whether neither file exists; one without the other is an error."""
    there = [os.path.exists(path) for path in (certificate, key)]
    if there[0] != there[1]:
        lone, missing = (certificate, key) if there[0] else (key, certificate)
        raise ServingError(f"--cert-dir: {lone} is there, but {missing} is not; put it there, or remove the other")
    return not any(there)


def _write_pair(certificate_path: str, key_path: str, certificate: bytes, key: bytes) -> None:
    try:
        os.makedirs(os.path.dirname(certificate_path) or ".", mode=0o755, exist_ok=True)
        for path, contents, mode in ((certificate_path, certificate, 0o644), (key_path, key, 0o600)):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
                file.write(contents)
    except OSError as error:
        raise ServingError(
            f"--cert-dir: {error.filename or certificate_path}: {error.strerror}; name a directory that can be written"
        ) from None


def _names(certificate: x509.Certificate) -> tuple[str, ...]:
    """Return the host names of a certificate, without addresses: clients cannot send these as server names."""
    names = [str(name.value) for name in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    found = [name.lower() for name in names if _HOST.fullmatch(name.lower()) and not _is_address(name)]
    try:
        alternatives = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return tuple(found)
    return (*found, *(name.lower() for name in alternatives.get_values_for_type(x509.DNSName)))


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True

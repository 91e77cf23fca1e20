"""Certificates for serving over TLS: an authority of its own and a certificate for the addresses that are served.

From host names to an SSL context and the authority's certificate, which clients are given to trust. Keys live in
memory; only for the moment in which OpenSSL reads it is the serving key in a file, in a folder nobody else can enter.
"""

import ipaddress
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

VALID_FOR = timedelta(days=365)
# clocks of clients may be slow
_SLACK = timedelta(minutes=5)
_ALWAYS_SERVED = ("localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


class Tls(NamedTuple):
    """What a server serves with, and what its clients trust."""

    context: ssl.SSLContext
    authority: bytes


def make_tls(hosts: Sequence[str], now: datetime | None = None) -> Tls:
    """Return a fresh authority and a context with a certificate of it for some host names or addresses."""
    moment = now or datetime.now(UTC)
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = _authority(authority_key, moment)
    certificate = _certificate(key, authority, authority_key, (*hosts, *_ALWAYS_SERVED), moment)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    with TemporaryDirectory() as folder:
        file = Path(folder, "serving.pem")
        file.touch(mode=0o600)
        file.write_bytes(_key_text(key) + certificate.public_bytes(serialization.Encoding.PEM))
        context.load_cert_chain(file)
    return Tls(context, authority.public_bytes(serialization.Encoding.PEM))


def _authority(key: ec.EllipticCurvePrivateKey, now: datetime) -> x509.Certificate:
    name = _named("kubesched-ca")
    usage = _usage(key_cert_sign=True, crl_sign=True, digital_signature=True)
    return (
        _started(name, name, key.public_key(), now)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )


def _certificate(
    key: ec.EllipticCurvePrivateKey,
    authority: x509.Certificate,
    authority_key: ec.EllipticCurvePrivateKey,
    hosts: Sequence[str],
    now: datetime,
) -> x509.Certificate:
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    return (
        _started(_named("kubesched-apiserver"), authority.subject, key.public_key(), now)
        .add_extension(x509.SubjectAlternativeName(_alternatives(hosts)), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(digital_signature=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(identifier, critical=False)
        .sign(authority_key, hashes.SHA256())
    )


def _started(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SLACK)
        .not_valid_after(now + VALID_FOR)
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _alternatives(hosts: Sequence[str]) -> list[x509.GeneralName]:
    """Return addresses as addresses and all else as names, each once."""
    found: list[x509.GeneralName] = []
    for host in dict.fromkeys(hosts):
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            found.append(x509.DNSName(host))
            continue
        if not address.is_unspecified:
            found.append(x509.IPAddress(address))
    return found


def _usage(*, digital_signature: bool = False, key_cert_sign: bool = False, crl_sign: bool = False) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        key_cert_sign=key_cert_sign,
        crl_sign=crl_sign,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _key_text(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )

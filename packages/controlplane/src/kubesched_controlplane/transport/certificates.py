"""Certificates for serving over TLS: a certificate authority, and a certificate for the addresses of the server.

From host names to an SSL context and the authority's certificate, which clients trust. Serving keys are in memory; only
while OpenSSL reads the key, it is in a file, in a private folder. An authority can be stored with its key, so that
certificates made after a restart are trusted, too.
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
AUTHORITY_VALID_FOR = 10 * VALID_FOR
# clocks of clients may be slow
_SLACK = timedelta(minutes=5)
_ALWAYS_SERVED = ("localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


class Authority(NamedTuple):
    """A certificate authority with its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def text(self) -> bytes:
        """Return the key and the certificate as PEM, for `read_authority`."""
        return _key_text(self.key) + self.certificate.public_bytes(serialization.Encoding.PEM)


class Tls(NamedTuple):
    """The SSL context of a server, and the PEM of the authority for its clients."""

    context: ssl.SSLContext
    authority: bytes


def make_tls(hosts: Sequence[str], now: datetime | None = None, authority: Authority | None = None) -> Tls:
    """Return a context with a new certificate for these host names and addresses, and the authority's PEM."""
    moment = now or datetime.now(UTC)
    authority = authority or new_authority(moment)
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _certificate(key, authority, (*hosts, *_ALWAYS_SERVED), moment)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    with TemporaryDirectory() as folder:
        file = Path(folder, "serving.pem")
        file.touch(mode=0o600)
        file.write_bytes(_key_text(key) + certificate.public_bytes(serialization.Encoding.PEM))
        context.load_cert_chain(file)
    return Tls(context, authority.certificate.public_bytes(serialization.Encoding.PEM))


def read_authority(text: bytes) -> Authority:
    """Read an authority from the PEM of its key and certificate; raises ValueError if that is malformed."""
    certificate = x509.load_pem_x509_certificate(text)
    key = serialization.load_pem_private_key(text, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        raise ValueError("key and certificate do not belong together")
    return Authority(certificate, key)


def new_authority(now: datetime) -> Authority:
    """Return a new self-signed authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = _named("kubesched-ca")
    usage = _usage(key_cert_sign=True, crl_sign=True, digital_signature=True)
    certificate = (
        _started(name, name, key.public_key(), now, AUTHORITY_VALID_FOR)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return Authority(certificate, key)


def _certificate(
    key: ec.EllipticCurvePrivateKey, authority: Authority, hosts: Sequence[str], now: datetime
) -> x509.Certificate:
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key())
    return (
        _started(_named("kubesched-apiserver"), authority.certificate.subject, key.public_key(), now, VALID_FOR)
        .add_extension(x509.SubjectAlternativeName(_alternatives(hosts)), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(digital_signature=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(identifier, critical=False)
        .sign(authority.key, hashes.SHA256())
    )


def _started(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, lasts: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SLACK)
        .not_valid_after(now + lasts)
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _alternatives(hosts: Sequence[str]) -> list[x509.GeneralName]:
    """Return the subject alternative names: addresses as IP addresses, other hosts as DNS names."""
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

"""Certificates of clients whose signatures can be forged: refused, as Go refuses them."""

import warnings
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from OpenSSL import crypto

from kubesched.serving.auth.client_certificates import Authorities, BadCredentialsError

KEY = rsa.generate_private_key(65537, 2048)


def signed(name: str, issuer: str, digest: str, *, authority: bool = False) -> x509.Certificate:
    """Return a certificate signed with a digest that the library for certificates may not offer any more."""
    by, to = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, each)]) for each in (issuer, name))
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(
        by, to, KEY.public_key(), x509.random_serial_number(), now - timedelta(days=1), now + timedelta(days=1)
    ).add_extension(x509.BasicConstraints(authority, None), critical=True)
    made = crypto.X509.from_cryptography(builder.sign(KEY, hashes.SHA256()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        made.sign(crypto.PKey.from_cryptography_key(KEY), digest)
    return made.to_cryptography()


def authorities(*certificates: x509.Certificate) -> Authorities:
    """Return a bundle."""
    return Authorities(b"".join(each.public_bytes(serialization.Encoding.PEM) for each in certificates), "bundle")


STRONG = signed("root", "root", "sha256", authority=True)
BETWEEN = signed("between", "root", "sha1", authority=True)


@pytest.mark.parametrize(
    ("case", "trusted", "chain", "accepted"),
    [
        ("SHA-256", [STRONG], [signed("a", "root", "sha256")], True),
        ("SHA-1", [STRONG], [signed("a", "root", "sha1")], False),
        ("MD5", [STRONG], [signed("a", "root", "md5")], False),
        ("SHA-1 in between", [STRONG], [signed("a", "between", "sha256"), BETWEEN], False),
        ("an authority that signed itself with SHA-1", [BETWEEN], [signed("a", "between", "sha256")], True),
    ],
)
def test_weak_signatures_prove_nothing(
    case: str, trusted: list[x509.Certificate], chain: list[x509.Certificate], accepted: bool
) -> None:
    if accepted:
        authorities(*trusted).check(chain)
    else:
        with pytest.raises(BadCredentialsError, match="insecure algorithm"):
            authorities(*trusted).check(chain)

"""Client certificates: verified against certificate authorities, and mapped to users.

From the chain that a client sent in the handshake (which proves that it has the key) to a user. OpenSSL builds and
verifies the chain; its key usages and signature algorithms are checked here.
"""

# upstream: apiserver/pkg/authentication/request/x509/x509.go (v1.36)

from collections.abc import Sequence
from hashlib import sha256

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from OpenSSL import crypto

from kubesched.serving.requests import UserInfo
from kubesched.serving.tls.certificates import pem_certificates

CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
_UID = x509.ObjectIdentifier("1.3.6.1.4.1.57683.2")
_WEAK = frozenset({"md5", "sha1"})
_FOR_CLIENTS = {ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}

Chain = Sequence[x509.Certificate]


class BadCredentialsError(Exception):
    """A client certificate that cannot be verified; the text is for the log only."""


class Authorities:
    """A bundle of CA certificates; a certificate that chains to one of them is trusted."""

    def __init__(self, pem: bytes, where: str) -> None:
        self.certificates = pem_certificates(pem, where)
        self._store = crypto.X509Store()
        for certificate in self.certificates:
            self._store.add_cert(crypto.X509.from_cryptography(certificate))
        # as in Go: any certificate of the bundle is an anchor
        self._store.set_flags(crypto.X509StoreFlags.PARTIAL_CHAIN)

    def check(self, chain: Chain) -> None:
        """Raise BadCredentialsError unless the first certificate is for clients and chains to these authorities."""
        own, *others = (crypto.X509.from_cryptography(certificate) for certificate in chain)
        try:
            found = crypto.X509StoreContext(self._store, own, others).get_verified_chain()
            certificates = [each.to_cryptography() for each in found]
            usable = all(map(_is_for_clients, certificates))
            # the signature of a trusted CA itself is not checked
            weak = any(map(_is_signed_weakly, certificates[:-1]))
        except crypto.X509StoreContextError as error:
            raise BadCredentialsError(f"certificate with serial number {own.get_serial_number()}: {error}") from None
        except (ValueError, crypto.Error):
            raise BadCredentialsError("a certificate that cannot be read") from None
        if weak:
            raise BadCredentialsError(
                f"certificate with serial number {own.get_serial_number()}: insecure algorithm of a signature"
            )
        if not usable:
            raise BadCredentialsError(
                f"certificate with serial number {own.get_serial_number()}: its extended key usage is not client "
                "authentication"
            )


def user_of(certificate: x509.Certificate) -> UserInfo | None:
    """Return the user of a client certificate; None without a common name."""
    name = common_name(certificate)
    if not name:
        return None
    uids = _values(certificate, _UID)
    if len(uids) > 1 or uids == ("",):
        raise BadCredentialsError("a certificate whose subject has several UIDs, or an empty one")
    digest = sha256(certificate.public_bytes(Encoding.DER)).hexdigest()
    groups = _values(certificate, NameOID.ORGANIZATION_NAME)
    return UserInfo(name, groups, "".join(uids), {CREDENTIAL_ID: (f"X509SHA256={digest}",)})


def common_name(certificate: x509.Certificate) -> str:
    """Return the common name; the last one if there are several, as in Go."""
    return (_values(certificate, NameOID.COMMON_NAME) or ("",))[-1]


def _values(certificate: x509.Certificate, oid: x509.ObjectIdentifier) -> tuple[str, ...]:
    try:
        found = [attribute.value for attribute in certificate.subject.get_attributes_for_oid(oid)]
    except ValueError:
        raise BadCredentialsError("a certificate whose subject cannot be read") from None
    return tuple(value if isinstance(value, str) else value.decode("utf-8", "replace") for value in found)


def _is_signed_weakly(certificate: x509.Certificate) -> bool:
    """Return whether Go's x509 rejects the signature algorithm as insecure."""
    try:
        algorithm = certificate.signature_hash_algorithm
    except UnsupportedAlgorithm:
        return True
    return algorithm is not None and algorithm.name in _WEAK


def _is_for_clients(certificate: x509.Certificate) -> bool:
    try:
        usages = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return True
    return not _FOR_CLIENTS.isdisjoint(usages)

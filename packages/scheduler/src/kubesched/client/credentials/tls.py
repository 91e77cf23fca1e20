"""TLS of the client: the certificate authorities it trusts, and its client certificate.

From PEM bytes to a context for connections. A context is never changed after it was made: a new certificate means a new
context, so that connections opened under the old one are not used again.
"""

# upstream: client-go/transport/transport.go (v1.36)

import os
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import NamedTemporaryFile

from kubesched.common.pem import certificate_blocks

_KEY = re.compile(rb"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----")
_ENCRYPTED_KEY = re.compile(rb"-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED")
_MISMATCH = ("KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH")


class TlsError(Exception):
    """PEM bytes that TLS cannot use; `part` is authorities, certificate or key."""

    def __init__(self, part: str, problem: str) -> None:
        super().__init__(problem)
        self.part = part


def client_context(
    authorities: bytes, certificate: bytes = b"", key: bytes = b"", *, insecure: bool = False
) -> ssl.SSLContext:
    """Return the TLS context for connections; without CAs the system's are trusted."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # as in Go: any certificate among the authorities is an anchor, and the common name is no host name
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.hostname_checks_common_name = False
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif authorities:
        _load_authorities(context, authorities)
    else:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    if certificate or key:
        load_identity(context, certificate, key)
    return context


def _load_authorities(context: ssl.SSLContext, authorities: bytes) -> None:
    found = certificate_blocks(authorities)
    if not found:
        raise TlsError("authorities", "holds no PEM certificate (-----BEGIN CERTIFICATE-----)")
    try:
        context.load_verify_locations(cadata=b"\n".join(found).decode("ascii"))
    except (ssl.SSLError, UnicodeDecodeError):
        raise TlsError("authorities", "holds a certificate that cannot be read") from None


def load_identity(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Load the client certificate and its key into a context; raises TlsError if they cannot be used."""
    if not certificate_blocks(certificate):
        raise TlsError("certificate", "holds no PEM certificate (-----BEGIN CERTIFICATE-----)")
    if _ENCRYPTED_KEY.search(key):
        raise TlsError("key", "is protected by a passphrase; write it without one (openssl pkey)")
    if not _KEY.search(key):
        raise TlsError("key", "holds no PEM private key (-----BEGIN PRIVATE KEY-----)")
    try:
        # the ssl module reads certificates from files only
        with _as_file(certificate) as certificate_file, _as_file(key) as key_file:
            context.load_cert_chain(certificate_file, key_file, password="")
    except ssl.SSLError as error:
        if error.reason in _MISMATCH:
            raise TlsError("key", "does not belong to the certificate") from None
        raise TlsError(_unreadable(certificate), "cannot be read") from None


def _unreadable(certificate: bytes) -> str:
    """Return which part of a client certificate cannot be used: "certificate", or "key" if the certificate is fine."""
    try:
        _load_authorities(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), certificate)
    except TlsError:
        return "certificate"
    return "key"


@contextmanager
def _as_file(data: bytes) -> Iterator[str]:
    """Give a path that reads as the bytes: in memory if possible, since keys are secret and disks may be read-only."""
    if not hasattr(os, "memfd_create"):
        with NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            yield file.name
        return
    with open(os.memfd_create("pem"), "wb") as file:
        file.write(data)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}"

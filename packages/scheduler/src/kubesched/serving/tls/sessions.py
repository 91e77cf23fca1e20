"""TLS for asyncio that asks for client certificates without verifying them, which Python's ssl module cannot do.

    socket ──▶ asyncio ──ciphertext──▶ TlsSession ──▶ pyOpenSSL ──▶ plaintext
                                          └── the client's certificates, for `client_certificates` to verify

The reference accepts any certificate in the handshake and answers 401 afterwards if no configured CA signed it, so that
a client with another cluster's certificate can still send a token. OpenSSL has a hook for that, which the ssl module
does not expose. Sessions are never resumed: a revoked certificate must not stay valid in one.
"""

# upstream: apiserver/pkg/server/secure_serving.go, component-base/cli/flag/ciphersuites_flag.go (v1.36)

import ssl
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
from cryptography import x509
from OpenSSL import SSL

from kubesched.common.notes import Note
from kubesched.serving.options import ServingError, ServingOptions
from kubesched.serving.tls.certificates import Identities, Identity, openssl_words, use_identity

_VERSIONS = {
    "VersionTLS10": SSL.TLS1_VERSION,
    "VersionTLS11": SSL.TLS1_1_VERSION,
    "VersionTLS12": SSL.TLS1_2_VERSION,
    "VersionTLS13": SSL.TLS1_3_VERSION,
}
# cipher suites by Go's names, with OpenSSL's; the suites of TLS 1.3 cannot be chosen, neither in Go nor here
_ALWAYS = ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256")
_PREFERRED = {
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": "ECDHE-ECDSA-AES128-SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": "ECDHE-RSA-AES128-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA": "ECDHE-ECDSA-AES256-SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA": "ECDHE-RSA-AES256-SHA",
}
_INSECURE = {
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256": "ECDHE-ECDSA-AES128-SHA256",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA": "ECDHE-ECDSA-RC4-SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA": "ECDHE-RSA-DES-CBC3-SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256": "ECDHE-RSA-AES128-SHA256",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA": "ECDHE-RSA-RC4-SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA": "DES-CBC3-SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA": "AES128-SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256": "AES128-SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "TLS_RSA_WITH_AES_256_CBC_SHA": "AES256-SHA",
    "TLS_RSA_WITH_AES_256_GCM_SHA384": "AES256-GCM-SHA384",
    "TLS_RSA_WITH_RC4_128_SHA": "RC4-SHA",
}
_OPTIONS = SSL.OP_NO_COMPRESSION | SSL.OP_NO_RENEGOTIATION | SSL.OP_NO_TICKET | SSL.OP_CIPHER_SERVER_PREFERENCE
_READ_BYTES = 1 << 16

Result = TypeVar("Result")


class TlsSettings(msgspec.Struct, frozen=True):
    """The TLS settings that all connections share."""

    min_version: int
    ciphers: bytes


def tls_settings(options: ServingOptions, note: Note) -> TlsSettings:
    """Return the TLS versions and ciphers of options; ServingError for unknown ones."""
    version = options.tls_min_version or "VersionTLS12"
    if version not in _VERSIONS:
        raise ServingError(f"--tls-min-version {version} is not known; choose one of {', '.join(_VERSIONS)}")
    min_version = _VERSIONS[version]
    known = {**_PREFERRED, **_INSECURE, **dict.fromkeys(_ALWAYS, "")}
    unknown = [name for name in options.tls_cipher_suites if name not in known]
    if unknown:
        raise ServingError(
            f"--tls-cipher-suites: {', '.join(unknown)} not known; choose from {', '.join(sorted(known))}"
        )
    for name in options.tls_cipher_suites:
        if name in _INSECURE:
            note(f"Use of insecure cipher '{name}' detected.")
    suites = dict.fromkeys(known[name] for name in options.tls_cipher_suites or _PREFERRED)
    names = [name for name in suites if name and _is_there(name)]
    if not names:
        # no cipher suite is left for older versions
        min_version = SSL.TLS1_3_VERSION
        names = list(_PREFERRED.values())
    # the algorithms of old versions need a lower security level of OpenSSL
    old = "" if min_version >= SSL.TLS1_2_VERSION else "@SECLEVEL=0"
    return TlsSettings(min_version, (":".join(names) + old).encode())


def _is_there(cipher: str) -> bool:
    """Return whether OpenSSL supports a cipher; Go still accepts the names of some that OpenSSL dropped."""
    try:
        SSL.Context(SSL.TLS_SERVER_METHOD).set_cipher_list(cipher.encode())
    except SSL.Error:
        return False
    return True


class ServerTls:
    """Makes TLS contexts from the current identities, settings and authorities."""

    def __init__(
        self,
        settings: TlsSettings,
        identities: Identities,
        authorities: Callable[[], Sequence[x509.Certificate] | None],
    ) -> None:
        self._settings = settings
        self._identities = identities
        # returns the CAs named in the request for a client certificate; None requests none
        self._authorities = authorities
        self._made: dict[Identity, _TlsContext] = {}
        self._made_for: Sequence[x509.Certificate] | None = None

    def context(self, local_address: str) -> ssl.SSLContext:
        """Return the TLS context for a connection to a local address."""
        return self._context(self._identities.find(local_address))

    def _context(self, identity: Identity) -> "_TlsContext":
        """Return the context of an identity, which all connections share."""
        authorities = self._authorities()
        if authorities is not self._made_for:
            self._made.clear()
            self._made_for = authorities
        context = self._made.get(identity)
        if context is None:
            if len(self._made) > 100:
                # identities that were replaced long ago
                self._made.clear()
            context = self._made[identity] = _TlsContext(self._make(identity, authorities))
        return context

    def _make(self, identity: Identity, authorities: Sequence[x509.Certificate] | None) -> SSL.Context:
        context = SSL.Context(SSL.TLS_SERVER_METHOD)
        context.set_min_proto_version(self._settings.min_version)
        context.set_cipher_list(self._settings.ciphers)
        context.set_options(_OPTIONS)
        context.set_session_cache_mode(SSL.SESS_CACHE_OFF)
        context.set_alpn_select_callback(_http_1)
        context.set_tlsext_servername_callback(self._named)
        use_identity(context, identity)
        if authorities is not None:
            context.set_verify(SSL.VERIFY_PEER, lambda *found: True)
            for authority in authorities:
                context.add_client_ca(authority)
        return context

    def _named(self, session: SSL.Connection) -> None:
        """Use the identity for the server name that the client sends (SNI)."""
        name = session.get_servername()
        if name:
            session.set_context(self._context(self._identities.find(name.decode("ascii", "replace"))).openssl)


def _http_1(session: SSL.Connection, offered: list[bytes]) -> bytes | Any:
    return b"http/1.1" if b"http/1.1" in offered else SSL.NO_OVERLAPPING_PROTOCOLS


class _TlsContext(ssl.SSLContext):
    """An SSLContext for asyncio, which calls only `wrap_bio`."""

    openssl: SSL.Context

    def __new__(cls, context: SSL.Context) -> "_TlsContext":
        made = super().__new__(cls, ssl.PROTOCOL_TLS_SERVER)
        made.openssl = context
        return made

    def wrap_bio(self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, *others: Any, **more: Any) -> Any:
        """Return a session that reads and writes these buffers."""
        session = SSL.Connection(self.openssl)
        session.set_accept_state()
        return TlsSession(session, incoming, outgoing)


class TlsSession:
    """One connection's session, with the methods of `ssl.SSLObject` that asyncio calls."""

    def __init__(self, session: SSL.Connection, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO) -> None:
        self._session = session
        self._incoming = incoming
        self._outgoing = outgoing
        self._chain: tuple[x509.Certificate, ...] | None = None

    @property
    def client_chain(self) -> tuple[x509.Certificate, ...]:
        """Return the client's certificates, its own first; they are not verified."""
        if self._chain is None:
            self._chain = tuple(self._session.get_peer_cert_chain(as_cryptography=True) or ())
            own = self._session.get_peer_certificate(as_cryptography=True)
            # on the server's side the chain lacks the client's own certificate in some versions of OpenSSL
            if own is not None and own not in self._chain[:1]:
                self._chain = (own, *self._chain)
        return self._chain

    def do_handshake(self) -> None:
        """Continue the handshake."""
        self._do(self._session.do_handshake)

    def read(self, most: int = _READ_BYTES, into: Any = None) -> bytes | int:
        """Return the client's data, empty after close_notify; or read it into a buffer, and return its length."""
        try:
            data = self._do(lambda: self._session.recv(most))
        except ssl.SSLZeroReturnError:
            data = b""
        if into is None:
            return data
        into[: len(data)] = data
        return len(data)

    def write(self, data: Any) -> int:
        """Send data to the client; return its length: all is sent, since the buffer has no bounds."""
        return self._do(lambda: self._session.sendall(bytes(data)))

    def unwrap(self) -> None:
        """Send close_notify, and wait for the client's."""
        if not self._do(self._session.shutdown):
            raise ssl.SSLWantReadError

    def pending(self) -> int:
        """Return how many bytes can be read without waiting."""
        return self._session.pending()

    def getpeercert(self, binary_form: bool = False) -> None:
        """Return None: `client_chain` has the certificates."""

    def cipher(self) -> tuple[str, str, int] | None:
        """Return the cipher, its protocol and its strength."""
        name = self._session.get_cipher_name()
        return (name, self._session.get_cipher_version() or "", self._session.get_cipher_bits() or 0) if name else None

    def compression(self) -> None:
        """Return None: there is no compression."""

    def _do(self, work: Callable[[], Result]) -> Result:
        """Run an operation of the session between the two buffers; its errors are raised as errors of the ssl
        module.
        """
        if data := self._incoming.read():
            self._session.bio_write(data)
        elif self._incoming.eof:
            self._session.bio_shutdown()
        try:
            return work()
        except SSL.WantReadError:
            raise ssl.SSLWantReadError from None
        except SSL.ZeroReturnError:
            raise ssl.SSLZeroReturnError from None
        except SSL.SysCallError:
            raise ssl.SSLEOFError from None
        except SSL.Error as error:
            raise ssl.SSLError(openssl_words(error)) from None
        finally:
            self._flush()

    def _flush(self) -> None:
        while True:
            try:
                self._outgoing.write(self._session.bio_read(_READ_BYTES))
            except SSL.Error:
                return

"""The address and the names that a page is served under: loopback, or another address with TLS.

From an address and files to an endpoint. Beyond loopback the token would be readable on the network, so nothing is
served there without a certificate.
"""

import ssl
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509

from kubesched.errors import KubeschedError
from kubesched.serving.tls.certificates import parse_identity

LOOPBACK: Final = "127.0.0.1"
LOCALHOST: Final = "localhost"
HTTPS_PORT: Final = 443


@dataclass(frozen=True, slots=True)
class PageEndpoint:
    """An address, and with TLS the names of the certificate."""

    address: str = LOOPBACK
    tls: ssl.SSLContext | None = None
    certified: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that the page is served under: the address, if it is a single one, and the certificate's
        names.
        """
        address = ip_address(self.address)
        own = () if address.is_unspecified else (str(address),)
        local = (LOCALHOST,) if address.is_loopback else ()
        return tuple(dict.fromkeys((*own, *self.certified, *local)))

    def hosts(self, port: int) -> list[str]:
        """Return the names with the port, as requests have them; browsers leave the port of https out."""
        named = [f"[{name}]" if ":" in name else name for name in self.names]
        bare = named if self.tls is not None and port == HTTPS_PORT else []
        return [*(f"{name}:{port}" for name in named), *bare]

    def url(self, port: int) -> str:
        """Return the URL, under the first name."""
        return f"{'http' if self.tls is None else 'https'}://{self.hosts(port)[0]}"


def endpoint_of(address: str, certificate: str | None = None, key: str | None = None) -> PageEndpoint:
    """Return the endpoint; raises KubeschedError, which explains how to serve on other addresses."""
    try:
        loopback = ip_address(address).is_loopback
    except ValueError:
        raise KubeschedError(f"--bind-address {address}: expected an IP address such as 127.0.0.1 or 0.0.0.0") from None
    if bool(certificate) != bool(key):
        raise KubeschedError("--tls-cert-file and --tls-private-key-file have to be given together")
    if certificate and key:
        found = PageEndpoint(address, *_tls(certificate, key))
        if not found.names:
            raise KubeschedError(
                f"--tls-cert-file {certificate}: has neither a DNS name (without *) nor an address to be served under: "
                f"name the address with --bind-address instead of {address}"
            )
        return found
    if not loopback:
        raise KubeschedError(
            f"--bind-address {address} is beyond this machine, where a page is served with TLS only: add "
            "--tls-cert-file and --tls-private-key-file; or leave it out, and reach the page through ssh -L or "
            "kubectl port-forward"
        )
    return PageEndpoint(address)


def _tls(certificate: str, key: str) -> tuple[ssl.SSLContext, tuple[str, ...]]:
    """Return the context of a server, and the names of its certificate."""
    try:
        identity = parse_identity(certificate, key, Path(certificate).read_bytes(), Path(key).read_bytes())
    except OSError as error:
        raise KubeschedError(f"{error.filename}: {error.strerror}") from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    context.load_cert_chain(certificate, key)
    return context, _names(identity.chain[0])


def _names(certificate: x509.Certificate) -> tuple[str, ...]:
    """Return the host names and addresses of a certificate that browsers check."""
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return ()
    names = [name.lower() for name in found.get_values_for_type(x509.DNSName) if "*" not in name]
    return (*names, *(str(address) for address in found.get_values_for_type(x509.IPAddress)))

"""Proxies: the proxy, if any, for connections to a server.

From a server's address and the environment to a proxy's address, with Go's reading of HTTP_PROXY, HTTPS_PROXY and
NO_PROXY (networks among them), since clusters are configured for that.
"""

# upstream: golang.org/x/net/http/httpproxy (v1.36)

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}
SCHEMES = ("http", "https")


class ProxyError(ValueError):
    """An address that is not a proxy's, or of a proxy that is not supported; its text does not repeat the address."""


def checked_proxy(address: str) -> str:
    """Return a proxy's address; raises ProxyError if it is invalid or not supported."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        raise ProxyError("is no address; write it as http://host:port") from None
    if parts.scheme == "socks5":
        raise ProxyError("names a SOCKS proxy, which is not supported; use an HTTP proxy (http://host:port)")
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise ProxyError("is no address of an HTTP proxy; write it as http://host:port")
    return address


def proxy_from(environment: Mapping[str, str], server: str) -> str | None:
    """Return the proxy that the environment has for a server, or None; raises ProxyError with the variable's name."""
    parts = urlsplit(server)
    name = f"{parts.scheme}_proxy"
    address = environment.get(name.upper()) or environment.get(name) or ""
    if not address or _is_direct(parts, environment.get("NO_PROXY") or environment.get("no_proxy") or ""):
        return None
    try:
        return checked_proxy(address if "://" in address else f"http://{address}")
    except ProxyError as error:
        raise ProxyError(f"the variable {name.upper()} {error}") from None


def _is_direct(server: SplitResult, exceptions: str) -> bool:
    """Return whether to connect without a proxy: to this machine, and to the hosts that NO_PROXY lists."""
    host = (server.hostname or "").rstrip(".")
    port = server.port or DEFAULT_PORTS.get(server.scheme, 0)
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    return any(_covers(entry.strip().lower(), host, port, address) for entry in exceptions.split(",") if entry.strip())


def _covers(entry: str, host: str, port: int, address: IPv4Address | IPv6Address | None) -> bool:
    """Return whether an entry of NO_PROXY means this host."""
    if entry == "*":
        return True
    if "/" in entry:
        try:
            return address is not None and address in ip_network(entry, strict=False)
        except ValueError:
            return False
    entry, only_port = _split_port(entry)
    if only_port and only_port != str(port):
        return False
    if address is not None:
        return _address(entry) == address
    domain = entry.removeprefix("*")
    if domain.startswith("."):
        return host.endswith(domain)
    return host == domain or host.endswith(f".{domain}")


def _split_port(entry: str) -> tuple[str, str]:
    if entry.startswith("["):
        host, _, port = entry[1:].partition("]")
        return host, port.removeprefix(":")
    host, separator, port = entry.rpartition(":")
    if separator and port.isdigit() and ":" not in host:
        return host, port
    return entry, ""


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None

"""Functions of addresses, networks and URLs."""

# upstream: apiserver/pkg/cel/library/{ip,cidr,urls}.go (v1.36), Go's net/netip and net/url

import ipaddress
import re
from typing import Any, Final, NamedTuple
from urllib.parse import unquote_plus

from kubesched.api.go_text import quote
from kubesched.cel import types
from kubesched.cel.errors import CelValueError
from kubesched.cel.values import CelMap, Opaque

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_BITS: Final = re.compile(r"0|[1-9][0-9]{0,2}")
_LONGEST_ADDRESS: Final = len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255")


class AddressError(ValueError):
    """A text that is no address or network."""


def _address(text: str) -> Address:
    try:
        if len(text) > _LONGEST_ADDRESS and "%" not in text:
            # quick to check, while Python would parse every part
            raise ValueError
        found = ipaddress.ip_address(text)
    except ValueError:
        raise AddressError(f"ParseAddr({quote(text)}): unable to parse IP") from None
    return found


def _parsed_ip(text: str) -> Opaque:
    try:
        found = _address(text)
    except AddressError as error:
        words = f"IP Address {quote(text)} parse error during conversion from string: {error}"
        raise CelValueError(words) from None
    if "%" in text:
        raise CelValueError(f"IP address {quote(text)} with zone value is not allowed")
    if found.version == 6 and found.ipv4_mapped is not None:
        raise CelValueError(f"IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return Opaque(types.IP, found, found)


def _parsed_cidr(text: str) -> Opaque:
    before, slash, bits = text.rpartition("/")
    words = "network address parse error during conversion from string: "
    if not slash:
        raise CelValueError(f"{words}netip.ParsePrefix({quote(text)}): no '/'")
    try:
        address = _address(before)
    except AddressError as error:
        raise CelValueError(f"{words}netip.ParsePrefix({quote(text)}): {error}") from None
    if "%" in before:
        raise CelValueError(f"{words}netip.ParsePrefix({quote(text)}): IPv6 zones cannot be present in a prefix")
    if not _BITS.fullmatch(bits):
        raise CelValueError(f"{words}netip.ParsePrefix({quote(text)}): bad bits after slash: {quote(bits)}")
    if int(bits) > address.max_prefixlen:
        raise CelValueError(f"{words}netip.ParsePrefix({quote(text)}): prefix length out of range")
    if address.version == 6 and address.ipv4_mapped is not None:
        raise CelValueError(f"IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return Opaque(types.CIDR, (address, int(bits)), (address, int(bits)))


def _answers(parse: Any, text: str) -> bool:
    try:
        parse(text)
    except CelValueError:
        return False
    return True


def to_ip(text: str) -> Opaque:
    """Return the address of a text."""
    return _parsed_ip(text)


def is_ip(text: str) -> bool:
    """Return whether a text is an address."""
    return _answers(_parsed_ip, text)


def is_canonical(text: str) -> bool:
    """Return whether an address is written in canonical form."""
    return str(_parsed_ip(text).held) == text


def family(address: Opaque) -> int:
    """Return 4 or 6."""
    return int(address.held.version)


def is_unspecified(address: Opaque) -> bool:
    """Return whether the address is all zeroes."""
    return bool(address.held.is_unspecified)


def is_loopback(address: Opaque) -> bool:
    """Return whether the address is a loopback address."""
    return bool(address.held.is_loopback)


def is_link_local_multicast(address: Opaque) -> bool:
    """Return whether the address is a link-local multicast address."""
    held = address.held
    if held.version == 4:
        return bool(held.packed[:3] == bytes([224, 0, 0]))
    return bool(held.packed[0] == 0xFF and held.packed[1] & 0x0F == 2)


def is_link_local_unicast(address: Opaque) -> bool:
    """Return whether the address is a link-local unicast address."""
    return bool(address.held.is_link_local)


def is_global_unicast(address: Opaque) -> bool:
    """Return whether the address is a global unicast address."""
    held = address.held
    broadcast = held.version == 4 and int(held) == 0xFFFFFFFF
    special = held.is_unspecified or held.is_loopback or held.is_multicast or held.is_link_local
    return not broadcast and not special


def to_cidr(text: str) -> Opaque:
    """Return the network of a text."""
    try:
        return _parsed_cidr(text)
    except CelValueError as error:
        raise CelValueError(f"network address parse error during conversion from string: {error}") from None


def is_cidr(text: str) -> bool:
    """Return whether a text is a network."""
    return _answers(_parsed_cidr, text)


def _network(cidr: Opaque) -> Any:
    address, bits = cidr.held
    return ipaddress.ip_network((address, bits), strict=False)


def contains_ip(cidr: Opaque, address: Opaque | str) -> bool:
    """Return whether an address is in a network."""
    held = to_ip(address).held if isinstance(address, str) else address.held
    return held in _network(cidr)


def contains_cidr(cidr: Opaque, other: Opaque | str) -> bool:
    """Return whether a network is within another."""
    inner = to_cidr(other) if isinstance(other, str) else other
    if inner.held[0].version != cidr.held[0].version:
        return False
    return bool(_network(cidr).overlaps(_network(inner))) and cidr.held[1] <= inner.held[1]


def cidr_ip(cidr: Opaque) -> Opaque:
    """Return the address of a network as it was written."""
    return Opaque(types.IP, cidr.held[0], cidr.held[0])


def prefix_length(cidr: Opaque) -> int:
    """Return the number of bits of a network's prefix."""
    return int(cidr.held[1])


def masked(cidr: Opaque) -> Opaque:
    """Return the network with the bits after its prefix cleared."""
    held = (_network(cidr).network_address, cidr.held[1])
    return Opaque(types.CIDR, held, held)


# URLs.


class Url(NamedTuple):
    """The parts of a URL."""

    text: str
    scheme: str
    host: str
    path: str
    query: str

    def __str__(self) -> str:
        return self.text


_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9\-_.~$&+,/:;=@!'()*%\[\]]")
_HOST: Final = re.compile(r"(?:\[[0-9A-Fa-f:.%]*\]|[^\[\]:/ \"<>\\^`{|}%]|%[0-9A-Fa-f]{2})*(?::[0-9]*)?")


def parse_request_uri(text: str) -> Url | str:
    """Return the parts of an absolute URL or path, or the error text."""
    problem = f"parse {quote(text)}: "
    if any(ord(character) < 0x20 or ord(character) == 0x7F for character in text):
        return problem + "net/url: invalid control character in URL"
    if not text:
        return problem + "empty url"
    if text == "*":
        return Url(text, "", "", "*", "")
    found = _SCHEME.match(text)
    scheme = found[0][:-1].lower() if found else ""
    rest = text[found.end() :] if found else text
    if not found and text.startswith(":"):
        return problem + "missing protocol scheme"
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        return Url(text, scheme, "", "", query) if scheme and rest else problem + "invalid URI for request"
    host = ""
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        host, slash, path = rest[2:].partition("/")
        rest = slash + path
        host = host.rpartition("@")[2]
        if not _HOST.fullmatch(host):
            return problem + f"invalid character in host name: {quote(host)}"
    if broken := _BAD_ESCAPE.search(rest):
        return problem + f"invalid URL escape {quote(rest[broken.start() : broken.start() + 3])}"
    return Url(text, scheme, host, rest, query)


def to_url(text: str) -> Opaque:
    """Return the URL of a text."""
    found = parse_request_uri(text)
    if isinstance(found, str):
        raise CelValueError(f"URL parse error during conversion from string: {found}")
    # a fragment is only recognised once the text is known to be a URL
    query, path = found.query.partition("#")[0], found.path.partition("#")[0]
    return Opaque(types.URL, found._replace(query=query, path=path), text)


def is_url(text: str) -> bool:
    """Return whether a text is an absolute URL or path."""
    return isinstance(parse_request_uri(text), Url)


def scheme_of(url: Opaque) -> str:
    """Return the scheme."""
    return str(url.held.scheme)


def host_of(url: Opaque) -> str:
    """Return host and port."""
    return str(url.held.host)


def _split_host(url: Opaque) -> tuple[str, str]:
    host = str(url.held.host)
    name, colon, port = host.rpartition(":")
    if not colon or "]" in port or not (port == "" or port.isdigit()):
        name, port = host, ""
    return (name[1:-1] if name.startswith("[") and name.endswith("]") else name), port


def hostname_of(url: Opaque) -> str:
    """Return the host without port and brackets."""
    return _split_host(url)[0]


def port_of(url: Opaque) -> str:
    """Return the port, or the empty text."""
    return _split_host(url)[1]


def escaped_path_of(url: Opaque) -> str:
    """Return the path with unusual characters escaped."""
    path = str(url.held.path)
    if not _UNSAFE.search(path):
        return path
    return _UNSAFE.sub(lambda found: "".join(f"%{octet:02X}" for octet in found[0].encode()), path)


def query_of(url: Opaque) -> CelMap:
    """Return the values of the query by key."""
    found = CelMap()
    for part in str(url.held.query).split("&"):
        if not part or ";" in part:
            continue
        key, _, value = part.partition("=")
        if _BAD_ESCAPE.search(part):
            continue
        found.entries.setdefault(unquote_plus(key), []).append(unquote_plus(value))
    return found

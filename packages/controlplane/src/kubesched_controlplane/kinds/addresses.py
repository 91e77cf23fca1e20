"""Validation of IP addresses and networks.

From texts and their paths to problems in the form of `api.field_errors`.
"""

# upstream: apimachinery/pkg/util/validation/ip.go, pkg/apis/core/validation/validation.go (ValidateEndpointIP) (v1.36)

import re
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from kubesched.api.field_errors import invalid

_NO_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_NO_NETWORK = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_LOOPBACK = "may not be in the loopback range (127.0.0.0/8, ::1/128)"
_LINK_LOCAL = "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
_LOCAL_MULTICAST = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
# zeros before another digit in a part of an IPv4 address
_LEADING_ZEROS = re.compile(r"(?<![0-9a-fA-F:])0+(?=\d)")
Address = IPv4Address | IPv6Address


def address_problems(path: str, text: str) -> list[str]:
    """Return the problems of an IP address."""
    try:
        address = ip_address(_LEADING_ZEROS.sub("", text))
    except ValueError:
        return [invalid(path, text, _NO_ADDRESS)]
    if address.version == 4 and _LEADING_ZEROS.search(text):
        return [invalid(path, text, "must not have leading 0s")]
    if address.version == 6 and address.ipv4_mapped is not None:
        return [invalid(path, text, "must not be an IPv4-mapped IPv6 address")]
    return []


def reachable_problems(path: str, text: str) -> list[str]:
    """Return the problems of a valid address that other machines must reach."""
    address = ip_address(text)
    checks = {
        f"may not be unspecified ({text})": address.is_unspecified,
        _LOOPBACK: address.is_loopback,
        _LINK_LOCAL: address.is_link_local,
        _LOCAL_MULTICAST: _is_local_multicast(address),
    }
    return [invalid(path, text, why) for why, applies in checks.items() if applies]


def _is_local_multicast(address: Address) -> bool:
    return address.packed.startswith(b"\xe0\x00\x00" if address.version == 4 else b"\xff\x02")


def network_problems(path: str, text: str) -> list[str]:
    """Return the problems of a network in CIDR notation."""
    try:
        ip_network(text, strict=False)
    except ValueError:
        return [invalid(path, text, _NO_NETWORK)]
    return [] if "/" in text else [invalid(path, text, _NO_NETWORK)]

"""The string formats of schemas.

From a format and a text to whether the text has the format. An unknown format accepts every text.
"""

# upstream: kube-openapi/pkg/validation/strfmt/*.go, apiextensions-apiserver/pkg/apiserver/validation/formats.go (v1.36)

import binascii
import re
from base64 import b64decode
from collections.abc import Callable
from datetime import date
from email.utils import parseaddr
from ipaddress import AddressValueError, IPv4Address, IPv6Address, NetmaskValueError, ip_network
from urllib.parse import urlsplit

from kubesched.api.labels import subdomain_problems
from kubesched_controlplane.kinds.checks import dns_label_problems
from kubesched_controlplane.schema.scalars import ScalarError, canonical_time

Test = Callable[[str], bool]

_HEX = "[0-9a-f]"
_DURATION = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)"
_LONG_UNITS = (
    "nanoseconds?|nanos?|nsecs?|microseconds?|micros?|usecs?|milliseconds?|millis?|msecs?|seconds?|secs?|minutes?|mins?|"
    "hours?|hrs?|days?|weeks?|ns|us|µs|ms|s|m|h|d|w|wk|wks|hr|min|sec"
)
_CARD = re.compile(
    r"(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})",
    re.ASCII,
)


def _pattern(text: str, flags: int = 0) -> Test:
    compiled = re.compile(text, flags | re.ASCII)
    return lambda value: compiled.fullmatch(value) is not None


def _uuid(version: str = "") -> Test:
    third = f"{version}{_HEX}{{3}}" if version else f"{_HEX}{{4}}"
    fourth = f"[89ab]{_HEX}{{3}}" if version in ("4", "5") else f"{_HEX}{{4}}"
    return _pattern(f"{_HEX}{{8}}-?{_HEX}{{4}}-?{third}-?{fourth}-?{_HEX}{{12}}", re.IGNORECASE)


def _without_error(read: Callable[[str], object]) -> Test:
    def test(value: str) -> bool:
        try:
            read(value)
        except (ValueError, AddressValueError, NetmaskValueError, ScalarError, binascii.Error):
            return False
        return True

    return test


def _network(value: str) -> None:
    if "/" not in value:
        raise ValueError(value)
    ip_network(value, strict=False)


def _uri(value: str) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return bool(value.startswith("/") or parts.scheme) and not re.search(r"[\x00-\x20\x7f]", value)


def _email(value: str) -> bool:
    address = parseaddr(value)[1]
    name, at, domain = address.rpartition("@")
    return bool(name and at and domain) and " " not in address


def _hostname(value: str) -> bool:
    label = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
    single, several = re.fullmatch(label, value), re.fullmatch(rf"(?:{label}\.)+[a-zA-Z]{{2,63}}", value)
    return (single or several) is not None and len(value) <= 255


def _isbn10(value: str) -> bool:
    digits = re.sub(r"[\s-]+", "", value)
    if not re.fullmatch(r"\d{9}[\dX]", digits, re.ASCII):
        return False
    return not sum((10 - at) * (10 if digit == "X" else int(digit)) for at, digit in enumerate(digits)) % 11


def _isbn13(value: str) -> bool:
    digits = re.sub(r"[\s-]+", "", value)
    if not re.fullmatch(r"\d{13}", digits, re.ASCII):
        return False
    return not sum((3 if at % 2 else 1) * int(digit) for at, digit in enumerate(digits)) % 10


def _card(value: str) -> bool:
    digits = re.sub(r"[^0-9]+", "", value)
    if not _CARD.fullmatch(digits):
        return False
    doubled = (int(digit) * (2 if at % 2 else 1) for at, digit in enumerate(reversed(digits)))
    return not sum(each // 10 + each % 10 for each in doubled) % 10


_TESTS: dict[str, Test] = {
    "bsonobjectid": _pattern("[0-9a-fA-F]{24}"),
    "uri": _uri,
    "email": _email,
    "hostname": _hostname,
    "ipv4": _without_error(IPv4Address),
    "ipv6": _without_error(IPv6Address),
    "cidr": _without_error(_network),
    "mac": _pattern(
        "[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}(([:-][0-9a-fA-F]{2}){2}|([:-][0-9a-fA-F]{2}){14})?|"
        r"[0-9a-fA-F]{4}(\.[0-9a-fA-F]{4}){2}((\.[0-9a-fA-F]{4})|(\.[0-9a-fA-F]{4}){7})?"
    ),
    "uuid": _uuid(),
    "uuid3": _uuid("3"),
    "uuid4": _uuid("4"),
    "uuid5": _uuid("5"),
    "isbn": lambda value: _isbn10(value) or _isbn13(value),
    "isbn10": _isbn10,
    "isbn13": _isbn13,
    "creditcard": _card,
    "ssn": _pattern(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "hexcolor": _pattern("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "rgbcolor": _pattern(
        r"rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,"
        r"\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)"
    ),
    "byte": _without_error(lambda value: b64decode(value, validate=True)),
    "password": lambda value: True,
    "date": _without_error(date.fromisoformat),
    "duration": _pattern(rf"[+-]?0|({_DURATION})+|\d+\s*({_LONG_UNITS})"),
    "datetime": _without_error(canonical_time),
    "k8sshortname": lambda value: not dns_label_problems(value),
    "k8slongname": lambda value: not subdomain_problems(value),
}


def known_format(schema_type: str, name: str) -> str:
    """Return the format if it is known for values of a type, an empty text otherwise."""
    match schema_type:
        case "" | "string":
            return name if name.replace("-", "") in _TESTS else ""
        case "integer":
            return name if name in ("int32", "int64") else ""
        case "number":
            return name if name in ("float", "double") else ""
    return ""


def has_format(name: str, text: str) -> bool:
    """Return whether a text has a format; formats of numbers accept every text."""
    test = _TESTS.get(name.replace("-", ""))
    return test is None or test(text)

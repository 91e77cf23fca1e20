"""Content negotiation: JSON, YAML, CBOR or text, pretty or not.

From an Accept header to the first acceptable form on offer, and from plain values to the bytes of that form. Errors
are Status objects, in JSON if no form is acceptable.
"""

# upstream: apiserver/pkg/endpoints/handlers/negotiation/negotiate.go, responsewriters/{writers,errors}.go (v1.36)

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import yaml

from kubesched.api.go_text import quote, to_json
from kubesched.serving.requests import JSON, NO_SNIFF, PageRequest, PageResponse, UserInfo, refused

YAML = "application/yaml"
CBOR = "application/cbor"
TEXT = "text/plain"
# the self-described CBOR tag
_SELF_DESCRIBED = b"\xd9\xd9\xf7"
# browsers must not take errors for HTML
_TAMED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# user agents of people: browsers and command line tools
_PEOPLE = ("curl", "Wget", "Mozilla/5.0")
_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_CONVERSION = {"as", "g", "v"}


class MediaType(msgspec.Struct, frozen=True):
    """An acceptable media type with its parameters; preferred ones have a higher quality."""

    name: str
    parameters: Mapping[str, str] = {}
    quality: float = 1.0

    def covers(self, name: str) -> bool:
        """Return whether this media range matches a media type."""
        kind, _, rest = self.name.partition("/")
        return self.name in (name, "*/*") or (rest == "*" and kind == name.partition("/")[0])

    @property
    def conversion(self) -> tuple[str, str, str] | None:
        """Return the group, version and kind that an object is wanted as, None if it is wanted as it is."""
        if _CONVERSION.isdisjoint(self.parameters):
            return None
        group, version, kind = (self.parameters.get(name, "") for name in ("g", "v", "as"))
        return group, version, kind


def accepted(header: str) -> Sequence[MediaType]:
    """Return the media types of an Accept header: the highest quality first, and the most specific among equals."""
    found = (_media_type(part) for part in header.split(","))
    return sorted(found, key=lambda media: (-media.quality, media.name.count("*")))


def _media_type(text: str) -> MediaType:
    name, *rest = (part.strip() for part in text.split(";"))
    parameters = dict(_parameters(rest))
    try:
        quality = float(parameters.pop("q", "1"))
    except ValueError:
        quality = 1.0
    return MediaType(name.lower(), parameters, quality)


def _parameters(parts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for part in parts:
        name, equals, value = part.partition("=")
        if equals:
            yield name.strip().lower(), value.strip().strip('"')


def encoded(value: Mapping[str, Any], form: str, request: PageRequest) -> bytes:
    """Return plain values in one of the forms, as the reference lays them out."""
    if form == YAML:
        return yaml.safe_dump(value, default_flow_style=False, allow_unicode=True).encode()
    if form == CBOR:
        return cbor(value)
    if _is_pretty(request):
        return to_json(value, sort_keys=False, indent=2).encode()
    return (to_json(value, sort_keys=False) + "\n").encode()


def cbor(value: Any) -> bytes:
    """Return plain values in CBOR, as the reference writes it: texts are byte strings, the shorter key comes first."""
    # upstream: apimachinery/pkg/runtime/serializer/cbor/internal/modes/encode.go (v1.36)
    import cbor2

    return _SELF_DESCRIBED + cbor2.dumps(_in_bytes(value))


def _in_bytes(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace")
    if isinstance(value, Mapping):
        found = {_in_bytes(name): _in_bytes(each) for name, each in value.items()}
        return {name: found[name] for name in sorted(found, key=lambda name: (len(name), name))}
    if isinstance(value, list | tuple):
        return [_in_bytes(each) for each in value]
    return value


def _is_pretty(request: PageRequest) -> bool:
    wish = request.parameter("pretty")
    if wish:
        return wish in _TRUE
    return request.headers.get("User-Agent", "").startswith(_PEOPLE)


def status(
    request: PageRequest, code: int, reason: str, message: str, details: Mapping[str, Any] | None = None
) -> PageResponse:
    """Return an error as a Status object."""
    value: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    value |= {"message": message, "reason": reason}
    value |= ({} if details is None else {"details": details}) | {"code": code}
    for media in accepted(request.headers.get("Accept", "*/*") or "*/*"):
        form = next((form for form in (JSON, YAML) if media.covers(form) and media.conversion is None), None)
        if form is not None:
            return PageResponse(encoded(value, form, request), code, form)
    return PageResponse(to_json(value, sort_keys=False, indent=2).encode(), code, JSON)


def unauthorized(request: PageRequest) -> PageResponse:
    """Return 401 for bad credentials."""
    return status(request, 401, "Unauthorized", "Unauthorized")


def forbidden(request: PageRequest, user: UserInfo, reason: str) -> PageResponse:
    """Return 403 for a user who is not allowed."""
    words = f"User {quote(user.name)} cannot {request.verb} path {quote(request.path)}".translate(_TAMED)
    message = f"forbidden: {words}" + (f": {reason}" if reason else "")
    answer = status(request, 403, "Forbidden", message, {})
    return msgspec.structs.replace(answer, headers=NO_SNIFF)


def not_acceptable(request: PageRequest, offered: Sequence[str]) -> PageResponse:
    """Return 406: none of the offered media types is acceptable."""
    return status(request, 406, "NotAcceptable", f"only the following media types are accepted: {', '.join(offered)}")


def internal_error(request: PageRequest, problem: str) -> PageResponse:
    """Return 500 for a failed authorization review."""
    return refused(f"Internal Server Error: {quote(request.target)}: {problem}".translate(_TAMED), 500)

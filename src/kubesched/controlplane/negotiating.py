"""Media types: JSON in, JSON out.

From a request's headers to a refusal where a client insists on another form.
"""

# upstream: apiserver/pkg/endpoints/handlers/negotiation/negotiate.go (v1.36)

from kubesched.controlplane.patching import OFFERED as PATCHES
from kubesched.controlplane.requests import Request
from kubesched.controlplane.statuses import not_acceptable, unsupported_media_type

OFFERED = ("application/json",)
_GOOD_ENOUGH = ("application/json", "application/*", "*/*")


def check_media_types(request: Request) -> None:
    """Raise ApiError unless the body is JSON and JSON is acceptable."""
    if not accepts(request, *_GOOD_ENOUGH):
        raise not_acceptable(OFFERED)
    if request.body and request.method in ("POST", "PUT"):
        kind = _kind(request.headers.get("content-type", "") or "application/json")
        if kind not in OFFERED:
            raise unsupported_media_type(OFFERED)
    if request.method == "PATCH" and _kind(request.headers.get("content-type", "")) not in PATCHES:
        raise unsupported_media_type(PATCHES)


def accepts(request: Request, *forms: str) -> bool:
    """Return whether a client takes one of these media types; one that does not say takes any."""
    accept = request.headers.get("accept", "")
    return not accept or any(_kind(entry) in forms for entry in accept.split(","))


def _kind(entry: str) -> str:
    """Return a media type without its parameters."""
    return entry.partition(";")[0].strip().lower()

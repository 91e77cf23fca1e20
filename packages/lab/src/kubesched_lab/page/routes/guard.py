"""Access to the page's interface: only requests with the token, from a page that this server served.

From requests to refusals. Requests for another host name are refused, so that a foreign page cannot send a browser here
under its own name (DNS rebinding). Requests from a page of another origin are refused, even with the token. Headers of
every response restrict its use in the browser.
"""

import hmac
from collections.abc import Awaitable, Callable, Collection
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Middleware

from kubesched.errors import KubeschedError
from kubesched.model.cluster_model import UnknownObjectError
from kubesched_lab.page.routes.bodies import RefusedRequestError

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Server": "kubesched",
}
SECRET_PATHS: Final = "/v1/"


def refusal(status: int, sentence: str) -> web.Response:
    """Return a refusal with its reason."""
    return web.json_response({"error": sentence}, status=status)


def _status_of(error: KubeschedError) -> int:
    if isinstance(error, RefusedRequestError):
        return error.status
    return 404 if isinstance(error, UnknownObjectError) else 422


def guard(token: str, hosts: Collection[str]) -> Middleware:
    """Return a middleware that lets requests through; `hosts` are the names that the page is served under."""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.host not in hosts:
            return refusal(421, f"this server is {' or '.join(sorted(hosts))}, and not {request.host[:100]!r}")
        for origin in request.headers.getall("Origin", ()):
            if origin.partition("://")[2] not in hosts:
                return refusal(403, f"a page of {origin[:100]!r} may not ask here")
        if request.path.startswith(SECRET_PATHS):
            kind, _, given = request.headers.get("Authorization", "").partition(" ")
            # bytes of a header that are no UTF-8 come as halves of surrogate pairs
            told = given.strip().encode("utf-8", "surrogateescape")
            if kind.lower() != "bearer" or not hmac.compare_digest(told, token.encode()):
                return refusal(401, "the token is missing or wrong: open the address that kubesched page printed")
        try:
            return await handler(request)
        except KubeschedError as error:
            return refusal(_status_of(error), str(error))
        except web.HTTPException as raised:
            return refusal(raised.status, f"{request.method} {request.path[:200]}: {raised.reason.lower()}")

    return guarded


async def with_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Add the security headers for browsers."""
    response.headers.update(HEADERS)

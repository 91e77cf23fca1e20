"""TokenReviews and SubjectAccessReviews, sent to the API server.

From a token or a user to a review and its status. Requests are retried after errors that may pass; other errors are
raised, and their texts hold no token.
"""

# upstream: apiserver/plugin/pkg/{authenticator/token,authorizer}/webhook/webhook.go, apiserver/pkg/util/webhook (v1.36)

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import msgspec

from kubesched.errors import KubeschedError
from kubesched.serving.requests import UserInfo

TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
REVIEW_SECONDS = 10.0
TRIES = 5
FIRST_WAIT_SECONDS = 0.5
WAIT_FACTOR = 1.5
WAIT_JITTER = 0.2
_PASSING = (429, 500, 504)

Review = TypeVar("Review")


class ApiClient(Protocol):
    """A client of the API server, such as `client.rest.RestClient`; errors are KubeschedErrors.

    An error's `code` is the status code of the response, `retry_after_seconds` its Retry-After, and `maybe_done` is set
    if the connection was lost before a response.
    """

    async def send(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Send a request; return the body of the response."""

    async def close(self) -> None:
        """Close all connections."""


class ReviewError(KubeschedError):
    """A review failed, or its response cannot be decoded."""


class ReviewDecision(msgspec.Struct, frozen=True):
    """Whether a user is allowed to do something, and the reason."""

    allowed: bool = False
    denied: bool = False
    reason: str = ""


class _UserInfo(msgspec.Struct):
    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] | None = None
    extra: Mapping[str, tuple[str, ...]] | None = None


class _TokenStatus(msgspec.Struct):
    authenticated: bool = False
    user: _UserInfo | None = None
    error: str = ""


class _TokenReview(msgspec.Struct):
    status: _TokenStatus


class _AccessReview(msgspec.Struct):
    status: ReviewDecision


async def review_token(client: ApiClient, token: str) -> UserInfo | None:
    """Return the user of a token, or None if the API server does not know it."""
    spec = {"token": token}
    body = {"kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1", "spec": spec}
    try:
        status = (await _ask(client, TOKEN_REVIEWS, body, _TokenReview)).status
        if status.error and not status.authenticated:
            raise ReviewError(status.error)
    except KubeschedError as error:
        # servers and proxies may repeat the request in an error
        raise ReviewError(str(error).replace(token, "[token]")) from None
    if not status.authenticated:
        return None
    user = status.user or _UserInfo()
    return UserInfo(user.username, user.groups or (), user.uid, user.extra or {})


def access_question(user: UserInfo, verb: str, path: str) -> dict[str, Any]:
    """Return the spec of a SubjectAccessReview: whether a user may use a verb on a path."""
    spec: dict[str, Any] = {"nonResourceAttributes": {"path": path, "verb": verb}, "user": user.name}
    more: Mapping[str, Sequence[str] | Mapping[str, Sequence[str]] | str] = {
        "groups": user.groups,
        "extra": user.extra,
        "uid": user.uid,
    }
    return spec | {field: value for field, value in more.items() if value}


async def review_access(client: ApiClient, spec: Mapping[str, Any]) -> ReviewDecision:
    """Send a SubjectAccessReview; return the server's decision."""
    body = {"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": spec}
    return (await _ask(client, ACCESS_REVIEWS, body, _AccessReview)).status


async def _ask(client: ApiClient, path: str, body: Mapping[str, Any], kind: type[Review]) -> Review:
    sent = msgspec.json.encode(body)
    try:
        async with asyncio.timeout(REVIEW_SECONDS):
            answer = await _patiently(lambda: client.send("POST", path, sent))
    except TimeoutError:
        raise ReviewError(f"POST {path}: no answer within {REVIEW_SECONDS:g} seconds") from None
    try:
        return msgspec.json.decode(answer, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise ReviewError(f"POST {path}: the answer is no review") from None


async def _patiently(send: Callable[[], Any]) -> bytes:
    """Return the response to a request; send it again after errors that may pass."""
    seconds = FIRST_WAIT_SECONDS
    for _ in range(TRIES - 1):
        try:
            return bytes(await send())
        except KubeschedError as error:
            if not _may_pass(error):
                raise
        await asyncio.sleep(seconds * (1 + WAIT_JITTER * random.random()))
        seconds *= WAIT_FACTOR
    return bytes(await send())


def _may_pass(error: KubeschedError) -> bool:
    asked_to_wait = getattr(error, "retry_after_seconds", None) is not None
    return asked_to_wait or getattr(error, "code", 0) in _PASSING or getattr(error, "maybe_done", False)

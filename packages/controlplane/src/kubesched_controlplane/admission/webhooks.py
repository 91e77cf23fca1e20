"""Admission webhooks: servers that admit or deny a request, and that may mutate its object.

From configurations and a request to calls, and from the replies to a denial, warnings or a mutated object. Mutating
webhooks are called one after the other, since each sees the changes of those before it; validating ones all at once.
"""

# upstream: apiserver/pkg/admission/plugin/webhook/{generic/webhook.go,mutating/dispatcher.go,validating/dispatcher.go,
# request/admissionreview.go,errors/statuserror.go,mutating/reinvocationcontext.go} (v1.36)

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any
from uuid import UUID

import msgspec

from kubesched.api.go_text import quote
from kubesched.json_patch import OperationError, json_patched
from kubesched_controlplane.admission.matching import MatchConstraints
from kubesched_controlplane.admission.policies import Conditions
from kubesched_controlplane.admission.reviewing import Review
from kubesched_controlplane.api.attempts import WebhookCall, WebhookCallsNeededError, WebhookReply
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError, internal_error
from kubesched_controlplane.conversion import from_storage, to_storage
from kubesched_controlplane.kinds.admission.expressions import EvaluationError

REVIEW = "AdmissionReview"
_GROUP = "admission.k8s.io"
_KNOWN = ("v1", "v1beta1")
# metadata that is generated after mutating webhooks, and hidden from them
_LATER = ("uid", "creationTimestamp")


class Webhook:
    """One webhook of a configuration."""

    def __init__(self, configuration: str, hook: Document) -> None:
        self.name: str = hook["name"]
        self.reinvoked = hook.get("reinvocationPolicy") == "IfNeeded"
        self._identity = f"{configuration}/{self.name}"
        self._client: Document = hook.get("clientConfig") or {}
        self._seconds: int = hook.get("timeoutSeconds") or 10
        self.ignores = hook.get("failurePolicy") == "Ignore"
        self._version = next(each for each in hook["admissionReviewVersions"] if each in _KNOWN)
        self._match = MatchConstraints(hook, hook.get("rules") or ({},))
        policy = hook.get("failurePolicy") or "Fail"
        self._conditions = Conditions(hook.get("matchConditions") or (), params=False, failure_policy=policy)

    def matched(self, review: Review) -> Resource | None:
        """Return the resource in the version that the webhook matches, None if it is not called; raises ApiError."""
        matched = review.matched(self._match)
        if matched is None:
            return None
        try:
            return matched if self._conditions.hold(review.values(matched)) else None
        except EvaluationError as error:
            raise review.asked.refusal(str(error), review.new) from None

    def call(self, review: Review, matched: Resource, reinvocation: int = 0) -> WebhookCall:
        """Return the call of the webhook with its AdmissionReview."""
        request = {
            **review.asked.document(matched),
            "object": _shown(matched, review.new),
            "oldObject": _shown(matched, review.old),
        }
        text = msgspec.json.encode(request)
        key = sha256(f"{self._identity} {reinvocation} ".encode() + text).digest()
        uid = str(UUID(bytes=key[:16], version=4))
        body = {"kind": REVIEW, "apiVersion": f"{_GROUP}/{self._version}", "request": {"uid": uid, **request}}
        url, service = self._address()
        bundle = b64decode(self._client.get("caBundle") or "")
        return WebhookCall(key, uid, msgspec.json.encode(body), url, bundle, float(self._seconds), service)

    def _address(self) -> tuple[str, str]:
        """Return the URL and, for a webhook behind a service, its namespace/name."""
        wait, service = f"?timeout={self._seconds}s", self._client.get("service")
        if service is None:
            return f"{self._client.get('url') or ''}{wait}", ""
        name, namespace, path = service["name"], service["namespace"], service.get("path") or ""
        host = f"{name}.{namespace}.svc:{service.get('port') or 443}"
        return f"https://{host}{'' if path.startswith('/') or not path else '/'}{path}{wait}", f"{namespace}/{name}"

    def verdict(self, call: WebhookCall, reply: WebhookReply, *, changing: bool) -> Document | None:
        """Return the response of a webhook, None if the call failed and failurePolicy is Ignore; raises ApiError."""
        words = f"failed to call webhook: Post {quote(call.url)}: {reply.error}"
        if not reply.error:
            try:
                return _response(call, reply.document, self._version, changing=changing)
            except ValueError as error:
                words = f"received invalid webhook response: {error}"
        if self.ignores:
            return None
        raise self.failure(words)

    def failure(self, words: str) -> ApiError:
        """Return the error for a webhook that cannot be called or has no valid response."""
        return internal_error(f"failed calling webhook {quote(self.name)}: {words}")

    def denial(self, result: Document) -> ApiError:
        """Return the error for a request that the webhook denies."""
        words = f"admission webhook {quote(self.name)} denied the request"
        why = result.get("message") or result.get("reason")
        message = f"{words}: {why}" if why else f"{words} without explanation"
        code = result.get("code") or 0
        return ApiError(max(code, 400), result.get("reason") or "", message, result.get("details"))


def webhooks_of(configurations: Sequence[Document]) -> list[Webhook]:
    """Return the webhooks of configurations, in their order."""
    return [Webhook(each["metadata"]["name"], hook) for each in configurations for hook in each.get("webhooks") or ()]


def ask_all(hooks: Sequence[Webhook], review: Review) -> None:
    """Apply the replies of validating webhooks; raises ApiError if one denies, WebhookCallsNeededError to call more."""
    asked = [(hook, call) for hook, call, _ in _calls(hooks, review)]
    replies = _replies(review, [call for _, call in asked])
    for (hook, call), reply in zip(asked, replies, strict=True):
        response = hook.verdict(call, reply, changing=False)
        if response is not None:
            _apply_response(hook, response, review)


class Changing:
    """The mutating webhooks of one request, called one after the other."""

    def __init__(self, hooks: Sequence[Webhook], review: Review) -> None:
        self._hooks = hooks
        self._review = review
        self._changed: Document | None = None
        # called webhooks that are reinvoked if the object changes after them
        self._invoked: list[Webhook] = []
        self._reply_cache: list[Webhook] = []

    def outcome(self) -> Document | None:
        """Return the mutated object, None if no webhook has changed it.

        Raises ApiError if a webhook denies the request, WebhookCallsNeededError if one has not been called yet.
        """
        self._pass(self._hooks, 0)
        if self._reply_cache:
            self._pass([hook for hook in self._hooks if hook in self._reply_cache], 1)
        return self._changed

    def _pass(self, hooks: Sequence[Webhook], number: int) -> None:
        for hook in hooks:
            for _, call, matched in _calls([hook], self._review, number):
                reply = _replies(self._review, [call])[0]
                response = hook.verdict(call, reply, changing=True)
                if response is not None:
                    _apply_response(hook, response, self._review)
                    self._take(hook, response, matched)
            if hook.reinvoked and hook not in self._invoked:
                self._invoked.append(hook)

    def _take(self, hook: Webhook, response: Document, matched: Resource) -> None:
        """Apply the patch of a webhook to the object; queue the webhooks that have to be reinvoked."""
        patch = _patch(hook, response)
        if not patch:
            return
        review = self._review
        if review.new is None:
            why = (
                f"admission webhook {quote(hook.name)} attempted to modify the object, which is not supported for this"
            )
            raise internal_error(f"{why} operation")
        before = from_storage(matched, review.new)
        try:
            after = json_patched(before, patch)
        except (OperationError, AttributeError) as error:
            raise internal_error(str(error)) from None
        if not isinstance(after, dict):
            raise internal_error(f"admission webhook {quote(hook.name)} made no object of the object")
        if after == before:
            return
        self._changed = to_storage(matched, after)
        self._review = review.with_new(self._changed)
        self._reply_cache += [each for each in self._invoked if each is not hook and each not in self._reply_cache]


def _calls(
    hooks: Sequence[Webhook], review: Review, number: int = 0
) -> Iterator[tuple[Webhook, WebhookCall, Resource]]:
    for hook in hooks:
        matched = hook.matched(review)
        if matched is not None:
            yield hook, hook.call(review, matched, number), matched


def _replies(review: Review, calls: list[WebhookCall]) -> list[WebhookReply]:
    attempt = review.asked.request.attempt
    known = {} if attempt is None else attempt.replies
    missing = [each for each in calls if each.key not in known]
    if missing:
        raise WebhookCallsNeededError(missing)
    return [known[each.key] for each in calls]


def _apply_response(hook: Webhook, response: Document, review: Review) -> None:
    """Add a webhook's warnings to the HTTP response; raises ApiError if the webhook denies the request."""
    review.asked.request.warnings.extend(str(each) for each in response.get("warnings") or ())
    if not response.get("allowed"):
        raise hook.denial(response.get("status") or {})


def _response(call: WebhookCall, document: Any, version: str, *, changing: bool) -> Document:
    """Return the response in an AdmissionReview; raises ValueError if it is missing or malformed."""
    if not isinstance(document, dict):
        raise ValueError(f"unexpected response type {type(document).__name__}")
    response: Any = document.get("response")
    if not isinstance(response, dict):
        raise ValueError("webhook response was absent")
    if version == "v1":
        if response.get("uid") != call.uid:
            found = quote(str(response.get("uid") or ""))
            raise ValueError(f"expected response.uid={quote(call.uid)}, got {found}")
        found_kind = f"{document.get('apiVersion') or ''}, Kind={document.get('kind') or ''}"
        if found_kind != f"{_GROUP}/v1, Kind={REVIEW}":
            raise ValueError(f"expected webhook response of {_GROUP}/v1, Kind={REVIEW}, got {found_kind}")
        _check_patch(response, changing=changing)
    for field, kind in (("warnings", list), ("status", dict), ("patch", str)):
        if response.get(field) is not None and not isinstance(response[field], kind):
            raise ValueError(f"response.{field} is not as it should be")
    return response


def _check_patch(response: Document, *, changing: bool) -> None:
    patch, kind = response.get("patch"), response.get("patchType")
    if not changing:
        for field, value in (("patch", patch), ("patchType", kind)):
            if value:
                raise ValueError(f"validating webhook may not return response.{field}")
    elif patch and kind is None:
        raise ValueError("webhook returned response.patch but not response.patchType")
    elif not patch and kind is not None:
        raise ValueError("webhook returned response.patchType but not response.patch")
    elif patch and kind != "JSONPatch":
        raise ValueError(f"unsupported patch type {quote(str(kind))}")


def _patch(hook: Webhook, response: Document) -> list[Any]:
    try:
        found = msgspec.json.decode(b64decode(response.get("patch") or "W10=", validate=True))
    except (Base64Error, msgspec.DecodeError) as error:
        if hook.ignores:
            return []
        raise hook.failure(f"received undecodable patch in webhook response: {error}") from None
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise hook.failure("received undecodable patch in webhook response: it is no list of operations")
    return found


def _shown(matched: Resource, document: Document | None) -> Document | None:
    return None if document is None else from_storage(matched, document)


def without_later(new: Document, *, named: bool) -> Document:
    """Return a new object for mutating policies and webhooks: without UID, creation timestamp and generated name."""
    hidden = _LATER if named else (*_LATER, "name")
    meta = {field: value for field, value in new["metadata"].items() if field not in hidden}
    return {**new, "metadata": meta}

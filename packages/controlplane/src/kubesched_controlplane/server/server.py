"""The API server without its network: a request in, a response or a watch out.

    Request ──▶ authenticate ──▶ target ──▶ authorize ──▶ media types ──▶ verb (get, list, create, ...) ──▶ answer
                                                                            │
                                                                          store ──changes──▶ watches

Every verb is synchronous, so there is one writer and no lock. `transport.http` serves it on a socket; clients in the
same process call it directly, in virtual time if they like.
"""

# upstream: apiserver/pkg/server/config.go (DefaultBuildHandlerChain), pkg/endpoints/installer.go (v1.36)

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from random import Random

import msgspec

from kubesched_controlplane.access import Access, Attributes
from kubesched_controlplane.access.decisions import refused
from kubesched_controlplane.admission.chain import Chain
from kubesched_controlplane.admission.namespace_limits import admit
from kubesched_controlplane.admission.reply_cache import ReplyCache, answered
from kubesched_controlplane.admission.webhook_calls import Ask, WebhookCalls
from kubesched_controlplane.api.attempts import Attempt, Interrupted, WebhookCallsNeededError
from kubesched_controlplane.api.query_options import check_timeout
from kubesched_controlplane.api.requests import (
    ADMINISTRATOR,
    UNAUTHENTICATED,
    Request,
    Response,
    Target,
    User,
    refusal,
    target_of,
)
from kubesched_controlplane.api.resources import Catalog, Resource
from kubesched_controlplane.api.statuses import ApiError, bad_request, internal_error, no_such_path, too_large
from kubesched_controlplane.custom.serving import Definitions
from kubesched_controlplane.kinds.api_services import refused_for
from kubesched_controlplane.registry.registry import ResourceRegistry
from kubesched_controlplane.registry.strategy import Strategies
from kubesched_controlplane.registry.token_issuer import CONFIGURATION, KEYS
from kubesched_controlplane.representation.discovery import Discovery
from kubesched_controlplane.representation.negotiation import check_accepts_json, in_json
from kubesched_controlplane.representation.openapi import OpenApi
from kubesched_controlplane.schema import Schemas
from kubesched_controlplane.server.catalog import STRATEGIES, built_in
from kubesched_controlplane.server.handlers import HANDLERS
from kubesched_controlplane.server.subresources.custom_scale import scale
from kubesched_controlplane.server.verbs.delete_options import DeleteOptions
from kubesched_controlplane.server.verbs.deleting import DeleteVerbs
from kubesched_controlplane.server.verbs.reading import ReadVerbs
from kubesched_controlplane.server.verbs.server_side_apply import apply_patch, is_apply
from kubesched_controlplane.server.verbs.verbs import Handler, Verbs
from kubesched_controlplane.server.verbs.watching import Watch, WatchVerb
from kubesched_controlplane.server.verbs.writing import WriteVerbs, with_warnings
from kubesched_controlplane.storage.store import Store, Stored

LARGEST_BODY = 3 * 1024 * 1024
# attempts of a request that needs further webhook replies each time
MOST_ROUNDS = 200


class ApiServer:
    """Handles requests; `note` is called with lines for the log.

    With a restored store, the seed gives other UIDs than at the first start, so that they stay unique.
    """

    def __init__(
        self,
        *,
        access: Callable[[ResourceRegistry], Access],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        seed: int | None = None,
        catalog: Catalog | None = None,
        strategies: Strategies = STRATEGIES,
        handlers: Mapping[tuple[str, str], Handler] = HANDLERS,
        store: Store | None = None,
        note: Callable[[str], None] = lambda line: None,
    ) -> None:
        store = store or Store()
        random = Random(seed if not store.recalled or seed is None else f"{seed} from {store.recalled} on")
        self.registry = ResourceRegistry(store, catalog or built_in(), Schemas(), strategies, clock, random, admit)
        self.access = access(self.registry)
        self.registry.refusal = self._refusal
        self.registry.admission = Chain(store, self.registry.catalog, self.registry.field_type, self.access.decide)
        self.note = note
        self._handlers = handlers
        self._discovery = Discovery(self.registry.catalog)
        self._openapi = OpenApi(self.registry.catalog, self.registry.schemas)
        self.watching = WatchVerb(self.registry)
        reading = ReadVerbs(self.registry)
        deleting = DeleteVerbs(self.registry, reading)
        self._verbs = Verbs(self.registry, reading, WriteVerbs(self.registry), deleting, self.access)
        self._definitions = Definitions(self.registry, self._delete, self.watching.end_of)
        # pages of other components in this process, by non-resource path; authorization is the server's
        self.pages: dict[str, Callable[[Request], Response]] = {}
        # calls webhooks; tests replace this function
        self.ask_webhooks: Ask = WebhookCalls(store)
        self._reply_cache = ReplyCache(lambda: self.ask_webhooks, clock)

    def handle(self, request: Request) -> Response | Watch:
        """Return the response to a request, or its watch; never raises.

        A request that needs webhook replies is answered with 503 and can be retried.
        """
        try:
            request = self.authenticated(request)
        except ApiError as error:
            return refusal(error)
        attempt = self._reply_cache.attempt_of(request)
        if attempt is not None:
            request = with_attempt(request, attempt)
        found = self.attempt(request)
        rounds = 0
        while isinstance(found, Interrupted):
            known = self._reply_cache.begin(request, found)
            if isinstance(known, ApiError):
                return refusal(known)
            rounds += 1
            found = self.attempt(with_attempt(request, known)) if rounds < MOST_ROUNDS else refusal(endless_webhooks())
        return found

    async def answer(self, request: Request) -> Response | Watch:
        """Return the response to a request, or its watch, after calling the webhooks that it needs."""
        try:
            request = self.authenticated(request)
        except ApiError as error:
            return refusal(error)
        found = self.attempt(request)
        rounds = 0
        while isinstance(found, Interrupted):
            rounds += 1
            if rounds > MOST_ROUNDS:
                return refusal(endless_webhooks())
            found = self.attempt(with_attempt(request, await answered(found, self.ask_webhooks)))
        return found

    def authenticated(self, request: Request) -> Request:
        """Authenticate a request that has no user yet; return it with its user. Raises ApiError 401 or 403."""
        if request.user is not UNAUTHENTICATED:
            return request
        return msgspec.structs.replace(request, user=self.access.user_of(request.headers))

    def admitted(self, request: Request) -> Request:
        """Authenticate and authorize a request whose body was not read yet; raises ApiError."""
        request = self.authenticated(request)
        self._authorized(request)
        return request

    def attempt(self, request: Request) -> Response | Watch | Interrupted:
        """Return the response to a request, or the webhook calls that it needs first; never raises."""
        if not self.registry.admission.idle and request.attempt is None:
            request = with_attempt(request, Attempt(self.registry.clock()))
        found = self._answered(request)
        if self._definitions.is_behind:
            try:
                self._definitions.catch_up()
            except Exception as raised:
                self.note(f"definitions: {type(raised).__name__}: {raised}")
        return found

    def _answered(self, request: Request) -> Response | Watch | Interrupted:
        try:
            return self._answer(request)
        except ApiError as error:
            return refusal(error)
        except WebhookCallsNeededError as error:
            return Interrupted(request.attempt or Attempt(self.registry.clock()), error.calls)
        except RecursionError:
            return refusal(bad_request("the request is nested too deeply"))
        except Exception as raised:
            self.note(f"{request.method} {request.path}: {type(raised).__name__}: {raised}")
            return refusal(internal_error(f"{type(raised).__name__}: {raised}"))

    def _answer(self, request: Request) -> Response | Watch:
        # 1. The size of the body.
        if len(request.body) > LARGEST_BODY:
            raise too_large(LARGEST_BODY)
        # 2. The target, and authorization.
        target = self._authorized(request)
        # 3. Paths without a resource, and media types.
        if request.path.startswith("/openapi/"):
            return self._found(self._openapi.answer(request), request)
        if target is None:
            page = self.pages.get(request.path)
            if page is not None:
                return page(request)
            return self._found(self._about_tokens(request) or self._discovery.answer(request), request)
        check_accepts_json(request)
        # 4. The verb.
        try:
            found = self._do(target, in_json(request, target.resource))
        except ApiError as error:
            found = refusal(error)
        if not isinstance(found, Response):
            return found
        warnings = [*target.resource.warnings, *request.warnings]
        return with_warnings(found, warnings) if warnings else found

    def _authorized(self, request: Request) -> Target | None:
        """Return the target of a request, None for a path without a resource; raises ApiError."""
        try:
            target = target_of(request, self.registry.catalog)
        except ApiError as error:
            raise refused_for(request.path, self.registry.store) or error from None
        check_timeout(request, target)
        self.access.check(request, target)
        return target

    def _about_tokens(self, request: Request) -> Response | None:
        """Return the OpenID configuration or the keys of the token issuer, None for other paths."""
        path = request.path.removesuffix("/")
        if path not in (CONFIGURATION, KEYS) or request.method not in ("GET", "HEAD"):
            return None
        issuer, headers = self.registry.issuer, {"Cache-Control": "public, max-age=3600"}
        if path == KEYS:
            return Response(200, (msgspec.json.encode(issuer.keys()),), headers, "application/jwk-set+json")
        host = request.headers.get("host") or "kubernetes.default.svc"
        return Response(200, (msgspec.json.encode(issuer.configuration(host)),), headers)

    def _refusal(self, user: User, resource: Resource, verb: str, subresource: str, namespace: str, name: str) -> str:
        """Return why a user may not use a verb on a resource, an empty text if it is allowed."""
        attributes = Attributes(verb, resource.group, resource.plural, subresource, namespace, name)
        decision = self.access.decide(user, attributes)
        return "" if decision.allowed else refused(user, attributes, decision.reason).message

    def _delete(self, resource: Resource, stored: Stored) -> None:
        self._verbs.deleting.delete_object(resource, stored, DeleteOptions(), Request("DELETE", "", user=ADMINISTRATOR))

    def _found(self, found: Response | None, request: Request) -> Response:
        if found is None:
            raise refused_for(request.path, self.registry.store) or no_such_path()
        return found

    def _do(self, target: Target, request: Request) -> Response | Watch:
        handler = self._handlers.get((target.resource.prefix, target.subresource))
        if handler is not None:
            return handler(self._verbs, target, request)
        verbs = self._verbs
        if target.subresource == "scale":
            return scale(verbs, target, request)
        match target.verb:
            case "get":
                return verbs.reading.get(target, request)
            case "list":
                return verbs.reading.list_objects(target, request)
            case "watch":
                return self.watching.begin(target, request)
            case "create":
                return verbs.writing.create(target, request)
            case "update":
                return verbs.writing.update(target, request)
            case "patch" if is_apply(request):
                return apply_patch(verbs, target, request)
            case "patch":
                return verbs.writing.patch(target, request)
            case "delete":
                return verbs.deleting.delete(target, request)
            case _:
                return verbs.deleting.delete_collection(target, request)


def with_attempt(request: Request, attempt: Attempt) -> Request:
    """Return a request for another attempt, with the webhook replies so far."""
    return msgspec.structs.replace(request, attempt=attempt, warnings=[])


def endless_webhooks() -> ApiError:
    """Return the error for a request whose object changes with every attempt."""
    return internal_error(f"webhooks were asked {MOST_ROUNDS} times, and the object was another one each time")

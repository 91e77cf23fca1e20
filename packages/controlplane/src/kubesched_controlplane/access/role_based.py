"""RBAC: tokens authenticate, roles and bindings authorize.

From requests to users and decisions. Members of `system:masters` may do everything; a request without credentials
comes from `system:anonymous`.
"""

# upstream: apiserver/pkg/endpoints/{filters/authorization.go,request/requestinfo.go}, handlers/update.go (v1.36)

from collections.abc import Mapping, Sequence

from kubesched_controlplane.access.decisions import ALLOWED, RbacDecision, refused
from kubesched_controlplane.access.identities import (
    DEFAULT_AUDIENCES,
    MASTERS,
    StaticTokens,
    bearer_token,
)
from kubesched_controlplane.access.impersonation import impersonated, wanted_user
from kubesched_controlplane.access.policy import PREFIXES, RbacPolicy
from kubesched_controlplane.access.rules import Attributes, Rule
from kubesched_controlplane.access.service_account_tokens import bearer_of
from kubesched_controlplane.api.requests import ANONYMOUS, Request, Target, User
from kubesched_controlplane.api.statuses import unauthorized
from kubesched_controlplane.registry.registry import ResourceRegistry
from kubesched_controlplane.registry.selectors import required_name
from kubesched_controlplane.storage.store import Change


class RoleBasedAccess:
    """Authenticates users by their tokens and authorizes them by the RBAC objects of the store."""

    def __init__(
        self, registry: ResourceRegistry, tokens: StaticTokens, audiences: Sequence[str] = DEFAULT_AUDIENCES
    ) -> None:
        self.audiences = audiences
        self.tokens = tokens
        self._registry = registry
        self._policy: RbacPolicy | None = None
        for prefix in PREFIXES:
            registry.store.watch(prefix, self._changed)

    def user_of(self, headers: Mapping[str, str]) -> User:
        """Return the user of these headers, which may be impersonated; raises ApiError 401 or 403."""
        sender = self._sender(headers)
        wanted = wanted_user(headers)
        if wanted is None:
            return sender
        return impersonated(wanted, lambda attributes: self._require(sender, attributes))

    def user_of_token(self, token: str) -> User | None:
        """Return the user of a static or service account token, None if the token is not valid."""
        known = self.tokens.find(token)
        bearer = bearer_of(self._registry, token, self.audiences) if known is None else None
        return known if bearer is None else bearer.user

    def check(self, request: Request, target: Target | None) -> None:
        """Authorize a request; raises ApiError 403 if its user may not do it."""
        user = request.user
        if MASTERS in user.groups:
            return
        attributes = _attributes(request, target)
        self._require(user, attributes)
        if target is not None and self._creates(target):
            self._require(user, Attributes("create", *_what(target), target.namespace, target.name))

    def decide(self, user: User, attributes: Attributes) -> RbacDecision:
        """Decide whether a user may make a request with these attributes."""
        if MASTERS in user.groups:
            return ALLOWED
        return self._current().decide(user, attributes)

    def rules_of(self, user: User, namespace: str) -> tuple[list[Rule], str]:
        """Return the rules of a user in a namespace, and the roles that were not found."""
        return self._current().rules_of(user, namespace)

    def _sender(self, headers: Mapping[str, str]) -> User:
        token = bearer_token(headers)
        if not token:
            return ANONYMOUS
        known = self.user_of_token(token)
        if known is None:
            raise unauthorized()
        return known

    def _require(self, user: User, attributes: Attributes) -> None:
        decision = self.decide(user, attributes)
        if not decision.allowed:
            raise refused(user, attributes, decision.reason)

    def _creates(self, target: Target) -> bool:
        """Return whether an update will create its object, which also needs the permission to create."""
        if target.verb != "update" or target.subresource:
            return False
        if not self._registry.strategy(target.resource).create_on_update:
            return False
        return self._registry.store.get(target.resource.prefix, target.namespace, target.name) is None

    def _current(self) -> RbacPolicy:
        if self._policy is None:
            self._policy = RbacPolicy(self._registry.store)
        return self._policy

    def _changed(self, change: Change) -> None:
        self._policy = None


def _what(target: Target) -> tuple[str, str, str]:
    return target.resource.group, target.resource.plural, target.subresource


def _attributes(request: Request, target: Target | None) -> Attributes:
    """Return the attributes of a request that RBAC rules are matched against."""
    if target is None:
        return Attributes(request.method.lower(), path=request.path)
    namespace, name = target.namespace, target.name
    if name and target.resource.prefix == "namespaces":
        # the namespace of a Namespace is its own name, so that a Role in it can allow reading it
        namespace = name
    elif not name and target.verb in ("list", "watch"):
        name = required_name(request)
    return Attributes(target.verb, *_what(target), namespace, name)

"""Authentication and authorization.

In: a request's credentials, or a user and the attributes of a request. Out: a user, or a decision with its reason.
Never: a token in a message, a log line or an object.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from kubesched_controlplane.access.decisions import ALLOWED, RbacDecision
from kubesched_controlplane.access.identities import DEFAULT_AUDIENCES, StaticTokens
from kubesched_controlplane.access.role_based import RoleBasedAccess
from kubesched_controlplane.access.rules import EVERYTHING, Attributes, Rule
from kubesched_controlplane.api.requests import ADMINISTRATOR, Request, Target, User
from kubesched_controlplane.registry.registry import ResourceRegistry

__all__ = [
    "Access",
    "AlwaysAllow",
    "Attributes",
    "RbacDecision",
    "RoleBasedAccess",
    "Rule",
    "StaticTokens",
    "always_allow",
]


class Access(Protocol):
    """Authenticates and authorizes requests."""

    @property
    def audiences(self) -> Sequence[str]:
        """Return the audiences of the API server: a token needs one of these to be accepted."""

    def user_of(self, headers: Mapping[str, str]) -> User:
        """Authenticate the headers of a request; return the user. Raises ApiError 401 for unknown credentials."""

    def user_of_token(self, token: str) -> User | None:
        """Return the user of a token, None if the token is not valid."""

    def check(self, request: Request, target: Target | None) -> None:
        """Authorize a request; without a target, by its path. Raises ApiError 403 if the user may not do it."""

    def decide(self, user: User, attributes: Attributes) -> RbacDecision:
        """Decide whether a user may make a request with these attributes."""

    def rules_of(self, user: User, namespace: str) -> tuple[list[Rule], str]:
        """Return the rules of a user in a namespace, and the errors met while collecting them."""


class AlwaysAllow:
    """Takes every user for the administrator and allows everything."""

    audiences: Sequence[str] = DEFAULT_AUDIENCES

    def user_of(self, headers: Mapping[str, str]) -> User:
        """Return the administrator."""
        return ADMINISTRATOR

    def user_of_token(self, token: str) -> User | None:
        """Return the administrator."""
        return ADMINISTRATOR

    def check(self, request: Request, target: Target | None) -> None:
        """Allow every request."""

    def decide(self, user: User, attributes: Attributes) -> RbacDecision:
        """Allow every request."""
        return ALLOWED

    def rules_of(self, user: User, namespace: str) -> tuple[list[Rule], str]:
        """Return the rules that allow everything."""
        return list(EVERYTHING), ""


def always_allow(registry: ResourceRegistry) -> Access:
    """Return an access that allows everything, for an API server without users."""
    return AlwaysAllow()

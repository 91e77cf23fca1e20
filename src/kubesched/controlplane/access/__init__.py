"""Who asks, and whether they may.

In: a request's credentials, a user and what they want to do. Out: a user, a decision with its reason, or a refusal.
Never: a token in a message, a log line or an object.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from kubesched.controlplane.access.decisions import ALLOWED, RbacDecision
from kubesched.controlplane.access.identities import DEFAULT_AUDIENCES, StaticTokens
from kubesched.controlplane.access.role_based import RoleBasedAccess
from kubesched.controlplane.access.rules import EVERYTHING, Attributes, Rule
from kubesched.controlplane.api.requests import ADMINISTRATOR, Request, Target, User
from kubesched.controlplane.registry.registry import ResourceRegistry

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
    """Knows users and what they may do."""

    @property
    def audiences(self) -> Sequence[str]:
        """Return for whom the tokens are that it knows."""

    def user_of(self, headers: Mapping[str, str]) -> User:
        """Return who sent these headers; raises ApiError 401 for credentials that are not known."""

    def user_of_token(self, token: str) -> User | None:
        """Return whose token this is."""

    def check(self, request: Request, target: Target | None) -> None:
        """Raise ApiError 403 unless the user of a request may do what it asks; a path without a target counts, too."""

    def decide(self, user: User, attributes: Attributes) -> RbacDecision:
        """Return whether a user may do something."""

    def rules_of(self, user: User, namespace: str) -> tuple[list[Rule], str]:
        """Return the rules of a user in a namespace, and the errors met while collecting them."""


class AlwaysAllow:
    """Everybody is the administrator."""

    audiences: Sequence[str] = DEFAULT_AUDIENCES

    def user_of(self, headers: Mapping[str, str]) -> User:
        """Return the administrator."""
        return ADMINISTRATOR

    def user_of_token(self, token: str) -> User | None:
        """Return the administrator."""
        return ADMINISTRATOR

    def check(self, request: Request, target: Target | None) -> None:
        """Allow it."""

    def decide(self, user: User, attributes: Attributes) -> RbacDecision:
        """Allow it."""
        return ALLOWED

    def rules_of(self, user: User, namespace: str) -> tuple[list[Rule], str]:
        """Return that everything is allowed."""
        return list(EVERYTHING), ""


def always_allow(registry: ResourceRegistry) -> Access:
    """Return access for everybody: what an API server takes for a cluster without users."""
    return AlwaysAllow()

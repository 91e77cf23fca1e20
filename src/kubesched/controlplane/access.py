"""Who asks, and whether they may.

From a request's credentials to a user, and from a user and a target to yes or a refusal.
"""

from collections.abc import Mapping
from typing import Protocol

from kubesched.controlplane.requests import ADMINISTRATOR, Request, Target, User


class Access(Protocol):
    """Knows users and what they may do."""

    def user_of(self, headers: Mapping[str, str]) -> User:
        """Return who sent these headers; raises ApiError 401 for credentials that are not known."""

    def check(self, request: Request, target: Target | None) -> None:
        """Raise ApiError 403 unless the user of a request may do what it asks; a path without a target counts, too."""


class AlwaysAllow:
    """Everybody is the administrator."""

    def user_of(self, headers: Mapping[str, str]) -> User:
        """Return the administrator."""
        return ADMINISTRATOR

    def check(self, request: Request, target: Target | None) -> None:
        """Allow it."""

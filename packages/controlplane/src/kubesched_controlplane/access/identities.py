"""Credentials: bearer tokens.

From a client's credentials to a user, or to None. Tokens are kept as digests and compared in constant time.
"""

# upstream: apiserver/pkg/authentication/request/bearertoken, pkg/authentication/group (v1.36)

from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest

import msgspec

from kubesched_controlplane.api.requests import User

# a group whose members may do everything
MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
DEFAULT_AUDIENCES = ("https://kubernetes.default.svc.cluster.local",)


class StaticTokens:
    """The users of the tokens that do not expire."""

    def __init__(self, users: Mapping[str, User] | None = None) -> None:
        self._users: list[tuple[bytes, User]] = []
        for token, user in (users or {}).items():
            self.add(token, user)

    def add(self, token: str, user: User) -> None:
        """Add the token of a user."""
        if not token or any(character.isspace() for character in token):
            raise ValueError("a token must not be empty or contain white space")
        digest = _digest(token)
        self._users = [entry for entry in self._users if entry[0] != digest]
        self._users.append((digest, _with_group(user, AUTHENTICATED)))

    def find(self, token: str) -> User | None:
        """Return the user of a token, None for an unknown token."""
        digest = _digest(token)
        found = None
        # compare with all, so that the time does not tell which token matches
        for known, user in self._users:
            if compare_digest(known, digest):
                found = user
        return found


def bearer_token(headers: Mapping[str, str]) -> str:
    """Return the bearer token in the headers, or an empty text."""
    scheme, _, rest = headers.get("authorization", "").strip().partition(" ")
    return rest.partition(" ")[0] if scheme.lower() == "bearer" else ""


def _with_group(user: User, group: str) -> User:
    return user if group in user.groups else msgspec.structs.replace(user, groups=(*user.groups, group))


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()

"""The user behind a service account token, valid while the account and the objects it is bound to exist.

From a token to a user, or to the reason why it is no longer valid.
"""

# upstream: pkg/serviceaccount/{claims,legacy,jwt}.go, apiserver/pkg/authentication/serviceaccount/util.go (v1.36)

from base64 import b64encode
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from kubesched.api.go_text import quote
from kubesched_controlplane.api.requests import User
from kubesched_controlplane.registry.registry import ResourceRegistry
from kubesched_controlplane.registry.token_issuer import ISSUER, Claims
from kubesched_controlplane.storage.store import Stored

ACCOUNTS: Final = "serviceaccounts"
USER_PREFIX: Final = "system:serviceaccount:"
GROUP: Final = "system:serviceaccounts"
LEGACY_ISSUER: Final = "kubernetes/serviceaccount"
LEGACY: Final = "kubernetes.io/serviceaccount/"
PRIVATE: Final = "kubernetes.io"
_EXTRA: Final = "authentication.kubernetes.io/"
_INVALIDATED = "service account token has been invalidated"


class Bearer(NamedTuple):
    """The user and audiences of a token, or the reason why it is not valid."""

    user: User | None
    audiences: tuple[str, ...] = ()
    error: str = ""


def bearer_of(registry: ResourceRegistry, token: str, audiences: Sequence[str]) -> Bearer | None:
    """Verify a service account token for one of these audiences; None if it was not issued here."""
    claims = registry.issuer.read(token)
    if claims is None:
        return None
    if claims.get("iss") == LEGACY_ISSUER:
        return _legacy(registry, token, claims, audiences)
    if claims.get("iss") != ISSUER:
        return None
    said = tuple(claims.get("aud") or ())
    shared = tuple(audience for audience in said if audience in audiences)
    if not shared:
        return _for_others(said, audiences)
    now = registry.clock().timestamp()
    if now > claims["exp"]:
        return Bearer(None, error="service account token has expired")
    return _bound(registry, claims, shared)


def _bound(registry: ResourceRegistry, claims: Claims, audiences: tuple[str, ...]) -> Bearer:
    """Return the bearer if the service account, and the object to which the token is bound, still exist."""
    private = claims[PRIVATE]
    namespace, account = private["namespace"], private["serviceaccount"]
    found = registry.store.get(ACCOUNTS, namespace, account["name"])
    if found is None:
        return Bearer(None, error=f"serviceaccounts {quote(account['name'])} not found")
    if found.uid != account["uid"]:
        why = f"service account UID ({found.uid}) does not match claim ({account['uid']})"
        return Bearer(None, error=why)
    extra: dict[str, tuple[str, ...]] = {f"{_EXTRA}credential-id": (f"JTI={claims['jti']}",)}
    pod, node = private.get("pod"), private.get("node")
    bound = [("secrets", namespace, private.get("secret")), ("pods", namespace, pod)]
    if pod is None:
        bound.append(("nodes", "", node))
    for prefix, space, reference in bound:
        if reference is not None and not _is_there(registry.store.get(prefix, space, reference["name"]), reference):
            return Bearer(None, error=_INVALIDATED)
    for name, reference in (("node", node), ("pod", pod)):
        if reference is not None:
            extra[f"{_EXTRA}{name}-name"] = (reference["name"],)
            if reference.get("uid"):
                extra[f"{_EXTRA}{name}-uid"] = (reference["uid"],)
    return Bearer(account_user(namespace, account["name"], account["uid"], extra), audiences)


def _is_there(stored: Stored | None, reference: Any) -> bool:
    return stored is not None and stored.uid == reference.get("uid")


def _legacy(registry: ResourceRegistry, token: str, claims: Claims, audiences: Sequence[str]) -> Bearer:
    """Return the bearer of a legacy token, which must be the token in its secret."""
    namespace, name = claims.get(f"{LEGACY}namespace", ""), claims.get(f"{LEGACY}service-account.name", "")
    account = registry.store.get(ACCOUNTS, namespace, name)
    secret = registry.store.get("secrets", namespace, claims.get(f"{LEGACY}secret.name", ""))
    data = {} if secret is None else secret.document().get("data") or {}
    if data.get("token") != b64encode(token.encode()).decode():
        return Bearer(None, error=_INVALIDATED)
    if account is None or account.uid != claims.get(f"{LEGACY}service-account.uid"):
        return Bearer(None, error=_INVALIDATED)
    if ISSUER not in audiences:
        return _for_others([ISSUER], audiences)
    return Bearer(account_user(namespace, name, account.uid, {}), (ISSUER,))


def _for_others(said: Sequence[str], wanted: Sequence[str]) -> Bearer:
    """Return the error for a token of other audiences."""
    return Bearer(None, error=f"token audiences {_listed(said)} is invalid for the target audiences {_listed(wanted)}")


def account_user(namespace: str, name: str, uid: str, extra: dict[str, tuple[str, ...]]) -> User:
    """Return the user of a service account."""
    groups = (GROUP, f"{GROUP}:{namespace}", "system:authenticated")
    return User(f"{USER_PREFIX}{namespace}:{name}", groups, uid, extra)


def _listed(texts: Sequence[str]) -> str:
    return f"[{' '.join(quote(text) for text in texts)}]"

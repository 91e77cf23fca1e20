"""Impersonation: `Impersonate-*` headers.

From headers, and a check of the sender's right to impersonate, to the impersonated user.
"""

# upstream: apiserver/pkg/endpoints/filters/impersonation/impersonation.go (v1.36)
# differs (D-146): the narrower verbs of 1.36 (impersonate:MODE, impersonate-on:MODE:VERB) are not checked, only
# `impersonate`

from collections.abc import Callable, Mapping
from urllib.parse import unquote

from kubesched.api.labels import subdomain_problems
from kubesched_controlplane.access.identities import AUTHENTICATED, UNAUTHENTICATED
from kubesched_controlplane.access.rules import Attributes
from kubesched_controlplane.api.requests import ANONYMOUS, User
from kubesched_controlplane.api.statuses import bad_request

_PREFIX = "impersonate-"
_USER, _GROUP, _UID, _EXTRA = (_PREFIX + each for each in ("user", "group", "uid", "extra-"))
_GROUP_OF_KINDS = "authentication.k8s.io"
SERVICE_ACCOUNT = "system:serviceaccount:"
LONGEST_NAMESPACE = 63
SERVICE_ACCOUNTS = "system:serviceaccounts"


def wanted_user(headers: Mapping[str, str]) -> User | None:
    """Return the user that a request asks to impersonate, None for no impersonation.

    A header that was sent several times has several items.
    """
    sent: dict[str, list[str]] = {}
    for header, value in headers.items():
        if header[: len(_PREFIX)].lower() == _PREFIX:
            sent.setdefault(header.lower(), []).append(value)
    name, uid = (sent.get(header, [""])[0] for header in (_USER, _UID))
    groups = tuple(sent.get(_GROUP, ()))
    extra = {unquote(header[len(_EXTRA) :]): tuple(sent[header]) for header in sent if header.startswith(_EXTRA)}
    if name:
        return User(name, groups, uid, extra)
    if groups or extra or uid:
        raise bad_request("requested a group, a UID or an extra value without impersonating a user name")
    return None


def impersonated(wanted: User, require: Callable[[Attributes], None]) -> User:
    """Return the impersonated user with its implied groups; `require` raises if the sender may not impersonate it."""
    groups = wanted.groups
    account = _service_account(wanted.name)
    if account is None:
        require(Attributes("impersonate", resource="users", name=wanted.name))
    else:
        namespace, name = account
        require(Attributes("impersonate", resource="serviceaccounts", namespace=namespace, name=name))
        groups = groups or (SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{namespace}")
    for group in wanted.groups:
        require(Attributes("impersonate", resource="groups", name=group))
    for key, values in wanted.extra.items():
        for value in values:
            require(Attributes("impersonate", _GROUP_OF_KINDS, "userextras", key, name=value))
    if wanted.uid:
        require(Attributes("impersonate", _GROUP_OF_KINDS, "uids", name=wanted.uid))
    return User(wanted.name, _completed(wanted.name, groups), wanted.uid, wanted.extra)


def _completed(name: str, groups: tuple[str, ...]) -> tuple[str, ...]:
    if UNAUTHENTICATED in groups:
        return groups
    if name == ANONYMOUS.name:
        return (*groups, UNAUTHENTICATED)
    return groups if AUTHENTICATED in groups else (*groups, AUTHENTICATED)


def _service_account(name: str) -> tuple[str, str] | None:
    """Return the namespace and name of the service account with this user name, None for other users."""
    match name.removeprefix(SERVICE_ACCOUNT).split(":"):
        case [namespace, account] if name.startswith(SERVICE_ACCOUNT):
            is_label = "." not in namespace and len(namespace) <= LONGEST_NAMESPACE
            malformed = not is_label or subdomain_problems(namespace) or subdomain_problems(account)
            return None if malformed else (namespace, account)
    return None

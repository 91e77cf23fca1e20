"""Functions of authorization checks.

From an authorizer, narrowed down step by step, to a decision. The authorizer's value holds the function that decides.
"""

# upstream: apiserver/pkg/cel/library/authz.go (v1.36)

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from kubesched.api.labels import subdomain_problems
from kubesched.cel import types
from kubesched.cel.errors import CelValueError
from kubesched.cel.types import Type
from kubesched.cel.values import MISSING, CelMap, Opaque


class Check(NamedTuple):
    """The attributes of a check; `account` is namespace and name of a service account, None for the request's user."""

    account: tuple[str, str] | None = None
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    field_selector: str = ""
    label_selector: str = ""


class Decision(NamedTuple):
    """The decision of a check: allowed or not, the reason, and the error."""

    allowed: bool
    reason: str = ""
    error: str = ""


# (check, verb) -> decision
Decide = Callable[[Check, str], Decision]
# a check, and the function that decides it
_Held = tuple[Check, Decide]


class Authorizer(CelMap):
    """The value of `authorizer`; its only field is `requestResource`, the check of the request's own resource."""

    __slots__ = ("compared", "held")
    type: Final[Type] = types.AUTHORIZER

    def __init__(self, decide: Decide, request_resource: Check | None = None, account: Any = None) -> None:
        super().__init__()
        self.held: _Held = (Check(account), decide)
        self.compared = self.held
        if request_resource is not None:
            self.entries["requestResource"] = _opaque(types.RESOURCE_CHECK, request_resource, decide)

    def look_up(self, key: Any) -> Any:
        """Return the check of the request's own resource."""
        return self.entries.get(key, MISSING)


def _opaque(described: Type, check: Check, decide: Decide) -> Opaque:
    return Opaque(described, (check, decide), check)


def for_path(authorizer: Authorizer, path: str) -> Opaque:
    """Return a check of a path."""
    if not path.strip():
        raise CelValueError("path must not be empty")
    check, decide = authorizer.held
    return _opaque(types.PATH_CHECK, check._replace(path=path), decide)


def for_group(authorizer: Authorizer, group: str) -> Opaque:
    """Return a check of a group."""
    check, decide = authorizer.held
    return _opaque(types.GROUP_CHECK, check._replace(group=group), decide)


def for_account(authorizer: Authorizer, namespace: str, name: str) -> Authorizer:
    """Return an authorizer for a service account."""
    if subdomain_problems(name):
        raise CelValueError("Invalid service account name")
    if subdomain_problems(namespace) or "." in namespace:
        raise CelValueError("Invalid service account namespace")
    return Authorizer(authorizer.held[1], account=(namespace, name))


def for_resource(group: Opaque, resource: str) -> Opaque:
    """Return a check of a resource of a group."""
    if not resource.strip():
        raise CelValueError("resource must not be empty")
    check, decide = group.held
    return _opaque(types.RESOURCE_CHECK, check._replace(resource=resource), decide)


def narrowed_by(field: str) -> Callable[[Opaque, str], Opaque]:
    """Return the function that narrows a check of a resource down by one of its fields."""

    def narrowed(found: Opaque, value: str) -> Opaque:
        check, decide = found.held
        return _opaque(types.RESOURCE_CHECK, check._replace(**{field: value}), decide)

    return narrowed


def decided(found: Opaque, verb: str) -> Opaque:
    """Return the decision on a check."""
    check, decide = found.held
    decision = decide(check, verb)
    return Opaque(types.DECISION, decision, decision)

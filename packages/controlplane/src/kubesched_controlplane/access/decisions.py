"""Decisions, and the errors of refused requests.

From refused attributes to the message of a 403.
"""

# upstream: apiserver/pkg/endpoints/handlers/responsewriters/errors.go (v1.36)

import msgspec

from kubesched.api.go_text import quote
from kubesched_controlplane.access.rules import Attributes
from kubesched_controlplane.api.requests import User
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError, forbidden

# HTML is escaped before it is sent back
_HARMLESS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class RbacDecision(msgspec.Struct, frozen=True):
    """Whether a request is allowed, and why."""

    allowed: bool
    reason: str = ""


ALLOWED = RbacDecision(True)


def refused(user: User, attributes: Attributes, reason: str) -> ApiError:
    """Return the error 403 for a user without permission for these attributes."""
    name, verb = quote(user.name), attributes.verb
    if attributes.path is not None:
        why = f"User {name} cannot {verb} path {quote(attributes.path)}"
    else:
        what = f"resource {quote(attributes.combined)} in API group {quote(attributes.group)}"
        where = f"in the namespace {quote(attributes.namespace)}" if attributes.namespace else "at the cluster scope"
        why = f"User {name} cannot {verb} {what} {where}"
    why = why.translate(_HARMLESS)
    resource = Resource(attributes.group, "", attributes.resource, "")
    return forbidden(resource, attributes.name, f"{why}: {reason}" if reason else why)

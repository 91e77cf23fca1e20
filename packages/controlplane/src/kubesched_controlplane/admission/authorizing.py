"""The `authorizer` variable of expressions: permissions of the user or of a service account.

From checks in CEL to decisions of the server's access.
"""

# upstream: apiserver/pkg/cel/library/authz.go (v1.36)

from collections.abc import Callable
from typing import Any

from kubesched.cel.functions.authorization import Authorizer, Check, Decision
from kubesched_controlplane.access.rules import Attributes
from kubesched_controlplane.admission.attributes import AdmissionAttributes
from kubesched_controlplane.api.requests import User

# the access decision on a request: (user, attributes) to a decision with `allowed` and `reason`
Decide = Callable[[User, Attributes], Any]


def authorizer_of(asked: AdmissionAttributes, decide: Decide) -> Authorizer:
    """Return the value of `authorizer` for a request."""
    target = asked.target
    own = Check(
        group=target.resource.group,
        resource=target.resource.plural,
        subresource=target.subresource,
        namespace=target.namespace,
        name=asked.name,
    )

    def decided(check: Check, verb: str) -> Decision:
        user = asked.user if check.account is None else _account(*check.account)
        wanted = Attributes(
            verb,
            group=check.group,
            resource=check.resource,
            subresource=check.subresource,
            namespace=check.namespace,
            name=check.name,
            path=check.path or None,
        )
        found = decide(user, wanted)
        return Decision(found.allowed, found.reason)

    return Authorizer(decided, own)


def _account(namespace: str, name: str) -> User:
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return User(f"system:serviceaccount:{namespace}:{name}", groups)

"""The policy: which rules which subject has, by the Role, ClusterRole and binding objects in the store.

From objects to decisions. A policy is a snapshot; its holder makes a new one when such an object changes.
"""

# upstream: plugin/pkg/auth/authorizer/rbac/rbac.go, pkg/registry/rbac/validation/rule.go (v1.36)

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from kubesched.api.field_errors import aggregate
from kubesched.api.go_text import quote
from kubesched_controlplane.access.decisions import RbacDecision
from kubesched_controlplane.access.rules import Attributes, Rule, rule_of
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import User
from kubesched_controlplane.storage.store import Store

GROUP = "rbac.authorization.k8s.io"
ROLES, CLUSTER_ROLES = f"roles.{GROUP}", f"clusterroles.{GROUP}"
ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS = f"rolebindings.{GROUP}", f"clusterrolebindings.{GROUP}"
PREFIXES = (ROLES, CLUSTER_ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS)
# (user, namespace) pairs whose grants are cached
MOST_REMEMBERED = 10_000


class Grant(msgspec.Struct, frozen=True):
    """The rules that a binding grants to one of its subjects; `problem` is set if the role does not exist."""

    order: tuple[int, int]
    source: str
    rules: tuple[Rule, ...]
    problem: str = ""


class RbacPolicy:
    """The grants by namespace (empty for the whole cluster) and subject."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rules: dict[tuple[str, str, str], tuple[Rule, ...] | None] = {}
        self._grants: dict[tuple[str, str], list[Grant]] = {}
        self._remembered: dict[tuple[str, tuple[str, ...], str], tuple[Grant, ...]] = {}
        number = 0
        for bindings in (CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS):
            for stored in store.set_of(bindings):
                self._add(number, stored.document(), stored.namespace)
                number += 1

    def decide(self, user: User, attributes: Attributes) -> RbacDecision:
        """Decide whether a user may make a request with these attributes."""
        grants = self.grants(user, attributes.namespace)
        for grant in grants:
            for rule in grant.rules:
                if rule.allows(attributes):
                    return RbacDecision(True, f"RBAC: allowed by {grant.source}")
        problems = aggregate(_problems(grants))
        return RbacDecision(False, f"RBAC: {problems}" if problems else "")

    def rules_of(self, user: User, namespace: str) -> tuple[list[Rule], str]:
        """Return the rules of a user in a namespace, and the roles that were not found."""
        grants = self.grants(user, namespace)
        return [rule for grant in grants for rule in grant.rules], aggregate(_problems(grants))

    def rules_of_role(self, reference: Mapping[str, Any], namespace: str) -> tuple[Rule, ...] | None:
        """Return the rules of the role that a binding refers to, None if the role does not exist."""
        kind, name = reference.get("kind", ""), reference.get("name", "")
        place = namespace if kind == "Role" else ""
        key = (kind, place, name)
        if key not in self._rules:
            stored = self._store.get(ROLES if kind == "Role" else CLUSTER_ROLES, place, name)
            self._rules[key] = None if stored is None else rules_in(stored.document())
        return self._rules[key]

    def grants(self, user: User, namespace: str) -> tuple[Grant, ...]:
        """Return the grants of a user by cluster role bindings and a namespace's role bindings, each binding once."""
        key = (user.name, user.groups, namespace)
        found = self._remembered.get(key)
        if found is None:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            found = self._remembered[key] = self._find(user, namespace)
        return found

    def _find(self, user: User, namespace: str) -> tuple[Grant, ...]:
        subjects = (f"User {user.name}", *(f"Group {group}" for group in user.groups))
        places = ("", namespace) if namespace else ("",)
        found: dict[int, Grant] = {}
        for place in places:
            for subject in subjects:
                for grant in self._grants.get((place, subject), ()):
                    binding = grant.order[0]
                    if binding not in found or grant.order < found[binding].order:
                        found[binding] = grant
        return tuple(found[binding] for binding in sorted(found))

    def _add(self, number: int, binding: Document, namespace: str) -> None:
        reference = binding.get("roleRef") or {}
        kind, role = reference.get("kind", ""), reference.get("name", "")
        rules = self.rules_of_role(reference, namespace)
        problem = f"{kind.lower()}.{GROUP} {quote(role)} not found" if rules is None else ""
        name = binding["metadata"]["name"]
        start = f"RoleBinding {quote(f'{name}/{namespace}')}" if namespace else f"ClusterRoleBinding {quote(name)}"
        for position, subject in enumerate(binding.get("subjects") or ()):
            for key, words in _subject(subject, namespace):
                source = f"{start} of {kind} {quote(role)} to {words}"
                grant = Grant((number, position), source, rules or (), problem)
                self._grants.setdefault((namespace, key), []).append(grant)


def rules_in(role: Document) -> tuple[Rule, ...]:
    """Return the rules of a role."""
    return tuple(rule_of(entry) for entry in role.get("rules") or ())


def _subject(subject: Mapping[str, Any], namespace: str) -> Iterator[tuple[str, str]]:
    """Yield the key of a subject and its text in reasons; nothing for a subject that matches no user."""
    kind, name = subject.get("kind", ""), subject.get("name", "")
    if kind in ("User", "Group"):
        yield f"{kind} {name}", f"{kind} {quote(name)}"
    elif kind == "ServiceAccount":
        place = subject.get("namespace") or namespace
        if place:
            yield f"User system:serviceaccount:{place}:{name}", f"{kind} {quote(f'{name}/{place}')}"


def _problems(grants: Iterable[Grant]) -> list[str]:
    return [grant.problem for grant in grants if grant.problem]

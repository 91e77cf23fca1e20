"""The strategies of roles and bindings: validation, and the check against privilege escalation.

From documents to problems, or to ApiError 403. Members of `system:masters` may grant everything; other users only the
permissions that they hold, unless they have the verb `escalate` (for roles) or `bind` (for bindings).
"""

# upstream: pkg/apis/rbac/{v1/defaults.go,validation/validation.go}, pkg/registry/rbac/*/policybased/storage.go (v1.36)

from collections.abc import Iterable

from kubesched.api.field_errors import as_json, child, index, invalid, not_supported, required
from kubesched.api.go_text import quote
from kubesched.api.labels import subdomain_problems
from kubesched_controlplane.access.identities import MASTERS
from kubesched_controlplane.access.policy import GROUP, RbacPolicy, rules_in
from kubesched_controlplane.access.rules import EVERYTHING, Attributes, Rule, missing, quoted
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import forbidden, not_found
from kubesched_controlplane.kinds.checks import (
    label_selector_problems,
    one_of,
    part,
    path_segment_problems,
    text_problems,
)
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.registry.strategy import StrategyContext

_SUBJECTS = ("ServiceAccount", "User", "Group")
_PLURALS = {"Role": "roles", "ClusterRole": "clusterroles"}
# metadata that does not affect the granted permissions
_HOUSEKEEPING = ("ownerReferences", "finalizers", "selfLink", "managedFields", "resourceVersion")


class _GrantingStrategy(KindStrategy):
    """The base class of the strategies of roles and bindings."""

    create_on_update = True

    def name_problems(self, name: str) -> tuple[str, ...]:
        """Return the problems of a name."""
        return path_segment_problems(name)

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults. Raises ApiError 403 for permissions that the user may not grant."""
        self.fill_in(new, context)
        if MASTERS not in context.user.groups:
            self.check_grant(new, None, context)

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Set defaults. Raises ApiError 403 for permissions that the user may not grant."""
        self.fill_in(new, context)
        if MASTERS not in context.user.groups and _granted(new) != _granted(old):
            self.check_grant(new, old, context)

    def check_grant(self, new: Document, old: Document | None, context: StrategyContext) -> None:
        """Raise ApiError 403 unless the user may grant the permissions of an object."""


class RoleStrategy(_GrantingStrategy):
    """The strategy of roles."""

    namespaced = True

    def check_grant(self, new: Document, old: Document | None, context: StrategyContext) -> None:
        """Raise ApiError 403 for rules that the user neither holds nor may escalate to."""
        meta = new["metadata"]
        # a create request has no name in its path
        name = meta["name"] if old is not None else ""
        policy = RbacPolicy(context.store)
        plural = context.resource.plural
        wanted = Attributes("escalate", GROUP, plural, namespace=meta.get("namespace", ""), name=name)
        if policy.decide(context.user, wanted).allowed:
            return
        _check_held(policy, rules_in(new), new, context)
        if any((each.get("aggregationRule") or {}).get("clusterRoleSelectors") for each in (new, old or {})):
            held, _ = policy.rules_of(context.user, "")
            if missing(held, EVERYTHING):
                why = "must have cluster-admin privileges to use the aggregationRule"
                raise forbidden(context.resource, meta.get("name", ""), why)

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of the rules."""
        problems = []
        for number, rule in enumerate(document.get("rules") or ()):
            problems += self._rule_problems(index("rules", number), rule)
        return problems

    def _rule_problems(self, path: str, rule: Document) -> list[str]:
        problems = []
        if not rule.get("verbs"):
            problems.append(required(child(path, "verbs"), "verbs must contain at least one value"))
        paths = rule.get("nonResourceURLs")
        if paths:
            here = child(path, "nonResourceURLs")
            if self.namespaced:
                problems.append(invalid(here, paths, "namespaced rules cannot apply to non-resource URLs"))
            if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
                why = "rules cannot apply to both regular resources and non-resource URLs"
                problems.append(invalid(here, paths, why))
            return problems
        if not rule.get("apiGroups"):
            problems.append(required(child(path, "apiGroups"), "resource rules must supply at least one api group"))
        if not rule.get("resources"):
            problems.append(required(child(path, "resources"), "resource rules must supply at least one resource"))
        return problems


class ClusterRoleStrategy(RoleStrategy):
    """The strategy of cluster roles; aggregation rules are stored, but not applied."""

    namespaced = False

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of the rules."""
        problems = super().problems(document, context)
        aggregation = document.get("aggregationRule")
        if aggregation is None:
            return problems
        path = "aggregationRule.clusterRoleSelectors"
        selectors = aggregation.get("clusterRoleSelectors")
        if not selectors:
            why = "at least one clusterRoleSelector required if aggregationRule is non-nil"
            problems.append(required(path, why))
        for number, selector in enumerate(selectors or ()):
            here = index(path, number)
            wrong = label_selector_problems(here, selector)
            problems += [*wrong, invalid(here, as_json(None), "invalid label selector.")] if wrong else []
        return problems


class RoleBindingStrategy(_GrantingStrategy):
    """The strategy of role bindings."""

    namespaced = True
    kinds: tuple[str, ...] = ("Role", "ClusterRole")

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set the default API group of the role, and of users and groups."""
        reference = part(document, "roleRef")
        reference["apiGroup"] = reference.get("apiGroup") or GROUP
        for subject in document.get("subjects") or ():
            if subject.get("kind") in ("User", "Group"):
                subject["apiGroup"] = subject.get("apiGroup") or GROUP

    def check_grant(self, new: Document, old: Document | None, context: StrategyContext) -> None:
        """Raise ApiError for a role whose rules the user neither holds nor may bind, or that does not exist."""
        reference = new["roleRef"]
        kind, name = reference.get("kind", ""), reference.get("name", "")
        if kind not in self.kinds or not name:
            return  # validation reports the problem
        namespace = new["metadata"].get("namespace", "")
        policy = RbacPolicy(context.store)
        wanted = Attributes("bind", reference["apiGroup"], _PLURALS[kind], namespace=namespace, name=name)
        if policy.decide(context.user, wanted).allowed:
            return
        rules = policy.rules_of_role(reference, namespace)
        if rules is None:
            role = context.catalog.of_kind(f"{GROUP}/v1", kind)
            assert role is not None
            raise not_found(role, name)
        _check_held(policy, rules, new, context)

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of the role reference and the subjects."""
        reference = document["roleRef"]
        problems = one_of("roleRef.apiGroup", reference["apiGroup"], (GROUP,))
        problems += one_of("roleRef.kind", reference.get("kind") or "", self.kinds)
        if not reference.get("name"):
            problems.append(required("roleRef.name"))
        else:
            problems += text_problems("roleRef.name", reference["name"], path_segment_problems)
        for number, subject in enumerate(document.get("subjects") or ()):
            problems += self._subject_problems(index("subjects", number), subject)
        return problems

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problem of a change of the role reference."""
        reference = _reference(new)
        if reference == _reference(old):
            return []
        return [invalid("roleRef", as_json(reference), "cannot change roleRef")]

    def _subject_problems(self, path: str, subject: Document) -> list[str]:
        kind, name, group = (subject.get(field) or "" for field in ("kind", "name", "apiGroup"))
        problems = [] if name else [required(child(path, "name"))]
        if kind not in _SUBJECTS:
            problems.append(not_supported(child(path, "kind"), kind, _SUBJECTS))
        elif kind != "ServiceAccount":
            problems += one_of(child(path, "apiGroup"), group, (GROUP,))
        else:
            if name:
                problems += text_problems(child(path, "name"), name, subdomain_problems)
            problems += one_of(child(path, "apiGroup"), group, ("",))
            if not self.namespaced and not subject.get("namespace"):
                problems.append(required(child(path, "namespace")))
        return problems


class ClusterRoleBindingStrategy(RoleBindingStrategy):
    """The strategy of cluster role bindings."""

    namespaced = False
    kinds = ("ClusterRole",)


def _check_held(policy: RbacPolicy, rules: Iterable[Rule], document: Document, context: StrategyContext) -> None:
    """Raise ApiError 403 for rules that the user does not hold."""
    meta, user = document["metadata"], context.user
    held, problem = policy.rules_of(user, meta.get("namespace", ""))
    lacking = missing(held, rules)
    if not lacking:
        return
    who = f"user {quote(user.name)} (groups={quoted(user.groups)})"
    why = "\n".join((f"{who} is attempting to grant RBAC permissions not currently held:", *lacking))
    if problem:
        why += f"; resolution errors: [{problem}]"
    raise forbidden(context.resource, meta.get("name", ""), why)


def _granted(document: Document) -> Document:
    """Return an object without metadata that does not affect its permissions."""
    meta = {field: value for field, value in document["metadata"].items() if field not in _HOUSEKEEPING}
    return {**document, "metadata": meta}


def _reference(binding: Document) -> dict[str, str]:
    """Return the role reference of a binding, with the field names of Go."""
    reference = binding.get("roleRef") or {}
    names = (("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name"))
    return {shown: reference.get(field) or "" for shown, field in names}

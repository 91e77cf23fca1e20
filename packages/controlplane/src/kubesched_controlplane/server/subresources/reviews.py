"""Reviews of tokens, users and permissions: objects that are answered and not stored.

From a review to the same review with its status.
"""

# upstream: pkg/registry/{authentication,authorization}/*/{storage,rest}.go,
# pkg/apis/authorization/validation/validation.go (v1.36)

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from kubesched.api.field_errors import as_json, child, forbidden, index, invalid, required
from kubesched.api.labels import label_key_problems, label_value_problems
from kubesched_controlplane.access import Attributes, Rule
from kubesched_controlplane.access.rules import document_of
from kubesched_controlplane.access.service_account_tokens import Bearer, bearer_of
from kubesched_controlplane.api import statuses
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.query_options import is_dry_run
from kubesched_controlplane.api.requests import Request, Response, Target, User, answer
from kubesched_controlplane.api.statuses import bad_request
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.representation.negotiation import check_takes_plain
from kubesched_controlplane.server.verbs.verbs import Handler, Verbs
from kubesched_controlplane.server.verbs.writing import with_warnings

INVALID_TOKEN = "invalid bearer token"
_AUTHENTICATION, _AUTHORIZATION = "authentication.k8s.io", "authorization.k8s.io"


class TokenSpec(msgspec.Struct):
    """The token of a TokenReview, and the audiences that it needs."""

    token: str = ""
    audiences: tuple[str, ...] = ()


class SelectorRequirement(msgspec.Struct):
    """One requirement of a selector."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class ReviewSelector(msgspec.Struct, rename="camel"):
    """The selector of an access review; it is validated, but RBAC ignores it."""

    raw_selector: str = ""
    requirements: tuple[SelectorRequirement, ...] = ()


class ResourceAttributes(msgspec.Struct, rename="camel"):
    """A verb on a resource."""

    namespace: str = ""
    verb: str = ""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""
    field_selector: ReviewSelector | None = None
    label_selector: ReviewSelector | None = None


class NonResourceAttributes(msgspec.Struct):
    """A verb on a path."""

    path: str = ""
    verb: str = ""


class AccessSpec(msgspec.Struct, rename="camel"):
    """The user and the attributes of an access review."""

    resource_attributes: ResourceAttributes | None = None
    non_resource_attributes: NonResourceAttributes | None = None
    user: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}
    uid: str = ""


class RulesSpec(msgspec.Struct):
    """The namespace of a SelfSubjectRulesReview."""

    namespace: str = ""


Spec = TypeVar("Spec", TokenSpec, AccessSpec, RulesSpec)


# -- authentication


def review_token(verbs: Verbs, target: Target, request: Request) -> Response:
    """Answer a TokenReview: authenticate its token."""
    review, warnings = _read(verbs, target, request)
    spec = _spec(review, TokenSpec)
    if not spec.token:
        raise bad_request("token is required for TokenReview in authentication")
    wanted = spec.audiences or tuple(verbs.access.audiences)
    bearer = bearer_of(verbs.registry, spec.token, wanted)
    if bearer is not None:
        review["status"] = _bearer_status(bearer)
        return with_warnings(answer(review, 201), warnings)
    audiences = [audience for audience in verbs.access.audiences if audience in wanted]
    user = verbs.access.user_of_token(spec.token) if audiences else None
    if user is None:
        review["status"] = {"user": {}, "error": INVALID_TOKEN}
    else:
        review["status"] = {"authenticated": True, "user": _user_info(user), "audiences": audiences}
    return with_warnings(answer(review, 201), warnings)


def _bearer_status(bearer: Bearer) -> Document:
    """Return the TokenReview status of a service account token."""
    if bearer.user is None:
        return {"user": {}, "error": f"[{INVALID_TOKEN}, {bearer.error}]"}
    return {"authenticated": True, "user": _user_info(bearer.user), "audiences": list(bearer.audiences)}


def review_self(verbs: Verbs, target: Target, request: Request) -> Response:
    """Answer a SelfSubjectReview with the user of the request."""
    review, warnings = _read(verbs, target, request)
    review["metadata"] = {"creationTimestamp": timestamp(verbs.registry.clock())}
    review["status"] = {"userInfo": _user_info(request.user)}
    return with_warnings(answer(review, 201), warnings)


def _user_info(user: User) -> Document:
    info: Document = {
        "username": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {key: list(values) for key, values in user.extra.items()},
    }
    return {field: value for field, value in info.items() if value}


# -- authorization


def review_access(verbs: Verbs, target: Target, request: Request) -> Response:
    """Answer a SubjectAccessReview or LocalSubjectAccessReview."""
    review, warnings = _read(verbs, target, request)
    spec = _spec(review, AccessSpec)
    local = target.resource.namespaced
    problems = _spec_problems(spec) + _metadata_problems(review, local=local)
    if local:
        problems += _local_problems(spec, target.namespace)
    if problems:
        raise statuses.invalid(target.resource, "", problems)
    user = User(spec.user, spec.groups, spec.uid, spec.extra)
    return with_warnings(_decided(verbs, review, user, spec), warnings)


def review_own_access(verbs: Verbs, target: Target, request: Request) -> Response:
    """Answer a SelfSubjectAccessReview for the user of the request."""
    review, warnings = _read(verbs, target, request)
    spec = _spec(review, AccessSpec)
    problems = _attribute_problems(spec) + _metadata_problems(review)
    if problems:
        raise statuses.invalid(target.resource, "", problems)
    return with_warnings(_decided(verbs, review, request.user, spec), warnings)


def review_own_rules(verbs: Verbs, target: Target, request: Request) -> Response:
    """Answer a SelfSubjectRulesReview with the rules of the request's user in a namespace."""
    review, warnings = _read(verbs, target, request)
    namespace = _spec(review, RulesSpec).namespace
    if not namespace:
        raise bad_request("no namespace on request")
    rules, problem = verbs.access.rules_of(request.user, namespace)
    status: Document = {
        "resourceRules": [_without(rule, "nonResourceURLs") for rule in rules if rule.resources],
        "nonResourceRules": [_only(rule, "verbs", "nonResourceURLs") for rule in rules if rule.paths],
        "incomplete": False,
    }
    if problem:
        status["evaluationError"] = problem
    review |= {"metadata": {}, "spec": {}, "status": status}
    return with_warnings(answer(review, 201), warnings)


def _decided(verbs: Verbs, review: Document, user: User, spec: AccessSpec) -> Response:
    decision = verbs.access.decide(user, _attributes(spec))
    status: Document = {"allowed": decision.allowed}
    if decision.reason:
        status["reason"] = decision.reason
    review["status"] = status
    return answer(review, 201)


def _attributes(spec: AccessSpec) -> Attributes:
    asked = spec.resource_attributes
    if asked is not None:
        return Attributes(asked.verb, asked.group, asked.resource, asked.subresource, asked.namespace, asked.name)
    path = spec.non_resource_attributes
    assert path is not None
    return Attributes(path.verb, path=path.path)


def _without(rule: Rule, *fields: str) -> Document:
    return {field: values for field, values in document_of(rule).items() if field not in fields}


def _only(rule: Rule, *fields: str) -> Document:
    return {field: values for field, values in document_of(rule).items() if field in fields}


# -- validation


def _spec_problems(spec: AccessSpec) -> list[str]:
    problems = _attribute_problems(spec)
    if not spec.user and not spec.groups:
        problems.append(invalid("spec.user", spec.user, "at least one of user or group must be specified"))
    return problems


def _attribute_problems(spec: AccessSpec) -> list[str]:
    resource, path = spec.resource_attributes, spec.non_resource_attributes
    if resource is None and path is None:
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        return [invalid("spec.resourceAttributes", None, why)]
    problems = []
    if resource is not None and path is not None:
        why = "cannot be specified in combination with resourceAttributes"
        problems.append(invalid("spec.nonResourceAttributes", _shown(path), why))
    if resource is not None:
        here = "spec.resourceAttributes"
        problems += _selector_problems(child(here, "fieldSelector"), resource.field_selector, labels=False)
        problems += _selector_problems(child(here, "labelSelector"), resource.label_selector, labels=True)
    return problems


def _local_problems(spec: AccessSpec, namespace: str) -> list[str]:
    problems = []
    resource, path = spec.resource_attributes, spec.non_resource_attributes
    if resource is not None and resource.namespace != namespace:
        here = "spec.resourceAttributes.namespace"
        problems.append(invalid(here, resource.namespace, "must match metadata.namespace"))
    if path is not None:
        problems.append(invalid("spec.nonResourceAttributes", _shown(path), "disallowed on this kind of request"))
    return problems


def _metadata_problems(review: Document, *, local: bool = False) -> list[str]:
    said = {field: value for field, value in review["metadata"].items() if value and field != "managedFields"}
    if not said or (local and set(said) == {"namespace"}):
        return []
    return [invalid("metadata", as_json(said), "must be empty except for namespace" if local else "must be empty")]


def _selector_problems(path: str, selector: ReviewSelector | None, *, labels: bool) -> list[str]:
    if selector is None:
        return []
    problems = []
    if selector.raw_selector and selector.requirements:
        why = "may not specified at the same time as requirements"
        problems.append(invalid(child(path, "rawSelector"), selector.raw_selector, why))
    if not selector.raw_selector and not selector.requirements:
        why = f"when {path} is specified, requirements or rawSelector is required"
        problems.append(required(child(path, "requirements"), why))
    for number, requirement in enumerate(selector.requirements):
        here = index(child(path, "requirements"), number)
        if not labels and not requirement.key:
            problems.append(required(child(here, "key"), "must be specified"))
        problems += _operator_problems(child(here, "values"), requirement)
        if labels:
            problems += _label_problems(here, requirement)
    return problems


def _operator_problems(path: str, requirement: SelectorRequirement) -> list[str]:
    # unknown operators are allowed: a newer client may know more of them
    if requirement.operator in ("In", "NotIn") and not requirement.values:
        return [required(path, "must be specified when `operator` is 'In' or 'NotIn'")]
    if requirement.operator in ("Exists", "DoesNotExist") and requirement.values:
        return [forbidden(path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
    return []


def _label_problems(path: str, requirement: SelectorRequirement) -> list[str]:
    key = requirement.key
    problems = [invalid(child(path, "key"), key, problem) for problem in label_key_problems(key)]
    for number, value in enumerate(requirement.values):
        here = index(child(path, "values"), number)
        problems += [invalid(here, value, problem) for problem in label_value_problems(value)]
    return problems


def _shown(path: NonResourceAttributes) -> Any:
    return as_json({"Path": path.path, "Verb": path.verb})


# -- shared


def _read(verbs: Verbs, target: Target, request: Request) -> tuple[Document, Sequence[str]]:
    """Return the review in a request, with the namespace of its path, and warnings."""
    is_dry_run(request)
    check_takes_plain(request)
    review, warnings = verbs.writing.decode(target.resource, request)
    meta = review["metadata"]
    if not target.namespace:
        meta.pop("namespace", None)
    elif (meta.get("namespace") or target.namespace) != target.namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    else:
        meta["namespace"] = target.namespace
    return review, warnings


def _spec(review: Document, kind: type[Spec]) -> Spec:
    """Convert the spec of a decoded review to a struct."""
    return msgspec.convert(review.get("spec") or {}, kind)


REVIEWS: dict[tuple[str, str], Handler] = {
    (f"tokenreviews.{_AUTHENTICATION}", ""): review_token,
    (f"selfsubjectreviews.{_AUTHENTICATION}", ""): review_self,
    (f"subjectaccessreviews.{_AUTHORIZATION}", ""): review_access,
    (f"localsubjectaccessreviews.{_AUTHORIZATION}", ""): review_access,
    (f"selfsubjectaccessreviews.{_AUTHORIZATION}", ""): review_own_access,
    (f"selfsubjectrulesreviews.{_AUTHORIZATION}", ""): review_own_rules,
}

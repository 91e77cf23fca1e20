"""Validating admission policies at work: expressions that a request must make true, where a binding says so.

    request ──▶ policy matches? ──▶ binding matches? ──▶ parameters ──▶ conditions ──▶ validations ──▶ deny, warn, audit

From policies and bindings, compiled once, and a request to a refusal or to warnings. Expressions that cannot be
evaluated count by the policy's failurePolicy.
"""

# upstream: apiserver/pkg/admission/plugin/policy/validating/{dispatcher,validator}.go,
# plugin/policy/generic/policy_dispatcher.go, plugin/webhook/matchconditions/matcher.go (v1.36)

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from kubesched.cel.errors import CelCompileError
from kubesched.cel.types import DYN, Type
from kubesched.controlplane.admission.expressions import (
    ANYTHING,
    AUDITED,
    CONDITION,
    CONDITIONS_BUDGET,
    MESSAGE,
    BudgetError,
    Evaluation,
    EvaluationError,
    Expression,
    Names,
    compiled,
    value_of,
    variable_type,
)
from kubesched.controlplane.admission.matching import Match
from kubesched.controlplane.admission.parameters import ParameterError
from kubesched.controlplane.admission.reviewing import Review
from kubesched.controlplane.resources import Resource
from kubesched.controlplane.statuses import ApiError
from kubesched.controlplane.store import Document

LONGEST_MESSAGE = 5 * 1024
_CODES = {"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413}
_INVALID = "Invalid"

Compiled = Expression | CelCompileError


class Failed(msgspec.Struct, frozen=True):
    """A validation that a request fails, or that cannot be made."""

    message: str
    reason: str = _INVALID


class Conditions:
    """Match conditions: all must be true for a request to be looked at."""

    def __init__(self, conditions: Sequence[Document], *, params: bool, failure_policy: str) -> None:
        names = Names(params=params)
        self._expressions = [_compiled((each.get("expression") or "").strip(), names, CONDITION) for each in conditions]
        self._ignores = failure_policy == "Ignore"

    def hold(self, values: Document) -> bool:
        """Return whether they hold; raises EvaluationError if that cannot be told and matters."""
        if not self._expressions:
            return True
        evaluation = Evaluation({**values, "namespaceObject": None}, CONDITIONS_BUDGET)
        problems = []
        for expression in self._expressions:
            try:
                if _run(evaluation, expression) is False:
                    return False
            except BudgetError as error:
                problems = [str(error)]
                break
            except EvaluationError as error:
                problems.append(str(error))
        if not problems:
            return True
        if self._ignores:
            return False
        raise EvaluationError(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")


class Policy:
    """One policy, compiled."""

    def __init__(self, document: Document) -> None:
        spec = document["spec"]
        self.name: str = document["metadata"]["name"]
        self.param_kind: Document | None = spec.get("paramKind")
        self._ignores = spec.get("failurePolicy") == "Ignore"
        match = spec.get("matchConstraints") or {}
        self.match = Match(match, match.get("resourceRules") or (), match.get("excludeResourceRules") or ())
        params = self.param_kind is not None
        conditions = spec.get("matchConditions") or ()
        self._conditions = Conditions(conditions, params=params, failure_policy=spec.get("failurePolicy") or "Fail")
        self._variables: dict[str, Compiled] = {}
        names = self._declare(spec.get("variables") or (), params=params)
        self._validations = [_Validation(each, names) for each in spec.get("validations") or ()]
        annotations = spec.get("auditAnnotations") or ()
        self._audited = [_compiled((each.get("valueExpression") or "").strip(), names, AUDITED) for each in annotations]

    def _declare(self, variables: Sequence[Document], *, params: bool) -> Names:
        declared: dict[str, Type] = {}
        for variable in variables:
            names = Names(params=params, variables=dict(declared))
            found = _compiled(variable.get("expression") or "", names, ANYTHING)
            self._variables[variable["name"]] = found
            declared[variable["name"]] = variable_type(found.type) if isinstance(found, Expression) else DYN
        return Names(params=params, variables=declared)

    def failed(self, why: str) -> Iterator[Failed]:
        """Yield the failure of something that went wrong, unless the policy ignores that."""
        if not self._ignores:
            yield Failed(why)

    def failures(self, values: Document) -> Iterator[Failed]:
        """Yield what is wrong with a request, whose values are given."""
        try:
            if not self._conditions.hold(values):
                return
        except EvaluationError as error:
            yield from self.failed(str(error))
            return
        evaluation = Evaluation(values)
        evaluation.declare(self._variables)
        audited = Evaluation(values)
        audited.declare(self._variables)
        try:
            results = [each.result(evaluation) for each in self._validations]
            for validation, result in zip(self._validations, results, strict=True):
                if isinstance(result, EvaluationError):
                    yield from self.failed(str(result))
                elif result is not True:
                    yield Failed(validation.message(evaluation), validation.reason)
            yield from self._audit_failures(audited)
        except BudgetError as error:
            yield from self.failed(str(error))

    def _audit_failures(self, evaluation: Evaluation) -> Iterator[Failed]:
        """Yield which annotations for the audit log cannot be made; there is no such log here."""
        for expression in self._audited:
            try:
                _run(evaluation, expression)
            except EvaluationError as error:
                yield from self.failed(str(error))


class _Validation:
    """One validation of a policy."""

    def __init__(self, validation: Document, names: Names) -> None:
        self.reason: str = validation.get("reason") or _INVALID
        self._text: str = validation.get("expression") or ""
        self._words: str = (validation.get("message") or "").strip()
        self._expression = _compiled(self._text, names, CONDITION)
        written = validation.get("messageExpression") or ""
        self._message = _compiled(written, names.without_authorizer(), MESSAGE) if written.strip() else None

    def result(self, evaluation: Evaluation) -> Any:
        """Return whether it holds, or the EvaluationError for which that cannot be told."""
        try:
            return _run(evaluation, self._expression)
        except EvaluationError as error:
            return error

    def message(self, evaluation: Evaluation) -> str:
        """Return what is said of a request that fails."""
        found: Any = ""
        if self._message is not None:
            try:
                found = _run(evaluation, self._message)
            except EvaluationError:
                found = ""
        text = found.strip() if isinstance(found, str) else ""
        if len(text.encode()) > LONGEST_MESSAGE or "\n" in text:
            text = ""
        return text or self._words or f"failed expression: {self._text.strip()}"


class Binding:
    """One binding."""

    def __init__(self, document: Document) -> None:
        spec = document["spec"]
        self.name: str = document["metadata"]["name"]
        self.policy: str = spec["policyName"]
        self.param_ref: Document | None = spec.get("paramRef")
        self.actions: Sequence[str] = spec.get("validationActions") or ()
        match = spec.get("matchResources")
        self.match: Match | None = None
        if match is not None:
            self.match = Match(match, match.get("resourceRules") or (), match.get("excludeResourceRules") or ())


class ValidatingPolicies:
    """All policies that are bound, asked together."""

    def __init__(self, policies: Sequence[Document], bindings: Sequence[Document]) -> None:
        bound = [Binding(each) for each in bindings]
        named = {each.policy for each in bound}
        found = [Policy(each) for each in policies if each["metadata"]["name"] in named]
        self._policies = [(policy, [each for each in bound if each.policy == policy.name]) for policy in found]

    def __bool__(self) -> bool:
        return bool(self._policies)

    def check(self, review: Review) -> None:
        """Raise ApiError if a policy denies a request; warnings are told to whoever asks."""
        denied: ApiError | None = None
        for policy, bindings in self._policies:
            matched = review.matched(policy.match)
            if matched is None:
                continue
            for binding in bindings:
                if binding.match is not None and review.matched(binding.match) is None:
                    continue
                words = f"ValidatingAdmissionPolicy '{policy.name}' with binding '{binding.name}'"
                for failed, actions in _failures(policy, binding, review, matched):
                    if "Deny" in actions:
                        denied = denied or _denial(review, failed, f"{words} denied request: {failed.message}")
                    elif "Warn" in actions:
                        review.asked.request.told.append(f"Validation failed for {words}: {failed.message}")
        if denied is not None:
            raise denied


def _failures(
    policy: Policy, binding: Binding, review: Review, matched: Resource
) -> Iterator[tuple[Failed, Sequence[str]]]:
    """Yield what is wrong with a request by a policy and a binding, and what follows."""
    try:
        found = review.parameters.of(policy.param_kind, binding.param_ref, review.asked.namespace)
    except ParameterError as error:
        for failed in policy.failed(f"failed to configure {error.part}: {error}"):
            yield failed, ("Deny",)
        return
    values = review.values(matched)
    for params in found:
        for failed in policy.failures({**values, "params": value_of(params)}):
            yield failed, binding.actions


def _denial(review: Review, failed: Failed, message: str) -> ApiError:
    error = review.asked.refusal(message, review.new)
    error.reason = failed.reason
    error.code = _CODES.get(failed.reason, 422)
    error.details = {**(error.details or {}), "causes": [{"message": message}]}
    return error


def _compiled(text: str, names: Names, results: tuple[Type, ...]) -> Compiled:
    try:
        return compiled(text, names, results)
    except CelCompileError as error:
        return error


def _run(evaluation: Evaluation, expression: Compiled) -> Any:
    if isinstance(expression, CelCompileError):
        raise EvaluationError(f"compilation error: {expression}")
    return evaluation.run(expression)

"""Validating admission policies: expressions that must be true for a request where a binding applies them.

    request ──▶ policy matches? ──▶ binding matches? ──▶ parameters ──▶ conditions ──▶ validations ──▶ deny, warn, audit

From policies and bindings, compiled once, and a request to a denial or to warnings. The policy's failurePolicy applies
to expressions that cannot be evaluated.
"""

# upstream: apiserver/pkg/admission/plugin/policy/validating/{dispatcher,validator}.go,
# plugin/policy/generic/policy_dispatcher.go, plugin/webhook/matchconditions/matcher.go (v1.36)

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from kubesched_controlplane.admission.parameters import ParameterError
from kubesched_controlplane.admission.policies import AdmissionPolicy, Binding, bound, compiled_or_error, evaluated
from kubesched_controlplane.admission.reviewing import Review
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.kinds.admission.expressions import (
    AUDITED,
    CONDITION,
    MESSAGE,
    BudgetError,
    EvaluationError,
    Names,
    PolicyEvaluation,
    value_of,
)

LONGEST_MESSAGE = 5 * 1024
_CODES = {"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413}
_INVALID = "Invalid"


class FailedValidation(msgspec.Struct, frozen=True):
    """A validation that a request fails, or that cannot be evaluated."""

    message: str
    reason: str = _INVALID


class ValidatingPolicy(AdmissionPolicy):
    """A compiled validating policy."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        spec = document["spec"]
        self._validations = [_Validation(each, self.names) for each in spec.get("validations") or ()]
        texts = ((each.get("valueExpression") or "").strip() for each in spec.get("auditAnnotations") or ())
        self._audited = [compiled_or_error(text, self.names, AUDITED) for text in texts]

    def failed(self, why: str) -> Iterator[FailedValidation]:
        """Yield an error of the policy itself as a failure, unless its failurePolicy is Ignore."""
        if not self.ignores:
            yield FailedValidation(why)

    def failures(self, values: Document) -> Iterator[FailedValidation]:
        """Yield the failed validations of a request with these values."""
        try:
            if not self.conditions.hold(values):
                return
        except EvaluationError as error:
            yield from self.failed(str(error))
            return
        evaluation, audited = self.evaluation(values), self.evaluation(values)
        try:
            results = [each.result(evaluation) for each in self._validations]
            for validation, result in zip(self._validations, results, strict=True):
                if isinstance(result, EvaluationError):
                    yield from self.failed(str(result))
                elif result is not True:
                    yield FailedValidation(validation.message(evaluation), validation.reason)
            yield from self._audit_failures(audited)
        except BudgetError as error:
            yield from self.failed(str(error))

    def _audit_failures(self, evaluation: PolicyEvaluation) -> Iterator[FailedValidation]:
        """Yield the audit annotations that cannot be evaluated; their values are dropped, as there is no audit log."""
        for expression in self._audited:
            try:
                evaluated(evaluation, expression)
            except EvaluationError as error:
                yield from self.failed(str(error))


class _Validation:
    """One validation of a policy."""

    def __init__(self, validation: Document, names: Names) -> None:
        self.reason: str = validation.get("reason") or _INVALID
        self._text: str = validation.get("expression") or ""
        self._words: str = (validation.get("message") or "").strip()
        self._expression = compiled_or_error(self._text, names, CONDITION)
        written = validation.get("messageExpression") or ""
        self._message = compiled_or_error(written, names.without_authorizer(), MESSAGE) if written.strip() else None

    def result(self, evaluation: PolicyEvaluation) -> Any:
        """Return the value of the expression, or the EvaluationError."""
        try:
            return evaluated(evaluation, self._expression)
        except EvaluationError as error:
            return error

    def message(self, evaluation: PolicyEvaluation) -> str:
        """Return the message of a failed validation."""
        found: Any = ""
        if self._message is not None:
            try:
                found = evaluated(evaluation, self._message)
            except EvaluationError:
                found = ""
        text = found.strip() if isinstance(found, str) else ""
        if len(text.encode()) > LONGEST_MESSAGE or "\n" in text:
            text = ""
        return text or self._words or f"failed expression: {self._text.strip()}"


class ValidatingPolicies:
    """All validating policies with bindings."""

    def __init__(self, policies: Sequence[Document], bindings: Sequence[Document]) -> None:
        named = {each["spec"]["policyName"] for each in bindings}
        found = [ValidatingPolicy(each) for each in policies if each["metadata"]["name"] in named]
        self._policies = bound(found, bindings)

    def __bool__(self) -> bool:
        return bool(self._policies)

    def check(self, review: Review) -> None:
        """Raise ApiError if a policy denies a request; warnings are added to the response."""
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
                        review.asked.request.warnings.append(f"Validation failed for {words}: {failed.message}")
        if denied is not None:
            raise denied


def _failures(
    policy: ValidatingPolicy, binding: Binding, review: Review, matched: Resource
) -> Iterator[tuple[FailedValidation, Sequence[str]]]:
    """Yield the failed validations of a request, with the validationActions to take."""
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


def _denial(review: Review, failed: FailedValidation, message: str) -> ApiError:
    error = review.asked.refusal(message, review.new)
    error.reason = failed.reason
    error.code = _CODES.get(failed.reason, 422)
    error.details = {**(error.details or {}), "causes": [{"message": message}]}
    return error

"""Mutating admission policies: expressions that change an object where a binding applies them.

    object ──▶ policy matches? ──▶ binding matches? ──▶ parameters ──▶ conditions ──▶ mutations, one after the other

From policies and bindings, compiled once, and a request to a changed object or a denial. An expression returns an apply
configuration, which is merged as in server-side apply, or the operations of a JSON patch.
"""

# upstream: apiserver/pkg/admission/plugin/policy/mutating/{dispatcher,compilation}.go,
# mutating/patch/{smd,json_patch}.go (v1.36)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kubesched.cel.messages import MessageValue, misnamed
from kubesched.json_patch import FailedTestError, OperationError, json_patched
from kubesched_controlplane.admission.parameters import ParameterError
from kubesched_controlplane.admission.policies import AdmissionPolicy, Binding, bound, compiled_or_error, evaluated
from kubesched_controlplane.admission.reviewing import Review
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.conversion import from_storage, to_storage
from kubesched_controlplane.kinds.admission.expressions import (
    CONFIGURATION,
    OPERATIONS,
    BudgetError,
    EvaluationError,
    Names,
    document_of,
    value_of,
)
from kubesched_controlplane.managed_fields.list_types import FieldTypeError


class MutatingPolicy(AdmissionPolicy):
    """A compiled mutating policy."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        spec = document["spec"]
        self.reinvoked = spec.get("reinvocationPolicy") == "IfNeeded"
        self.mutations = [_Mutation(each, self.names.for_changes()) for each in spec.get("mutations") or ()]


class _Mutation:
    """One mutation of a policy."""

    def __init__(self, mutation: Document, names: Names) -> None:
        self._merges = mutation.get("patchType") == "ApplyConfiguration"
        field, results = ("applyConfiguration", CONFIGURATION) if self._merges else ("jsonPatch", OPERATIONS)
        text = ((mutation.get(field) or {}).get("expression") or "").strip()
        self._expression = compiled_or_error(text, names, results)

    def changed(self, policy: AdmissionPolicy, review: Review, matched: Resource, params: Document | None) -> Document:
        """Return the mutated object; raises EvaluationError, BudgetError."""
        assert review.new is not None
        evaluation = policy.evaluation({**review.values(matched), "params": value_of(params)})
        value = evaluated(evaluation, self._expression)
        before = from_storage(matched, review.new)
        after = _merged(before, value, review, matched) if self._merges else _patched(before, value)
        return to_storage(matched, after)


def _merged(before: Document, value: Any, review: Review, matched: Resource) -> Document:
    why = misnamed(value)
    if why:
        raise EvaluationError(f"type mismatch: {why}")
    config = {**document_of(value), "apiVersion": matched.api_version, "kind": matched.kind}
    try:
        found: Document = review.field_type(matched).merged(before, config)
    except FieldTypeError as error:
        raise EvaluationError(f"error applying patch: failed to merge patch: {error}") from None
    return found


def _patched(before: Document, value: Any) -> Document:
    for each in value:
        held = each.look_up("value") if isinstance(each, MessageValue) else None
        if isinstance(held, MessageValue) and (why := misnamed(held)):
            raise EvaluationError(f"type mismatch: {why}")
    try:
        found = json_patched(before, [document_of(each) for each in value])
    except FailedTestError:
        return before
    except OperationError as error:
        raise EvaluationError(f"JSON Patch: {error}") from None
    if not isinstance(found, dict):
        raise EvaluationError("JSON Patch: what is left is no object")
    return found


class MutatingPolicies:
    """All mutating policies with bindings, evaluated one after the other."""

    def __init__(self, policies: Sequence[Document], bindings: Sequence[Document]) -> None:
        named = {each["spec"]["policyName"] for each in bindings}
        found = [MutatingPolicy(each) for each in policies if each["metadata"]["name"] in named]
        self._policies = bound(found, bindings)

    def changed(self, review: Review, *, again: bool = False) -> Review:
        """Return the review with the mutated object; with `again` only by policies that are reinvoked.

        Raises ApiError if a policy fails and its failurePolicy is not Ignore.
        """
        problems: list[str] = []
        for policy, bindings in self._policies:
            matched = None if again and not policy.reinvoked else review.matched(policy.match)
            if matched is None or review.new is None:
                continue
            for binding in bindings:
                if binding.match is None or review.matched(binding.match) is not None:
                    review = _changed_by(policy, binding, review, matched, problems)
        if problems:
            raise _denial(review, problems)
        return review


def _changed_by(
    policy: MutatingPolicy, binding: Binding, review: Review, matched: Resource, problems: list[str]
) -> Review:
    def failed(why: object) -> None:
        if not policy.ignores:
            problems.append(f"policy '{policy.name}' with binding '{binding.name}' denied request: {why}")

    try:
        found = review.parameters.of(policy.param_kind, binding.param_ref, review.asked.namespace)
    except ParameterError as error:
        failed(f"failed to configure {error.part}: {error}")
        return review
    for params in found:
        try:
            if not policy.conditions.hold({**review.values(matched), "params": value_of(params)}):
                continue
        except EvaluationError as error:
            failed(error)
            continue
        for mutation in policy.mutations:
            try:
                review = review.with_new(mutation.changed(policy, review, matched, params))
            except (EvaluationError, BudgetError) as error:
                failed(error)
    return review


def _denial(review: Review, problems: list[str]) -> ApiError:
    error = review.asked.refusal("", review.new)
    error.message, error.reason = problems[0], "Invalid"
    error.details = {**(error.details or {}), "causes": [{"message": each} for each in problems]}
    return error

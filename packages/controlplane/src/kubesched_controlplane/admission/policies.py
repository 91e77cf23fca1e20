"""The common part of validating and mutating policies: match constraints, match conditions, variables, bindings.

From the documents of policies and bindings to their compiled forms.
"""

# upstream: apiserver/pkg/admission/plugin/policy/generic, plugin/webhook/matchconditions/matcher.go (v1.36)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from kubesched.cel.errors import CelCompileError
from kubesched.cel.types import DYN, Type
from kubesched_controlplane.admission.matching import MatchConstraints
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.admission.expressions import (
    ANYTHING,
    CONDITION,
    CONDITIONS_BUDGET,
    BudgetError,
    EvaluationError,
    Expression,
    Names,
    PolicyEvaluation,
    compiled,
    variable_type,
)

Compiled = Expression | CelCompileError
P = TypeVar("P", bound="AdmissionPolicy")


class Conditions:
    """Match conditions: a policy or webhook applies to a request for which all are true."""

    def __init__(self, conditions: Sequence[Document], *, params: bool, failure_policy: str) -> None:
        names = Names(params=params)
        self._expressions = [
            compiled_or_error((each.get("expression") or "").strip(), names, CONDITION) for each in conditions
        ]
        self._ignores = failure_policy == "Ignore"

    def hold(self, values: Document) -> bool:
        """Return whether all conditions hold; raises EvaluationError if one fails and failurePolicy is not Ignore."""
        if not self._expressions:
            return True
        evaluation = PolicyEvaluation({**values, "namespaceObject": None}, CONDITIONS_BUDGET)
        problems = []
        for expression in self._expressions:
            try:
                if evaluated(evaluation, expression) is False:
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


class AdmissionPolicy:
    """A compiled policy: its match constraints and conditions, and the variables of its expressions."""

    def __init__(self, document: Document) -> None:
        spec = document["spec"]
        self.name: str = document["metadata"]["name"]
        self.param_kind: Document | None = spec.get("paramKind")
        self.ignores = spec.get("failurePolicy") == "Ignore"
        match = spec.get("matchConstraints") or {}
        self.match = MatchConstraints(match, match.get("resourceRules") or (), match.get("excludeResourceRules") or ())
        params = self.param_kind is not None
        conditions = spec.get("matchConditions") or ()
        self.conditions = Conditions(conditions, params=params, failure_policy=spec.get("failurePolicy") or "Fail")
        self.variables: dict[str, Compiled] = {}
        self.names = self._declare(spec.get("variables") or (), params=params)

    def _declare(self, variables: Sequence[Document], *, params: bool) -> Names:
        declared: dict[str, Type] = {}
        for variable in variables:
            names = Names(params=params, variables=dict(declared))
            found = compiled_or_error(variable.get("expression") or "", names, ANYTHING)
            self.variables[variable["name"]] = found
            declared[variable["name"]] = variable_type(found.type) if isinstance(found, Expression) else DYN
        return Names(params=params, variables=declared)

    def evaluation(self, values: Document) -> PolicyEvaluation:
        """Return an evaluation of the policy's expressions with these values and the policy's variables."""
        evaluation = PolicyEvaluation(values)
        evaluation.declare(self.variables)
        return evaluation


class Binding:
    """The binding of a policy."""

    def __init__(self, document: Document) -> None:
        spec = document["spec"]
        self.name: str = document["metadata"]["name"]
        self.policy: str = spec["policyName"]
        self.param_ref: Document | None = spec.get("paramRef")
        self.actions: Sequence[str] = spec.get("validationActions") or ()
        match = spec.get("matchResources")
        self.match: MatchConstraints | None = None
        if match is not None:
            self.match = MatchConstraints(
                match, match.get("resourceRules") or (), match.get("excludeResourceRules") or ()
            )


def bound(policies: Sequence[P], bindings: Sequence[Document]) -> list[tuple[P, list[Binding]]]:
    """Return the policies that have bindings, with their bindings."""
    found = [Binding(each) for each in bindings]
    named = ((policy, [each for each in found if each.policy == policy.name]) for policy in policies)
    return [(policy, own) for policy, own in named if own]


def compiled_or_error(text: str, names: Names, results: tuple[Type, ...]) -> Compiled:
    """Return the compiled expression, or the error of its compilation."""
    try:
        return compiled(text, names, results)
    except CelCompileError as error:
        return error


def evaluated(evaluation: PolicyEvaluation, expression: Compiled) -> Any:
    """Return the value of an expression; raises EvaluationError, BudgetError."""
    if isinstance(expression, CelCompileError):
        raise EvaluationError(f"compilation error: {expression}")
    return evaluation.run(expression)

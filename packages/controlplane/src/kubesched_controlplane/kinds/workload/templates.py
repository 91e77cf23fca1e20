"""Validation that workloads share: pod templates, selectors, counts and percentages.

From the specs of workloads to problems, and from counts or percentages to numbers.
"""

# upstream: pkg/apis/core/validation/validation.go (ValidatePodTemplateSpec), pkg/apis/apps/validation/validation.go
# (v1.36)

from collections.abc import Collection
from typing import Any

import msgspec

from kubesched.api.field_errors import as_json, forbidden, invalid, not_supported, required
from kubesched.api.labels import InvalidSelectorError, Selector, from_label_selector
from kubesched.api.meta import LabelSelector
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.object_meta import annotations_problems
from kubesched_controlplane.kinds.checks import (
    label_selector_problems,
    labels_problems,
    not_negative,
    percent_problems,
    shown,
    text_problems,
)
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.pod.validation import spec_problems
from kubesched_controlplane.kinds.pod.warnings import pod_warnings

_NOT_MATCHED = "`selector` does not match template `labels`"


class TemplateStrategy(KindStrategy):
    """The base class of the strategies of kinds with a pod template; `template_at` is the way to it."""

    template_at: tuple[str, ...] = ("spec", "template")

    def warnings(self, new: Document, old: Document | None) -> list[str]:
        """Return warnings about a new or changed template."""
        now, then = self._template(new), self._template(old or {})
        return [] if now == then else pod_warnings(now, f"{'.'.join(self.template_at)}.")

    def _template(self, document: Document) -> Document:
        found = document
        for field in self.template_at:
            found = found.get(field) or {}
        return found


def count_problems(spec: Document, fields: Collection[str] = ("replicas", "minReadySeconds")) -> list[str]:
    """Return the problems of negative numbers in a spec."""
    return [problem for field in fields for problem in not_negative(f"spec.{field}", spec.get(field))]


def selector_problems(selector: Any, kind: str, unreadable: str) -> tuple[list[str], Selector | None]:
    """Return the problems of a selector, and its compiled form, None if it does not compile."""
    if selector is None:
        return [required("spec.selector")], from_label_selector(None)
    problems = label_selector_problems("spec.selector", selector)
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        problems.append(invalid("spec.selector", as_json(selector), f"empty selector is invalid for {kind}"))
    try:
        return problems, from_label_selector(msgspec.convert(selector, LabelSelector))
    except InvalidSelectorError:
        return [*problems, invalid("spec.selector", as_json(selector), unreadable)], None


def template_problems(path: str, template: Document) -> list[str]:
    """Return the problems of a pod template."""
    meta = template.get("metadata") or {}
    problems = labels_problems(f"{path}.labels", meta.get("labels"))
    problems += annotations_problems(f"{path}.annotations", meta.get("annotations"))
    problems += spec_problems(f"{path}.spec", template["spec"])
    if template["spec"].get("ephemeralContainers"):
        why = "ephemeral containers not allowed in pod template"
        problems.append(forbidden(f"{path}.spec.ephemeralContainers", why))
    return problems


def lasting_template_problems(template: Document | None, selector: Selector, kind: str) -> list[str]:
    """Return the problems of a pod template for pods that always restart."""
    path = "spec.template"
    if template is None:
        return [required(path)]
    problems = []
    if not selector.empty:
        problems += match_problems(template, selector)
    return problems + template_problems(path, template) + restart_problems(template["spec"], kind)


def match_problems(template: Document, selector: Selector) -> list[str]:
    """Return the problem of a selector that does not select the pods of its template."""
    labels = (template.get("metadata") or {}).get("labels")
    if selector.matches(labels or {}):
        return []
    return [invalid("spec.template.metadata.labels", shown(labels), _NOT_MATCHED)]


def restart_problems(pod: Document, kind: str) -> list[str]:
    """Return the problems of the restart policy and active deadline in a template for pods that always restart."""
    path = "spec.template.spec"
    problems = []
    if pod["restartPolicy"] != "Always":
        problems.append(not_supported(f"{path}.restartPolicy", pod["restartPolicy"], ("Always",)))
    if pod.get("activeDeadlineSeconds") is not None:
        why = f"activeDeadlineSeconds in {kind} is not Supported"
        problems.append(forbidden(f"{path}.activeDeadlineSeconds", why))
    return problems


# -- counts and percentages


def share_problems(path: str, share: int | str) -> list[str]:
    """Return the problems of a number, or of a percentage."""
    return not_negative(path, share) if isinstance(share, int) else text_problems(path, share, percent_problems)


def too_large_share_problems(path: str, share: int | str) -> list[str]:
    """Return the problem of a percentage above 100."""
    if isinstance(share, str) and not percent_problems(share) and share_value(share) > 100:
        return [invalid(path, share, "must not be greater than 100%")]
    return []


def share_value(share: int | str) -> int:
    """Return a number, or the number of a percentage; 0 for an invalid text."""
    if isinstance(share, int):
        return share
    # a percentage may have any number of digits; above 100 its value makes no difference
    digits = share.removesuffix("%").lstrip("0")[:9]
    return int(digits) if digits.isascii() and digits.isdigit() else 0


def share_of(share: int | str, total: int, *, round_up: bool) -> int:
    """Return a number, or a percentage of a total rounded up or down."""
    if isinstance(share, int):
        return share
    part = total * share_value(share)
    return -(-part // 100) if round_up else part // 100

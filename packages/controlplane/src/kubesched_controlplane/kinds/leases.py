"""The strategy of leases and lease candidates."""

# upstream: pkg/registry/coordination/{lease,leasecandidate}/strategy.go, pkg/apis/coordination/validation (v1.36)

import re

from kubesched.api.field_errors import forbidden, invalid, not_supported, required
from kubesched.api.labels import label_key_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import config_key_problems, text_problems
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.marks import Fields, Marks

MARKS = Marks()
OLDEST_EMULATION_VERSION = "OldestEmulationVersion"
_NUMBER = r"(0|[1-9]\d*)"
_SUFFIX = r"(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?"
_VERSION = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}{_SUFFIX}", re.ASCII)


class LeaseStrategy(KindStrategy):
    """The strategy of leases."""

    marks = MARKS
    create_on_update = True
    unconditional_update = False
    qualifies_finalizers = False


@MARKS.rule("LeaseSpec")
def _lease_problems(path: str, spec: Document, fields: Fields) -> list[str]:
    problems = fields()
    if spec.get("strategy") is not None:
        problems += _strategy_problems("spec.strategy.strategy", spec["strategy"])
    if spec.get("preferredHolder") and not spec.get("strategy"):
        why = "may only be specified if `strategy` is defined"
        problems.append(forbidden("spec.preferredHolder", why))
    return problems


class LeaseCandidateStrategy(KindStrategy):
    """The strategy of lease candidates."""

    marks = MARKS
    create_on_update = True
    unconditional_update = False
    qualifies_finalizers = False

    def name_problems(self, name: str) -> tuple[str, ...]:
        """Return the problems of a name."""
        return tuple(config_key_problems(name))

    def fields(self, document: Document) -> dict[str, str]:
        """Return the values of the selectable fields."""
        return {"spec.leaseName": (document.get("spec") or {}).get("leaseName") or ""}


@MARKS.rule("LeaseCandidateSpec")
def _candidate_problems(path: str, spec: Document, fields: Fields) -> list[str]:
    emulation, binary = spec.get("emulationVersion") or "", spec.get("binaryVersion") or ""
    problems = fields("leaseName", "emulationVersion", "binaryVersion")
    if binary and emulation and _release(binary) < _release(emulation):
        why = "must be greater than or equal to `emulationVersion`"
        problems.append(invalid("spec.binaryVersion", binary, why))
    strategy = spec.get("strategy") or ""
    if not strategy:
        return [*problems, required("spec.strategy")]
    if strategy == OLDEST_EMULATION_VERSION and not any(_release(emulation)):
        why = "must be specified when `strategy` is 'OldestEmulationVersion'"
        problems.append(required("spec.emulationVersion", why))
    return problems + _strategy_problems("spec.strategy.strategy", strategy)


@MARKS.format("semver")
def _version_problems(path: str, version: str) -> list[str]:
    return [] if _VERSION.fullmatch(version) else [invalid(path, version, "must be a valid semantic version")]


def _strategy_problems(path: str, strategy: str) -> list[str]:
    # the reference repeats the last part of this path
    if "/" in strategy:
        return text_problems(path, strategy, label_key_problems)
    if strategy != OLDEST_EMULATION_VERSION:
        return [not_supported(path, strategy, (OLDEST_EMULATION_VERSION,))]
    return []


def _release(version: str) -> tuple[int, ...]:
    """Return the three numbers of a semantic version, zeros if it is invalid."""
    found = _VERSION.fullmatch(version)
    return tuple(int(number) for number in found.groups()[:3]) if found else (0, 0, 0)

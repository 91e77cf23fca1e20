"""The strategy of leases and lease candidates."""

# upstream: pkg/registry/coordination/{lease,leasecandidate}/strategy.go, pkg/apis/coordination/validation (v1.36)

import re

from kubesched.api.field_errors import forbidden, invalid, not_supported, required
from kubesched.api.labels import label_key_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import config_key_problems, immutable, part, text_problems
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.registry.strategy import StrategyContext

OLDEST_EMULATION_VERSION = "OldestEmulationVersion"
_NUMBER = r"(0|[1-9]\d*)"
_SUFFIX = r"(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?"
_VERSION = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}{_SUFFIX}", re.ASCII)
_NO_VERSION = "must be a valid semantic version"


class LeaseStrategy(KindStrategy):
    """The strategy of leases."""

    create_on_update = True
    unconditional_update = False
    qualifies_finalizers = False

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Add a missing spec."""
        part(document, "spec")

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a lease."""
        spec = document["spec"]
        problems = []
        seconds, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
        if seconds is not None and seconds <= 0:
            problems.append(invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0"))
        if transitions is not None and transitions < 0:
            problems.append(invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"))
        if spec.get("strategy") is not None:
            problems += _strategy_problems("spec.strategy.strategy", spec["strategy"])
        if spec.get("preferredHolder") and not spec.get("strategy"):
            why = "may only be specified if `strategy` is defined"
            problems.append(forbidden("spec.preferredHolder", why))
        return problems


class LeaseCandidateStrategy(KindStrategy):
    """The strategy of lease candidates."""

    create_on_update = True
    unconditional_update = False
    qualifies_finalizers = False

    def name_problems(self, name: str) -> tuple[str, ...]:
        """Return the problems of a name."""
        return tuple(config_key_problems(name))

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Add a missing spec."""
        part(document, "spec")

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a candidate."""
        spec = document["spec"]
        emulation, binary = spec.get("emulationVersion") or "", spec.get("binaryVersion") or ""
        problems = [] if spec.get("leaseName") else [required("spec.leaseName")]
        if emulation and not _VERSION.fullmatch(emulation):
            problems.append(invalid("spec.emulationVersion", emulation, _NO_VERSION))
        if not binary:
            problems.append(required("spec.binaryVersion"))
        elif not _VERSION.fullmatch(binary):
            problems.append(invalid("spec.binaryVersion", binary, _NO_VERSION))
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

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        return immutable("spec.leaseName", new["spec"].get("leaseName"), old["spec"].get("leaseName"))

    def fields(self, document: Document) -> dict[str, str]:
        """Return the values of the selectable fields."""
        return {"spec.leaseName": (document.get("spec") or {}).get("leaseName") or ""}


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

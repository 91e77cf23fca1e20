"""Answers to corpus questions about KubeSchedulerConfiguration texts."""

from collections.abc import Mapping
from typing import Any

from kubesched.config.report import describe


def answer(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stage reached, the errors, the completed configuration and the plugins of each profile."""
    return describe(line.get("config"), line.get("featureGates") or {})

"""The rules of each kind, by the name of its store."""

from kubesched.controlplane.strategy import Strategy

STRATEGIES: dict[str, Strategy] = {}

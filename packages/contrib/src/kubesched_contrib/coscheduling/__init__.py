"""Coscheduling: gangs by PodGroup of scheduling.x-k8s.io/v1alpha1."""

from kubesched_contrib.coscheduling.args import CoschedulingArgs
from kubesched_contrib.coscheduling.plugin import Coscheduling

__all__ = ["Coscheduling", "CoschedulingArgs"]

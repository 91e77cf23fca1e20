"""Trimaran: scores by the measured load of nodes.

In: load metrics of nodes, from load-watcher, the Kubernetes metrics API or Prometheus. Out: TargetLoadPacking,
LoadVariationRiskBalancing, LowRiskOverCommitment and Peaks. Never: a request in a scheduling cycle.
"""

from kubesched_contrib.trimaran.load_variation_risk_balancing import LoadVariationRiskBalancing
from kubesched_contrib.trimaran.low_risk_over_commitment import LowRiskOverCommitment
from kubesched_contrib.trimaran.peaks import Peaks
from kubesched_contrib.trimaran.target_load_packing import TargetLoadPacking

__all__ = ["LoadVariationRiskBalancing", "LowRiskOverCommitment", "Peaks", "TargetLoadPacking"]

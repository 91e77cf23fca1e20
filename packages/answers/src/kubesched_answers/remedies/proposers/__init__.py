"""Proposers: for each plugin that rejects a pod, steps that may help. Each step is tried afterwards."""

from collections.abc import Mapping

from kubesched_answers.remedies.proposers.added_affinity import added_affinity
from kubesched_answers.remedies.proposers.declared_features import declared_features
from kubesched_answers.remedies.proposers.devices import devices
from kubesched_answers.remedies.proposers.host_ports import host_ports
from kubesched_answers.remedies.proposers.node_selection import node_selection
from kubesched_answers.remedies.proposers.obstacles import Proposer
from kubesched_answers.remedies.proposers.pod_affinity import pod_affinity
from kubesched_answers.remedies.proposers.requests import requests
from kubesched_answers.remedies.proposers.scheduling_gates import scheduling_gates
from kubesched_answers.remedies.proposers.taints import cordon, taints
from kubesched_answers.remedies.proposers.topology_spread import topology_spread
from kubesched_answers.remedies.proposers.volumes import claims, volume_limits, volume_zone

# by the name of the plugin; third-party plugins have none
PROPOSERS: Mapping[str, tuple[Proposer, ...]] = {
    "DynamicResources": (devices,),
    "InterPodAffinity": (pod_affinity,),
    "NodeAffinity": (node_selection, added_affinity),
    "NodeDeclaredFeatures": (declared_features,),
    "NodePorts": (host_ports,),
    "NodeResourcesFit": (requests,),
    "NodeUnschedulable": (cordon,),
    "NodeVolumeLimits": (claims, volume_limits),
    "PodTopologySpread": (topology_spread,),
    "SchedulingGates": (scheduling_gates,),
    "TaintToleration": (taints,),
    "VolumeBinding": (claims,),
    "VolumeRestrictions": (claims,),
    "VolumeZone": (claims, volume_zone),
}

"""In: an API server. Out: the rest of a cluster around it: nodes without kubelets that run pods, volumes, claims,
taints, budgets, garbage, the end of namespaces; all of it by requests like any client's, on the loop's clock.
Never: a scheduling decision, or a call for every node or pod there is when nothing happens to them.
"""

from kubesched.controlplane.simulation.composition import Simulation
from kubesched.controlplane.simulation.options import Options

__all__ = ["Options", "Simulation"]

"""`from kubesched.simulate import simulate`: the public name of simulations, which are in kubesched-lab."""

from typing import TYPE_CHECKING

from kubesched.common.lazy_names import lazy_names

if TYPE_CHECKING:
    from kubesched_lab.simulate import Pace, RateLabels, SimulationResult, simulate
else:
    __getattr__ = lazy_names(__name__, {}, {"kubesched_lab.simulate": "Pace RateLabels SimulationResult simulate"})

__all__ = ["Pace", "RateLabels", "SimulationResult", "simulate"]

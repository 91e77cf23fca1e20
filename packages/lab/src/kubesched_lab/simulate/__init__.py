"""Simulation: pods arrive, run and leave in virtual time, under the real scheduler, without an API server.

files, generators ──▶ trace ──▶ simulation (scheduler + simulated API, virtual time) ──▶ figures ──▶ reports

For Python and notebooks: `from kubesched.simulate import simulate`.
"""

from typing import TYPE_CHECKING

from kubesched.common.lazy_names import lazy_names

if TYPE_CHECKING:
    from kubesched_lab.simulate.measuring.rates import RateLabels
    from kubesched_lab.simulate.notebook import simulate
    from kubesched_lab.simulate.result import SimulationResult
    from kubesched_lab.simulate.simulated_api import Pace
else:
    __getattr__ = lazy_names(
        __name__,
        {
            "measuring.rates": "RateLabels",
            "notebook": "simulate",
            "result": "SimulationResult",
            "simulated_api": "Pace",
        },
    )

__all__ = ["Pace", "RateLabels", "SimulationResult", "simulate"]

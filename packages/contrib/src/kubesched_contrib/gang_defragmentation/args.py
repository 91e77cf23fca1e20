"""Arguments of the GangDefragmentation plugin."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class GangDefragmentationArgs:
    """Whether plans are proposed or carried out, and the limits of a plan.

    The plugin looks for a plan after a gang has waited for `pending_seconds`. No plan has more than `max_moves`; the
    model has at most `max_nodes` nodes and `max_movable_pods` movable pods, and the solver ends after
    `solver_seconds`. After a plan was carried out, there is none for `cool_down_seconds`; a plan that is not done
    after `plan_timeout_seconds` is cancelled.
    """

    mode: Literal["Propose", "Evict"] = "Propose"
    interval_seconds: float = 30.0
    pending_seconds: float = 30.0
    max_moves: int = 5
    max_nodes: int = 64
    max_movable_pods: int = 500
    solver_seconds: float = 10.0
    cool_down_seconds: float = 300.0
    plan_timeout_seconds: float = 180.0
    excluded_namespaces: tuple[str, ...] = ("kube-system",)

    def __post_init__(self) -> None:
        for field, least in (
            ("intervalSeconds", 1.0),
            ("pendingSeconds", 0.0),
            ("maxMoves", 1),
            ("maxNodes", 2),
            ("maxMovablePods", 1),
            ("solverSeconds", 0.1),
            ("coolDownSeconds", 0.0),
            ("planTimeoutSeconds", 1.0),
        ):
            name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in field)
            if not getattr(self, name) >= least:
                raise ValueError(f"{field}: must be at least {least:g}")

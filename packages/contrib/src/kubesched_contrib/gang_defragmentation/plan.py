"""Plans: which pods leave their nodes, and where the gang's pods go; and the proof that the scheduler agrees.

From the solver's plan to one that the engine has accepted, or to its objections. The gang's pods are put on their
nodes one by one, if all filters accept them; then the scheduler must find a node for every moved pod, as it will when
the pod's controller has recreated it.
"""

import json
from typing import NamedTuple

from kubesched import ClusterView, PlacementTrials, PodInfo


class PlannedMove(NamedTuple):
    """A pod that leaves its node, and its new node."""

    pod: PodInfo
    source: str
    target: str


class PlannedPlace(NamedTuple):
    """A pod of the gang, and its node."""

    pod: PodInfo
    node_name: str


class DefragmentationPlan(NamedTuple):
    """The moves that make room for a gang, and the places of its pods."""

    gang: str
    moves: tuple[PlannedMove, ...]
    places: tuple[PlannedPlace, ...]

    @property
    def sentence(self) -> str:
        """Return the plan in words."""
        moves = ", ".join(f"{move.pod.full_name} from {move.source} to {move.target}" for move in self.moves)
        return f"moving {_pods(len(self.moves))} would make room for PodGroup {self.gang}: {moves}"

    def as_json(self) -> str:
        """Return the plan for an annotation."""
        moves = [{"pod": move.pod.full_name, "from": move.source, "to": move.target} for move in self.moves]
        places = [{"pod": place.pod.full_name, "node": place.node_name} for place in self.places]
        return json.dumps({"moves": moves, "places": places})


class Refutation(NamedTuple):
    """Why a plan fails: a moved pod finds no node, or a node refuses a pod of the gang; with neither, the plan is
    stale.
    """

    moved: PodInfo | None = None
    place: PlannedPlace | None = None


def prove(plan: DefragmentationPlan, cluster: ClusterView, trials: PlacementTrials) -> DefragmentationPlan | Refutation:
    """Return the plan with the nodes that the scheduler would choose for moved pods, or its refutation."""
    on_nodes, pending = cluster.pods, cluster.pending
    moved = [on_nodes.get(move.pod.uid) for move in plan.moves]
    if any(
        now is None or now.spec.node_name != move.source or now.terminating
        for now, move in zip(moved, plan.moves, strict=True)
    ) or any(place.pod.uid not in pending for place in plan.places):
        return Refutation()
    with trials.open() as trial:
        for move in plan.moves:
            trial.remove(on_nodes[move.pod.uid])
        for place in plan.places:
            pod = pending[place.pod.uid]
            if not trial.fits(pod, place.node_name):
                return Refutation(place=place)
            trial.place(pod, place.node_name)
        proved = []
        for move in sorted(plan.moves, key=lambda move: -move.pod.priority):
            target = trial.chosen_node(move.pod)
            if not target:
                return Refutation(moved=move.pod)
            trial.place(move.pod, target)
            proved.append(move._replace(target=target))
    return plan._replace(moves=tuple(proved))


def _pods(count: int) -> str:
    return "1 pod" if count == 1 else f"{count} pods"

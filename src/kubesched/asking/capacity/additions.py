"""Which nodes to add so that a target is reached.

From a filled cluster and the templates that lack replicas to nodes: how many of which kind, in which zones. They are
found by adding nodes to the filled cluster until the missing replicas fit, too; `capacity` then proves them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from kubesched.api.nodes import Node
from kubesched.asking.capacity.capacity_answer import NodeAddition, NodePlan, UselessKind
from kubesched.asking.capacity.filling import Filled, Filling
from kubesched.asking.capacity.node_kinds import ZONE, NodeKind
from kubesched.asking.templates.workload_template import WorkloadTemplate

# a plan with more nodes is not looked for
MOST_NODES: Final = 20_000
# where nodes are tried one by one, because each helps as the others allow
MOST_TRIED: Final = 300


class Shortfall(NamedTuple):
    """A template, and how many of its replicas fit nowhere."""

    template: WorkloadTemplate
    missing: int


# a kind in one of its zones
NewNode = tuple[NodeKind, int]


def nodes_for(
    filling: Filling, short: Sequence[Shortfall], kinds: Sequence[NodeKind]
) -> tuple[list[list[NewNode]], tuple[UselessKind, ...]]:
    """Return sets of nodes for the missing replicas, the cheapest first, and the kinds that do not help."""
    if len(short) > 1:
        # what is placed one by one is placed in every trial otherwise
        filling.settle()
    search = _Search(filling)
    sets: list[list[NewNode]] = []
    useless: list[UselessKind] = []
    for kind in kinds:
        found = search.nodes_of(kind, short)
        if found:
            sets.append(found)
        else:
            useless.append(UselessKind(kind.name, search.why_not(kind, short)))
    if not sets and len(short) > 1:
        sets += search.combined(short, kinds)
    return sorted(sets, key=_cost_of), tuple(useless)


def add_nodes(filling: Filling, nodes: Iterable[NewNode], first: int = 0) -> list[str]:
    """Add nodes to the cluster, until the filling ends; return their names."""
    names = []
    for number, (kind, zone) in enumerate(nodes, first):
        objects = kind.new_node(number, kind.zones[zone])
        filling.put(objects)
        names += [obj.name for obj in objects if isinstance(obj, Node)]
    return names


def plan_of(nodes: Sequence[NewNode]) -> NodePlan:
    """Return the plan to add some nodes."""
    times: Counter[NewNode] = Counter(nodes)
    additions = tuple(
        NodeAddition(kind.name, _zone_name(kind.zones[zone]), count, kind.price)
        for (kind, zone), count in sorted(times.items(), key=lambda item: (item[0][0].name, item[0][1]))
    )
    prices = [kind.price for kind, _ in nodes]
    total = None if None in prices else round(sum(price for price in prices if price is not None), 6)
    return NodePlan(additions, len(nodes), total)


class _Search:
    """Looks for nodes, from a filled cluster on."""

    def __init__(self, filling: Filling) -> None:
        self._filling = filling
        self._model = filling.model

    def nodes_of(self, kind: NodeKind, short: Sequence[Shortfall]) -> list[NewNode]:
        """Return the nodes of one kind that take all missing replicas, none if that kind does not."""
        gains = [self._gain([(kind, zone)], short) for zone in range(len(kind.zones))]
        helpful = [zone for zone, gain in enumerate(gains) if any(each.placed for each in gain)]
        if not helpful:
            return []
        if all(each.batched for gain in gains for each in gain):
            return self._by_arithmetic(kind, short, helpful, [gains[zone] for zone in helpful])
        return self._one_by_one(kind, short)

    def combined(self, short: Sequence[Shortfall], kinds: Sequence[NodeKind]) -> list[list[NewNode]]:
        """Return the set in which each template gets the kind that is cheapest for it; none if that is not enough."""
        chosen: list[NewNode] = []
        for each in short:
            found = [nodes for kind in kinds if (nodes := self.nodes_of(kind, [each]))]
            if not found:
                return []
            cheapest: list[NewNode] = min(found, key=_cost_of)
            chosen += cheapest
        return [chosen] if self._is_enough(chosen, short) else []

    def why_not(self, kind: NodeKind, short: Sequence[Shortfall]) -> str:
        """Return why new nodes of a kind do not take the replicas that are missing."""
        with self._filling.further() as trial:
            names = add_nodes(trial, [(kind, zone) for zone in range(len(kind.zones))])
            for template, missing in short:
                filled = trial.fill(template, missing)
                if filled.verdicts is not None and filled.placed < missing:
                    statuses = [filled.verdicts.status(self._model.cluster.table.row_of[name]) for name in names]
                    return "; ".join(dict.fromkeys(", ".join(status.reasons) for status in statuses))
        return ""

    # -- ways of searching

    def _by_arithmetic(
        self, kind: NodeKind, short: Sequence[Shortfall], zones: list[int], gains: list[list[Filled]]
    ) -> list[NewNode]:
        """Return the nodes, where each new node takes what it takes, whatever the others do."""
        needed = [
            _nodes_needed([gain[number].placed for gain in gains], each.missing) for number, each in enumerate(short)
        ]
        low, high = max(needed), sum(needed)
        if low > MOST_NODES:
            return []

        def nodes(count: int) -> list[NewNode]:
            return [(kind, zones[number % len(zones)]) for number in range(count)]

        # fewer than `low` are too few for one of the templates alone
        while low < high:
            middle = (low + high) // 2
            if self._is_enough(nodes(middle), short):
                high = middle
            else:
                low = middle + 1
        return nodes(low) if self._is_enough(nodes(low), short) else []

    def _one_by_one(self, kind: NodeKind, short: Sequence[Shortfall]) -> list[NewNode]:
        """Return the nodes, added one by one in the zone where the next one takes most."""
        chosen: list[NewNode] = []
        missing = list(short)
        with self._filling.further() as trial:
            here = _Search(trial)
            while missing and len(chosen) < MOST_TRIED:
                choices = [[(kind, zone)] for zone in range(len(kind.zones))]
                gains = [here._gained(choice, missing, len(chosen)) for choice in choices]
                best = max(range(len(gains)), key=gains.__getitem__)
                step = choices[best] if gains[best] else [(kind, zone) for zone in range(len(kind.zones))]
                add_nodes(trial, step, len(chosen))
                left = [Shortfall(template, count - trial.fill(template, count).placed) for template, count in missing]
                if left == missing:
                    return []
                missing = [each for each in left if each.missing]
                chosen += step
        return chosen if not missing else []

    # -- trials

    def _gain(self, nodes: Sequence[NewNode], short: Sequence[Shortfall], first: int = 0) -> list[Filled]:
        """Return what becomes of the missing replicas with some nodes more."""
        with self._filling.further() as trial:
            add_nodes(trial, nodes, first)
            return [
                trial.fill(template, missing, show=number + 1 < len(short))
                for number, (template, missing) in enumerate(short)
            ]

    def _gained(self, nodes: Sequence[NewNode], short: Sequence[Shortfall], first: int) -> int:
        return sum(filled.placed for filled in self._gain(nodes, short, first))

    def _is_enough(self, nodes: Sequence[NewNode], short: Sequence[Shortfall]) -> bool:
        gains = self._gain(nodes, short)
        return all(filled.placed >= each.missing for filled, each in zip(gains, short, strict=True))


def _nodes_needed(gains: Sequence[int], missing: int) -> int:
    """Return how many nodes take the missing replicas, if the nodes take turns in what they take."""
    a_round = sum(gains)
    if not a_round:
        return MOST_NODES + 1
    rounds, left = divmod(missing, a_round)
    count = rounds * len(gains)
    for gain in gains:
        if left <= 0:
            break
        left -= gain
        count += 1
    return count


def _zone_name(zone: Mapping[str, str]) -> str:
    return zone.get(ZONE, "") or next(iter(zone.values()), "")


def _cost_of(nodes: Sequence[NewNode]) -> tuple[bool, float, int, str]:
    return cost_of(plan_of(nodes))


def cost_of(plan: NodePlan) -> tuple[bool, float, int, str]:
    """Return the order of a plan: known prices first, by price, then by nodes."""
    return plan.price is None, plan.price or 0.0, plan.nodes, plan.additions[0].kind

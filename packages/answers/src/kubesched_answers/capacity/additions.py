"""Which nodes to add to reach a target.

From a filled cluster and the templates that lack replicas to nodes: how many of which kind, in which zones. The
search adds nodes to the filled cluster until the missing replicas fit, too; `capacity` then proves the plan.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from kubesched.api.nodes import Node
from kubesched_answers.capacity.capacity_answer import NodeAddition, NodePlan, UselessKind
from kubesched_answers.capacity.filling import Filled, Filling
from kubesched_answers.capacity.node_kinds import ZONE, NodeKind
from kubesched_answers.templates.workload_template import WorkloadTemplate

# the search ignores plans with more nodes
MOST_NODES: Final = 20_000


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
        # otherwise every trial would place the replicas that are placed one by one
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
    """Searches for nodes, starting from a filled cluster."""

    def __init__(self, filling: Filling) -> None:
        self._filling = filling
        self._model = filling.model

    def nodes_of(self, kind: NodeKind, short: Sequence[Shortfall]) -> list[NewNode]:
        """Return the nodes of one kind that take all missing replicas, none if that kind does not help."""
        gains = [self._gain([(kind, zone)], short) for zone in range(len(kind.zones))]
        if all(each.batched for gain in gains for each in gain):
            helpful = [zone for zone, gain in enumerate(gains) if any(each.placed for each in gain)]
            return self._by_arithmetic(kind, short, helpful, [gains[zone] for zone in helpful])
        return self._by_rounds(kind, short)

    def combined(self, short: Sequence[Shortfall], kinds: Sequence[NodeKind]) -> list[list[NewNode]]:
        """Return the set in which each template gets its cheapest kind, or nothing if that is not enough."""
        chosen: list[NewNode] = []
        for each in short:
            found = [nodes for kind in kinds if (nodes := self.nodes_of(kind, [each]))]
            if not found:
                return []
            cheapest: list[NewNode] = min(found, key=_cost_of)
            chosen += cheapest
        return [chosen] if self._is_enough(chosen, short) else []

    def why_not(self, kind: NodeKind, short: Sequence[Shortfall]) -> str:
        """Return why new nodes of a kind do not take the missing replicas."""
        with self._filling.further() as trial:
            names = add_nodes(trial, [(kind, zone) for zone in range(len(kind.zones))])
            for template, missing in short:
                filled = trial.fill(template, missing)
                if filled.batched and filled.placed:
                    continue
                if filled.verdicts is not None and filled.placed < missing:
                    statuses = [filled.verdicts.status(self._model.cluster.table.row_of[name]) for name in names]
                    return "; ".join(dict.fromkeys(", ".join(status.reasons) for status in statuses))
        return f"more than {MOST_NODES:,} nodes would be needed"

    # -- ways of searching

    def _by_arithmetic(
        self, kind: NodeKind, short: Sequence[Shortfall], zones: list[int], gains: list[list[Filled]]
    ) -> list[NewNode]:
        """Return the nodes if each new node takes a fixed number of replicas, independent of the other nodes."""
        needed = [
            _nodes_needed([gain[number].placed for gain in gains], each.missing) for number, each in enumerate(short)
        ]
        low, high = max(needed), sum(needed)
        if low > MOST_NODES:
            return []

        def nodes(count: int) -> list[NewNode]:
            return [(kind, zones[number % len(zones)]) for number in range(count)]

        # fewer than `low` are too few for one of the templates alone
        found = self._shortest(nodes(high), low, short)
        return found if self._is_enough(found, short) else []

    def _by_rounds(self, kind: NodeKind, short: Sequence[Shortfall]) -> list[NewNode]:
        """Return the nodes if the number of replicas of one depends on the rest: add in rounds, one in each
        helpful zone.
        """
        chosen: list[NewNode] = []
        missing = list(short)
        with self._filling.further() as trial:
            here = _Search(trial)
            while len(chosen) <= MOST_NODES:
                first = len(chosen)
                a_round = here._helpful(kind, missing, first)
                if here._is_enough(a_round, missing, first):
                    return chosen + here._shortest(a_round, 1, missing, first)
                left = here._added(a_round, missing, first)
                gain, rest = _total(missing) - _total(left), _total(left)
                if not gain:
                    return []
                # half of the remaining replicas at once, since later rounds may take less
                more = a_round * (rest // gain // 2)
                missing = here._added(more, left, first + len(a_round)) if more else left
                chosen += [*a_round, *more]
                if not missing:
                    return chosen
        return []

    def _helpful(self, kind: NodeKind, short: Sequence[Shortfall], first: int) -> list[NewNode]:
        """Return a node in each zone where another node takes replicas; if no single node helps, one in every
        zone.
        """
        every = [(kind, zone) for zone in range(len(kind.zones))]
        return [node for node in every if any(each.placed for each in self._gain([node], short, first))] or every

    def _added(self, nodes: Sequence[NewNode], short: Sequence[Shortfall], first: int) -> list[Shortfall]:
        """Add nodes permanently, place missing replicas, and return the replicas that are still missing."""
        add_nodes(self._filling, nodes, first)
        left = [Shortfall(each, missing - self._filling.fill(each, missing).placed) for each, missing in short]
        return [each for each in left if each.missing]

    def _shortest(self, nodes: list[NewNode], low: int, short: Sequence[Shortfall], first: int = 0) -> list[NewNode]:
        """Return the smallest sufficient prefix of the nodes, of at least `low` nodes."""
        high = len(nodes)
        while low < high:
            middle = (low + high) // 2
            if self._is_enough(nodes[:middle], short, first):
                high = middle
            else:
                low = middle + 1
        return nodes[:high]

    # -- trials

    def _gain(self, nodes: Sequence[NewNode], short: Sequence[Shortfall], first: int = 0) -> list[Filled]:
        """Return the replicas that are still missing with some more nodes."""
        with self._filling.further() as trial:
            add_nodes(trial, nodes, first)
            return [
                trial.fill(template, missing, show=number + 1 < len(short))
                for number, (template, missing) in enumerate(short)
            ]

    def _is_enough(self, nodes: Sequence[NewNode], short: Sequence[Shortfall], first: int = 0) -> bool:
        gains = self._gain(nodes, short, first)
        return all(filled.placed >= each.missing for filled, each in zip(gains, short, strict=True))


def _total(short: Iterable[Shortfall]) -> int:
    return sum(each.missing for each in short)


def _nodes_needed(gains: Sequence[int], missing: int) -> int:
    """Return how many nodes take the missing replicas, if nodes alternate between several capacities."""
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
    """Return the sort key of a plan: known prices first, by price, then by nodes."""
    return plan.price is None, plan.price or 0.0, plan.nodes, plan.additions[0].kind

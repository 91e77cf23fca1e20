"""How many replicas fit, per zone and pool, what runs out first, and which nodes to add for a target.

From a model and templates to a `CapacityAnswer`. The templates are filled in order, each until its target or until no
more of it fit; or in rounds, with a number of replicas of each template by its weight, until one fits nowhere. Pods
are not preempted.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from kubesched.api.nodes import Node
from kubesched.core.scheduling.outcomes import Failed
from kubesched.errors import KubeschedError
from kubesched.model.cluster_model import ClusterModel, UnknownObjectError, nearest
from kubesched_answers.capacity.additions import NewNode, Shortfall, add_nodes, cost_of, nodes_for, plan_of
from kubesched_answers.capacity.assumptions import bound_later, counted_alone, held_back
from kubesched_answers.capacity.capacity_answer import (
    BY_WEIGHTS,
    IN_ORDER,
    CapacityAnswer,
    LargestPod,
    NodePlan,
    PlaceCapacity,
    TemplateCapacity,
    UselessKind,
)
from kubesched_answers.capacity.filling import MOST_ONE_BY_ONE, PROGRESS_EVERY, Filled, Filling, Progress, profile_of
from kubesched_answers.capacity.headroom import largest_pods
from kubesched_answers.capacity.node_kinds import (
    ZONE,
    NodePrices,
    kinds_of_cluster,
    kinds_of_manifests,
    pool_label_of,
)
from kubesched_answers.capacity.node_limits import node_limits
from kubesched_answers.capacity.pod_requests import as_texts, requests_of
from kubesched_answers.capacity.quota_limits import QuotaLimits, QuotaRounds
from kubesched_answers.capacity.sentences import summary_of
from kubesched_answers.quotas import QuotaLimit
from kubesched_answers.templates.reading import WorkloadTemplates
from kubesched_answers.templates.workload_template import WorkloadTemplate
from kubesched_controlplane.api.documents import Document

# a plan that turns out too small is tried with more nodes, at most by this factor
MOST_TIMES: Final = 8
# for larger targets only one plan is proven
MOST_TRIED_REPLICAS: Final = 5_000


@dataclass(frozen=True, slots=True)
class CapacityOptions:
    """The question: the target of each template (or of rounds), the weights, and the nodes that may be added.

    `own_replicas`: each workload's replicas are its target. Without `node_templates` the kinds of node that the
    cluster has may be added.
    """

    until: int | None = None
    own_replicas: bool = False
    weights: tuple[int, ...] = ()
    pool_label: str = ""
    node_templates: tuple[Node, ...] = ()
    prices: NodePrices = field(default_factory=NodePrices)

    def target_of(self, template: WorkloadTemplate) -> int | None:
        """Return the target of a template without weights, None for as many replicas as fit."""
        return template.replicas if self.own_replicas else self.until


def capacity(
    model: ClusterModel,
    found: WorkloadTemplates,
    options: CapacityOptions | None = None,
    progress: Progress = lambda what, count: None,
) -> CapacityAnswer:
    """Return how many replicas of templates fit; the model is unchanged at the end."""
    options = options or CapacityOptions()
    _check(found.templates, options)
    _check_labels(model, options)
    with model.fork(found.others):
        templates, gangs = counted_alone(model, found.templates)
        changes, gaps = bound_later(model, templates)
        with model.fork(changes):
            answer = _Question(model, templates, found.quotas, options, progress).answer()
            gaps = (*answer.gaps, *found.gaps, *gaps, *held_back(model, templates))
    replicas = [part.replicas for part in answer.templates]
    too_few = [sentence for gang in gangs if (sentence := gang.sentence(replicas))]
    return replace(answer, fits=answer.fits and not too_few, summary=" ".join([answer.summary, *too_few]), gaps=gaps)


class _Question:
    """One question about capacity, while the answer is computed."""

    def __init__(
        self,
        model: ClusterModel,
        templates: Sequence[WorkloadTemplate],
        quotas: Iterable[Document],
        options: CapacityOptions,
        progress: Progress,
    ) -> None:
        self._model = model
        self._templates = templates
        self._options = options
        self._progress = progress
        self._nodes = [node for node in model.cluster.table.nodes if node is not None]
        self._pool_label = options.pool_label or pool_label_of(self._nodes)
        for template in templates:
            profile_of(model, model.read(template.pod))
        self._quotas = QuotaLimits(model, templates, quotas)

    def answer(self) -> CapacityAnswer:
        """Return the answer."""
        largest = [largest_pods(self._model, template) for template in self._templates]
        with Filling(self._model, self._progress) as filling:
            rounds, filled, quotas = self._fill(filling)
            parts = tuple(map(self._part, range(len(filled)), filled, largest, quotas))
            # nodes do not help against quotas
            sets, useless = ([], ()) if any(quotas) else self._nodes_to_add(filling, parts)
        certain = len(parts) == 1 and parts[0].in_batch
        plans = tuple(map(plan_of, sets)) if certain else self._proven(sets)
        if any(part.wanted is not None for part in parts):
            fits = not any(part.missing for part in parts)
        else:
            fits = all(part.replicas for part in parts)
        answer = CapacityAnswer(
            summary="",
            fits=fits,
            order=BY_WEIGHTS if self._options.weights else IN_ORDER,
            node_count=len(self._nodes),
            pool_label=self._pool_label,
            templates=parts,
            rounds=rounds,
            plans=plans,
            useless=useless,
            gaps=self._model.gaps,
        )
        return replace(answer, summary=summary_of(answer))

    def _fill(self, filling: Filling) -> tuple[int | None, list[Filled], list[QuotaLimit | None]]:
        """Return the number of whole rounds, None without weights, and each template's outcome with its quota."""
        if self._options.weights:
            return self._by_weights(filling)
        room = self._quotas.start()
        filled: list[Filled] = []
        quotas: list[QuotaLimit | None] = []
        for template in self._templates:
            limit = self._quotas.limit(room, template)
            running = int(filling.running(template).sum()) if template.per_node else 0
            found, quota = self._fill_with(filling, template, limit, running)
            self._quotas.charge(room, template, found.placed - running)
            filled.append(found)
            quotas.append(quota)
        return None, filled, quotas

    def _fill_with(
        self, filling: Filling, template: WorkloadTemplate, limit: QuotaLimit | None, running: int
    ) -> tuple[Filled, QuotaLimit | None]:
        """Place replicas of a template, no more than its quota allows; return the outcome and that quota.

        The quota is None if it matters neither for the next replica nor for the target.
        """
        target = self._options.target_of(template)
        if limit is None:
            return filling.fill(template, target), None
        if not template.per_node:
            allowed = limit.allows if target is None else min(target, limit.allows)
            found = filling.fill(template, allowed)
            matters = limit.allows < target if target is not None else found.placed == limit.allows
            return found, limit if matters else None
        found = filling.fill(template)
        if found.placed - running <= limit.allows:
            return found, None
        # the order in which nodes get their pods is unknown
        return Filled(running + limit.allows, None), limit

    def _by_weights(self, filling: Filling) -> tuple[int, list[Filled], list[QuotaLimit | None]]:
        """Return the number of whole rounds, and for each template the outcome and the quota that rejects it."""
        table, weights = self._model.cluster.table, self._options.weights
        counts = [np.zeros(table.size, np.int64) for _ in weights]
        turns = [number for number, weight in enumerate(weights) for _ in range(weight)]
        room = QuotaRounds(self._quotas, self._templates, weights)
        quotas: list[QuotaLimit | None] = [None] * len(weights)
        rounds = placed = 0
        failed: tuple[int, Failed] | None = None
        while failed is None and not any(quotas) and rounds != self._options.until and placed < MOST_ONE_BY_ONE:
            room.begin(rounds)
            for number in turns:
                quotas[number] = room.refusal(number, int(counts[number].sum()))
                if quotas[number] is not None:
                    break
                outcome = filling.place(self._templates[number])
                if isinstance(outcome, Failed):
                    failed = number, outcome
                    break
                counts[number][table.row_of[outcome.node_name]] += 1
                placed += 1
                if placed % PROGRESS_EVERY == 0:
                    self._progress(f"round {rounds + 1}", placed)
            else:
                rounds += 1
        filled = [Filled(int(each.sum()), each, open_end=placed >= MOST_ONE_BY_ONE) for each in counts]
        if failed is not None:
            number, outcome = failed
            verdicts, message = filling.why_not(outcome)
            filled[number] = filled[number]._replace(verdicts=verdicts, message=message)
        return rounds, filled, quotas

    def _nodes_to_add(
        self, filling: Filling, parts: Sequence[TemplateCapacity]
    ) -> tuple[list[list[NewNode]], tuple[UselessKind, ...]]:
        """Return which nodes to add for the missing replicas; a DaemonSet gets no additional node."""
        short = [
            Shortfall(template, part.missing)
            for template, part in zip(self._templates, parts, strict=True)
            if part.missing and not template.per_node
        ]
        if not short:
            return [], ()
        options = self._options
        if options.node_templates:
            kinds = kinds_of_manifests(self._model, options.node_templates, options.prices)
        else:
            kinds = kinds_of_cluster(self._model, self._pool_label, options.prices)
        return nodes_for(filling, short, kinds)

    def _proven(self, sets: Sequence[Sequence[NewNode]]) -> tuple[NodePlan, ...]:
        """Return plans with which the target is reached from the first replica on.

        The search found the nodes on the filled cluster: pods that look at several nodes, or compete, may need other
        nodes.
        """
        plans: list[NodePlan] = []
        for nodes in sets:
            if plans and self._is_long:
                break
            enough = self._fewest(nodes)
            if enough:
                plans.append(plan_of(enough))
        return tuple(sorted(plans, key=cost_of))

    def _fewest(self, nodes: Sequence[NewNode]) -> Sequence[NewNode]:
        """Return the fewest nodes of the given kinds, with zones in rotation, that are enough; none if there is no
        such number.
        """
        if self._is_enough(nodes):
            return nodes
        by_turns = [*nodes, *(list(dict.fromkeys(nodes)) * len(nodes) * MOST_TIMES)]
        low = high = len(nodes)
        while not self._is_enough(by_turns[:high]):
            low, high = high, 2 * high
            if high > MOST_TIMES * len(nodes):
                return ()
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._is_enough(by_turns[:middle]) else (middle, high)
        return by_turns[:high]

    @property
    def _is_long(self) -> bool:
        """Return whether a trial takes so long that one plan has to be enough."""
        wanted = [self._wanted(template, weight) for template, weight in self._weighted()]
        return sum(each or 0 for each in wanted) > MOST_TRIED_REPLICAS

    def _is_enough(self, nodes: Sequence[NewNode]) -> bool:
        with Filling(self._model, self._progress) as trial:
            add_nodes(trial, nodes)
            _, filled, _ = self._fill(trial)
            wanted = [
                0 if template.per_node else self._wanted(template, weight) for template, weight in self._weighted()
            ]
        return all(each.placed >= (target or 0) for each, target in zip(filled, wanted, strict=True))

    def _weighted(self) -> list[tuple[WorkloadTemplate, int | None]]:
        weights: Sequence[int | None] = self._options.weights or [None] * len(self._templates)
        return list(zip(self._templates, weights, strict=True))

    # -- parts of the answer

    def _part(
        self, number: int, filled: Filled, largest: tuple[LargestPod, ...], quota: QuotaLimit | None
    ) -> TemplateCapacity:
        template, table = self._templates[number], self._model.cluster.table
        weight = self._options.weights[number] if self._options.weights else None
        counts = filled.counts
        by_node = None
        if counts is not None:
            by_node = {table.names[row]: int(counts[row]) for row in np.flatnonzero(counts).tolist()}
        return TemplateCapacity(
            template=str(template),
            replicas=filled.placed,
            wanted=self._wanted(template, weight),
            weight=weight,
            open_end=filled.open_end,
            in_batch=filled.batched,
            requests=as_texts(requests_of(self._model.read(template.pod))),
            zones=None if by_node is None else self._places(ZONE, by_node),
            pools=None if by_node is None or not self._pool_label else self._places(self._pool_label, by_node),
            nodes=by_node,
            limits=() if filled.verdicts is None else node_limits(self._model, template, filled.verdicts, counts),
            message=filled.message or (quota.message if quota is not None else ""),
            largest=largest,
            quota=quota,
        )

    def _wanted(self, template: WorkloadTemplate, weight: int | None) -> int | None:
        if template.per_node:
            return sum(template.wants(node) for node in self._nodes)
        if weight is not None:
            return None if self._options.until is None else self._options.until * weight
        return self._options.target_of(template)

    def _places(self, label: str, by_node: Mapping[str, int]) -> tuple[PlaceCapacity, ...]:
        """Return the replicas by the values of a label, with the nodes that lack it last."""
        nodes: Counter[str] = Counter()
        replicas: Counter[str] = Counter()
        for node in self._nodes:
            value = node.metadata.labels.get(label, "")
            nodes[value] += 1
            replicas[value] += by_node.get(node.name, 0)
        names = sorted(nodes, key=lambda name: (not name, name))
        return tuple(PlaceCapacity(name, nodes[name], replicas[name]) for name in names)


def _check(templates: Sequence[WorkloadTemplate], options: CapacityOptions) -> None:
    """Raise KubeschedError if the question makes no sense."""
    if not templates:
        raise KubeschedError("no workload to count: give a Pod, Deployment, StatefulSet, Job or DaemonSet")
    if not options.weights:
        return
    if len(options.weights) != len(templates):
        named = ", ".join(map(str, templates))
        raise KubeschedError(f"{len(options.weights)} weights for {len(templates)} workloads: {named}")
    for template in templates:
        if template.per_node:
            raise KubeschedError(
                f"{template} has no weight: it runs one pod a node; leave out the DaemonSet or the weights"
            )
    if min(options.weights) < 0 or not any(options.weights):
        raise KubeschedError("weights must be whole numbers, and at least one of them above zero")
    if sum(options.weights) > MOST_ONE_BY_ONE:
        raise KubeschedError(
            f"weights of {sum(options.weights)} together are too many: at most {MOST_ONE_BY_ONE} are possible"
        )


def _check_labels(model: ClusterModel, options: CapacityOptions) -> None:
    """Raise UnknownObjectError for a label of pools or prices that no node has."""
    nodes = [*(node for node in model.cluster.table.nodes if node is not None), *options.node_templates]
    known = {key for node in nodes for key in node.metadata.labels}
    prices = options.prices
    for what, label in (("pools", options.pool_label), ("prices", prices.label)):
        if nodes and label and label not in known:
            raise UnknownObjectError(f"no node has the label {label} for {what}{nearest(label, known)}")
    if nodes and prices.table and all(prices.of(node) is None for node in nodes):
        values = {value for node in nodes if (value := node.metadata.labels.get(prices.column))}
        told = f"it is {' or '.join(sorted(values)[:3])}" if values else "no node has it"
        raise UnknownObjectError(f"no price is for a node of this cluster; prices are by label {prices.column}: {told}")

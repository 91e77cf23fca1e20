"""From a pod to its evaluation: which class it is of, which nodes can take it, how good they are.

One evaluator per profile. It finds a pod's class, brings the class's columns up to date and hands out an `Evaluation`,
which answers for this pod in this cycle and is not kept beyond it.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, TypeVar

from kubesched.common.recent import Recent
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.evaluation.memory import Memories, Memory, TemplateKeys
from kubesched.core.evaluation.pod_class import PodClass, Weighted
from kubesched.core.evaluation.questioner import PreFilterOnly, PreScoreOnly
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.calling.hooks import failed, is_interrupt
from kubesched.core.framework.columns.questions import FilterQuestion, Question, ScoreQuestion
from kubesched.core.framework.observing.observer import UNTIMED, Stopwatch
from kubesched.core.framework.plugin import UNCACHED, FilterPlugin, Plugin, ScorePlugin
from kubesched.core.framework.values.cycle import CycleState

Q = TypeVar("Q", bound=Question)
# the key under which a question is kept (None: it is not kept), the question, and whether it is new
Found = tuple[Hashable, Q, bool]

# Stands for the key of pods with a question that is not kept: their classes are not kept either.
UNKEPT = TemplateKeys()


class Evaluator:
    """Evaluates pods under one profile."""

    def __init__(self, profile: Profile, cluster: ClusterState) -> None:
        self.profile = profile
        self.cluster = cluster
        # One question for each plugin at Filter or PreFilter; a plugin at PreFilter only never rejects a row.
        filtering = {plugin.name for plugin in profile.filter}
        only_pre_filter = [plugin for plugin in profile.pre_filter if plugin.name not in filtering]
        self._asking: tuple[FilterPlugin, ...] = (
            *profile.filter,
            *(p if isinstance(p, FilterPlugin) else PreFilterOnly(p) for p in only_pre_filter),
        )
        self._pre_filter_order = _positions(profile.pre_filter, self._asking)
        # The same for scoring.
        scoring = {plugin.name for plugin in profile.score}
        only_pre_score = [plugin for plugin in profile.pre_score if plugin.name not in scoring]
        self._scoring: tuple[ScorePlugin, ...] = (
            *profile.score,
            *(p if isinstance(p, ScorePlugin) else PreScoreOnly(p) for p in only_pre_score),
        )
        self._pre_score_order = _positions(profile.pre_score, self._scoring)
        # Looked up once, because every pod needs them. Bound methods would hash slowly.
        self._own_keys: list[Callable[[PodInfo], Hashable]] = [
            *(plugin.key for plugin in self._asking if not plugin.key_of_template),
            *(plugin.score_key for plugin in self._scoring if not plugin.score_key_of_template),
        ]
        self._template_of = lambda pod: self._template_keys(pod)
        self._memories = Memories(profile, cluster.table)
        self._ordinary, self._heavy = self._memories.all()

    def forget_unused(self) -> int:
        """Forget what no pod used since the last call; return how many entries there were."""
        return sum(memory.forget_unused() for memory in self._memories.all())

    def evaluation_of(
        self, pod: PodInfo, stopwatch: Stopwatch = UNTIMED, group_state: CycleState | None = None
    ) -> Evaluation:
        """Return the evaluation of a pod on the current table; a stopwatch gets the durations.

        `group_state` is the group's cycle state, if the pod is tried as a member of its group.
        """
        for memory in (self._ordinary, self._heavy):
            if memory.statuses.full:
                memory.start()
        began = stopwatch.now()
        cycle = CycleState(group_state)
        # plugins are timed one by one in sampled cycles only
        pod_class = self._class_of(pod, cycle, stopwatch if stopwatch.sampled else UNTIMED)
        return Evaluation(self.cluster, pod_class.statuses, pod, pod_class, cycle, stopwatch, began)

    # -- classes

    def _class_of(self, pod: PodInfo, cycle: CycleState, stopwatch: Stopwatch) -> PodClass:
        try:
            template = pod.derive(self._template_of)
            if template is UNKEPT:
                return self._new_class(UNKEPT, pod, cycle, stopwatch)
            class_key = (template, tuple([key(pod) for key in self._own_keys]))
            known = self._ordinary.classes.get(class_key) or self._heavy.classes.get(class_key)
        except BaseException as raised:
            if is_interrupt(raised):
                raise
            # the key of a plugin raised an exception; the plugin's question reports it
            return self._new_class(None, pod, cycle, stopwatch)
        return known if known is not None else self._new_class(class_key, pod, cycle, stopwatch)

    def _new_class(self, class_key: Hashable, pod: PodInfo, cycle: CycleState, stopwatch: Stopwatch) -> PodClass:
        """Return a new class, remembered under its key if it may be, and its new questions."""
        memory, weight = self._memories.of(pod)
        asked = Asked(memory, weight, pod, cycle, stopwatch)
        filters = [self._filter_question(i, plugin, asked) for i, plugin in enumerate(self._asking)]
        questions = [question for _, question, _ in filters]
        made = PodClass(
            memory.columns,
            memory.statuses,
            [questions[i] for i in self._pre_filter_order],
            questions[: len(self.profile.filter)],
            lambda: self._score_questions(asked)[0],
        )
        if class_key is None:
            return made
        memory.adapt()
        # A question that narrows the pod to some nodes belongs to this pod alone; the other questions are shared.
        shared = [found for found in filters if found[1].node_names is None]
        kept = _keep(memory.filters, shared, weight) and class_key is not UNKEPT
        if kept and len(shared) == len(filters):
            scores, kept = self._score_questions(asked)
            made.take_scores(*scores)
            if kept:
                memory.classes.put(class_key, made, weight)
        return made

    def _score_questions(self, asked: "Asked") -> tuple[tuple[Sequence[ScoreQuestion], Sequence[Weighted]], bool]:
        """Return the questions of PreScore, the questions of Score with their weights, and whether all are cached."""
        found = [self._score_question(i, plugin, asked) for i, plugin in enumerate(self._scoring)]
        kept = _keep(asked.memory.scores, found, asked.weight)
        scores = [question for _, question, _ in found[: len(self.profile.score)]]
        weights = self.profile.weights
        in_order = [found[i][1] for i in self._pre_score_order], [(q, weights[q.plugin.name]) for q in scores]
        return in_order, kept

    def _filter_question(self, index: int, plugin: FilterPlugin, asked: "Asked") -> Found[FilterQuestion]:
        memory, _, pod, cycle, stopwatch = asked
        key: Hashable = UNCACHED
        try:
            key = plugin.key(pod)
            known = memory.filters.get((index, key)) if key is not UNCACHED else None
        except BaseException as raised:
            return (
                None,
                memory.questioner.failing_filter(plugin, pod, failed(plugin, "key", _plainly(raised, key))),
                True,
            )
        if key is UNCACHED:
            return None, memory.questioner.filter_question(plugin, pod, cycle, stopwatch), True
        if known is not None and known.keep:
            return (index, key), known, False
        # a kept question outlives the cycle, so it gets a separate state
        made = memory.questioner.filter_question(plugin, pod, CycleState(), stopwatch)
        self._outlive_cycle(memory, made)
        return (index, key), made, True

    def _score_question(self, index: int, plugin: ScorePlugin, asked: "Asked") -> Found[ScoreQuestion]:
        memory, _, pod, cycle, stopwatch = asked
        key: Hashable = UNCACHED
        try:
            key = plugin.score_key(pod)
            known = memory.scores.get((index, key)) if key is not UNCACHED else None
        except BaseException as raised:
            return (
                None,
                memory.questioner.failing_score(plugin, pod, failed(plugin, "score_key", _plainly(raised, key))),
                True,
            )
        if key is UNCACHED:
            return None, memory.questioner.score_question(plugin, pod, cycle, stopwatch), True
        if known is not None and known.keep:
            return (index, key), known, False
        made = memory.questioner.score_question(plugin, pod, CycleState(), stopwatch)
        self._outlive_cycle(memory, made)
        return (index, key), made, True

    def _outlive_cycle(self, memory: Memory, question: FilterQuestion | ScoreQuestion) -> None:
        """Keep a new question up to date; classes that share it are rebuilt if its plugin fails."""
        question.outlive_cycle(memory.classes.clear, trusted=question.plugin.in_tree)

    def _template_keys(self, pod: PodInfo) -> TemplateKeys:
        filters = tuple([plugin.key(pod) for plugin in self._asking if plugin.key_of_template])
        if any(key is UNCACHED for key in filters):
            return UNKEPT
        scores = tuple(plugin.score_key(pod) for plugin in self._scoring if plugin.score_key_of_template)
        memory, weight = self._memories.of(pod)
        known = memory.templates.get((filters, scores))
        if known is None:
            known = TemplateKeys()
            memory.templates.put((filters, scores), known, weight)
        return known


class Asked(NamedTuple):
    """For which pod a class is made, in which cycle; and where its questions are remembered, with which weight."""

    memory: Memory
    weight: int
    pod: PodInfo
    cycle: CycleState
    stopwatch: Stopwatch


def _keep(known: Recent[Hashable, Q], found: Sequence[Found[Q]], weight: int) -> bool:
    """Remember the new questions that may be kept; return whether all may.

    One whose plugin failed may not: it is asked again.
    """
    kept = True
    for key, question, new in found:
        if key is None or not question.keep:
            kept = False
        elif new:
            known.put(key, question, weight)
    return kept


def _plainly(raised: BaseException, key: Hashable) -> BaseException:
    """Return the error of a key that cannot be hashed without the tuple around it, which Python 3.14 names."""
    if isinstance(raised, TypeError):
        try:
            hash(key)
        except Exception as unhashable:
            return unhashable
    return raised


def _positions(some: Sequence[Plugin], among: Sequence[Plugin]) -> list[int]:
    """Return where in `among` the plugins in `some` are, by name."""
    position = {plugin.name: index for index, plugin in enumerate(among)}
    return [position[plugin.name] for plugin in some]

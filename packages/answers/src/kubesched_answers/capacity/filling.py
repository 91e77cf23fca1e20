"""Filling a cluster with the pods of templates, and undoing it.

From templates to how many of their pods fit, on which nodes, and why no more. Pods are placed in batches if the
result is the same as one by one (`row_filling`), else one by one by the scheduling cycle.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Final, NamedTuple

import msgspec
import numpy as np

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.results.messages import fit_error_message, verdict_reasons
from kubesched.core.framework.results.outcomes import NodeVerdicts
from kubesched.core.scheduling.outcomes import Failed, Placed, Skipped
from kubesched.errors import KubeschedError
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.capacity.row_filling import Counts, PodBatch, fill_rows, is_row_local
from kubesched_answers.placing import Placer
from kubesched_answers.templates.workload_template import NewPod, WorkloadTemplate

# limit on the pods that are placed one by one; a count that reaches it is a lower bound
MOST_ONE_BY_ONE: Final = 200_000
# If a target is reached before the cluster is full, up to this number of pods are placed to find their nodes.
MOST_SHOWN: Final = 10_000
PROGRESS_EVERY: Final = 500

# called with the name of the template, and the number of placed pods
Progress = Callable[[str, int], None]


class Filled(NamedTuple):
    """The outcome for one template.

    `counts` are the pods on each row, None if their nodes are unknown. `verdicts` are the reasons why no more fit,
    None if the target was reached. `open_end`: more may fit.
    """

    placed: int
    counts: Counts | None
    verdicts: NodeVerdicts | None = None
    message: str = ""
    batched: bool = False
    open_end: bool = False


class Filling:
    """Fills a model with pods, until it is closed; then the model is as before."""

    def __init__(self, model: ClusterModel, progress: Progress = lambda what, count: None) -> None:
        self.model = model
        self._progress = progress
        self._placer = Placer(model, preempts=False)
        self._batches: list[PodBatch] = []
        # the next pods of each template
        self._pods: dict[WorkloadTemplate, Iterator[NewPod]] = {}
        # undone in reverse order
        self._stack = ExitStack()
        self._stack.callback(self._placer.undo)

    def __enter__(self) -> "Filling":
        return self

    def __exit__(self, *raised: object) -> None:
        self._stack.close()

    def further(self) -> "Filling":
        """Return a filling that continues from here, and whose end removes only its own pods."""
        more = Filling(self.model, self._progress)
        more._batches = list(self._batches)
        more._pods = self._pods
        return more

    # -- filling

    def fill(self, template: WorkloadTemplate, target: int | None = None, *, show: bool = True) -> Filled:
        """Place pods of a template until the target is reached, or no more fit.

        Without `show` their nodes do not matter: they may only be counted, and no other filling may follow.
        """
        if template.per_node:
            return self._run_on_nodes(template)
        if self._are_equal(template):
            evaluation, profile = self._evaluation(next(template.new_pods(self.model)))
            if is_row_local(evaluation, profile):
                batch = self._batch(evaluation)
                if target is None or batch.placed <= target:
                    return batch
                self._batches.pop()
                if not show or target > MOST_SHOWN:
                    return Filled(target, None, batched=True)
        return self._one_by_one(template, target)

    def place(self, template: WorkloadTemplate) -> Placed | Failed:
        """Place the next pod of a template."""
        self.settle()
        pods = self._pods.setdefault(template, template.new_pods(self.model))
        return self._place(next(pods))

    def why_not(self, failed: Failed) -> tuple[NodeVerdicts, str]:
        """Return why no node takes the pod of a failed attempt, and the message without preemption's part."""
        evaluation = self.model.engine.evaluation_of(failed.queued.pod)
        verdicts = evaluation.verdicts()
        if evaluation.pre_filtered.rejection is None and evaluation.feasible().count:
            # Reserve or Permit rejected it, or an error ended the cycle
            return verdicts, failed.message
        return verdicts, self._message(evaluation, verdicts)

    def put(self, objects: Sequence[ApiObject]) -> None:
        """Put objects into the cluster, until the end."""
        for obj in objects:
            self._placer.put(obj)

    # -- ways of placing

    def _evaluation(self, new: NewPod) -> tuple[Evaluation, Profile]:
        pod = self.model.read(new.pod)
        return self.model.engine.evaluation_of(pod), profile_of(self.model, pod)

    def _are_equal(self, template: WorkloadTemplate) -> bool:
        """Return whether filters see no difference between the pods of a template.

        Pods with separate claims differ. Labels with a number make a difference if a placed pod repels other pods.
        """
        if template.brings_claims:
            return False
        pods = self.model.cluster.table.pods.values()
        return not template.numbers_its_pods or not any(pod.digest.affinity.required_anti_affinity for pod in pods)

    def _batch(self, evaluation: Evaluation) -> Filled:
        """Count the pods that fit on each row, and keep them as a batch."""
        self._stack.enter_context(self.model.cluster.holding((evaluation.pod,)))
        fill = fill_rows(evaluation, self._batches)
        self._batches.append(PodBatch(evaluation.pod, fill.counts))
        message = self._message(evaluation, fill.verdicts)
        return Filled(int(fill.counts.sum()), fill.counts, fill.verdicts, message, True, fill.endless)

    def _message(self, evaluation: Evaluation, verdicts: NodeVerdicts) -> str:
        rejection = evaluation.pre_filtered.rejection
        reasons = verdict_reasons(verdicts, evaluation.present())
        return fit_error_message(evaluation.node_count, reasons, rejection.message if rejection is not None else "")

    def _one_by_one(self, template: WorkloadTemplate, target: int | None) -> Filled:
        table = self.model.cluster.table
        counts = np.zeros(table.size, np.int64)
        most = MOST_ONE_BY_ONE if target is None else target
        for placed in range(most):
            if placed and placed % PROGRESS_EVERY == 0:
                self._progress(str(template), placed)
            outcome = self.place(template)
            if isinstance(outcome, Failed):
                return Filled(placed, counts, *self.why_not(outcome))
            counts[table.row_of[outcome.node_name]] += 1
        return Filled(most, counts, open_end=target is None)

    def _place(self, new: NewPod) -> Placed | Failed:
        pod = self.model.read(new.pod)
        self.put(new.objects)
        outcome = self._placer.place(pod)
        if isinstance(outcome, Skipped):
            raise KubeschedError(f"pod {pod.full_name} is not scheduled: {outcome.note or 'it is on a node already'}")
        return outcome

    def settle(self) -> None:
        """Place the pods of batches on their nodes, since pods placed one by one depend on the table."""
        batches, self._batches = self._batches, []
        cluster, names = self.model.cluster, self.model.cluster.table.names
        for number, batch in enumerate(batches):
            for row in np.flatnonzero(batch.counts).tolist():
                for turn in range(int(batch.counts[row])):
                    pod = _renamed(batch.pod, f"{batch.pod.name}-{number}-{names[row]}-{turn}")
                    cluster.assume(self.model.read(pod), names[row])
                    self._stack.callback(cluster.remove_pod, pod.uid)

    # -- daemon sets

    def _run_on_nodes(self, template: WorkloadTemplate) -> Filled:
        """Place a daemon pod on each node that should run one and does not yet; running ones count, too."""
        table = self.model.cluster.table
        running = self.running(template)
        wanted = np.zeros(table.size, np.bool_)
        for row in table.present_rows().tolist():
            node = table.nodes[row]
            wanted[row] = node is not None and not running[row] and template.wants(node)
        evaluation, profile = self._evaluation(NewPod(template.pod))
        if self._are_equal(template) and is_row_local(evaluation, profile):
            self._stack.enter_context(self.model.cluster.holding((evaluation.pod,)))
            fill = fill_rows(evaluation, self._batches)
            counts = np.minimum(fill.counts, wanted)
            self._batches.append(PodBatch(evaluation.pod, counts))
            judged = wanted if fill.verdicts.judged is None else wanted & fill.verdicts.judged
            verdicts = msgspec.structs.replace(fill.verdicts, judged=judged & (counts == 0))
            return Filled(int(counts.sum() + running.sum()), counts + running, verdicts, batched=True)
        self.settle()
        return self._node_by_node(template, np.flatnonzero(wanted).tolist(), running, evaluation)

    def running(self, template: WorkloadTemplate) -> Counts:
        """Return the rows on which a daemon set runs a pod already."""
        table, workload = self.model.cluster.table, template.workload
        running = np.zeros(table.size, np.int64)
        for pod in table.pods.values():
            owners = pod.metadata.owner_references
            if pod.namespace == workload.namespace and any(
                owner.controller and (owner.kind, owner.name) == (workload.kind, workload.name) for owner in owners
            ):
                running[table.slots.row_of(pod.slot)] = 1
        return running

    def _node_by_node(
        self, template: WorkloadTemplate, rows: list[int], running: Counts, evaluation: Evaluation
    ) -> Filled:
        table = self.model.cluster.table
        counts = running.copy()
        ids, judged = np.zeros(table.size, np.int16), np.zeros(table.size, np.bool_)
        for row in rows:
            outcome = self._place(template.pod_for_node(table.names[row]))
            if isinstance(outcome, Placed):
                counts[row] = 1
                continue
            status = self.why_not(outcome)[0].status(row)
            judged[row], ids[row] = True, evaluation.statuses.intern(status, status.plugin)
        verdicts = NodeVerdicts(ids, judged, evaluation.verdicts().absent, evaluation.statuses)
        return Filled(int(counts.sum()), counts, verdicts)


def profile_of(model: ClusterModel, pod: PodInfo) -> Profile:
    """Return the profile that schedules a pod; raises KubeschedError for the pod of another scheduler."""
    profile = model.profile_of(pod)
    if profile is None:
        known = ", ".join(model.engine.profiles)
        raise KubeschedError(
            f"pods like {pod.full_name} are for scheduler {pod.spec.scheduler_name!r}; the profiles here are {known}: "
            "change schedulerName, or give the configuration of that scheduler with --config"
        )
    return profile


def _renamed(pod: PodInfo, name: str) -> Pod:
    meta = msgspec.structs.replace(pod.metadata, name=name, uid=f"{pod.namespace}/{name}")
    return msgspec.structs.replace(pod.pod, metadata=meta)

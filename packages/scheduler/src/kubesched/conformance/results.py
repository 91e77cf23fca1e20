"""One pod's verdict in the corpus' form.

From an evaluation to the fields of a corpus result. As in the corpus, every filter also runs alone, and every feasible
node is scored. Empty fields are left out.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kubesched.config.types import Extender
from kubesched.conformance.plans import claims_released, described_plan
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.plugin import PreEnqueuePlugin
from kubesched.core.framework.values.effects import Effect
from kubesched.core.framework.values.extenders import is_interested
from kubesched.core.framework.values.preemption import best_of
from kubesched.core.framework.values.status import Code, Status
from kubesched.core.scheduling.decision import NO_NODES
from kubesched.core.scheduling.diagnosis import diagnose
from kubesched.core.scheduling.post_filter import PostFiltered, run_post_filter

Result = dict[str, Any]


def status_form(status: Status, *, with_plugin: bool) -> dict[str, Any]:
    """Return a status in the corpus' form."""
    form: dict[str, Any] = {"code": status.code.text}
    if status.reasons:
        form["reasons"] = sorted(status.reasons)
    if with_plugin and status.plugin:
        form["plugin"] = status.plugin
    return form


def held_back(plugins: tuple[PreEnqueuePlugin, ...], pod: PodInfo) -> dict[str, Any]:
    """Return the PreEnqueue plugins that hold the pod back, with their statuses."""
    refusals = {}
    for plugin in plugins:
        status = plugin.pre_enqueue(pod)
        if status is not None and not status.ok:
            refusals[plugin.name] = status_form(status, with_plugin=False)
    return refusals


class Judge:
    """Judges one pod under a profile and fills in a result."""

    def __init__(self, profile: Profile, evaluation: Evaluation, extenders: Sequence[Extender] = ()) -> None:
        self.profile = profile
        self.extenders = extenders
        self.evaluation = evaluation
        self.table = evaluation.table
        self.result: Result = {"pod": evaluation.pod.full_name}
        # the effects of PostFilter
        self.effects: list[Effect] = []

    def judge(self) -> Result:
        """Return the result of the whole cycle."""
        result, pre = self.result, self.evaluation.pre_filtered
        if not self.table.node_count:
            result["error"] = NO_NODES.message
            return result
        skipped = [
            question.plugin.name
            for question in self.evaluation.pod_class.pre_filters
            if question.skip and question.plugin.name in pre.asked
        ]
        result["filterSkip"] = sorted(skipped)
        if pre.rejection is not None and pre.rejection.code is Code.ERROR:
            result["preFilter"] = status_form(pre.rejection, with_plugin=True)
            result["error"] = pre.rejection.message
            return self._trimmed()
        if pre.rejection is not None:
            result["preFilter"] = status_form(pre.rejection, with_plugin=True)
            self._fail()
            return self._trimmed()
        if pre.node_names is not None:
            result["preFilterNodes"] = sorted(pre.node_names)
        if self._filter():
            self._nominated_node()
            if result["feasible"]:
                self._score()
            else:
                self._choose()
            if "error" not in result and "chosen" not in result:
                self._fail()
        return self._trimmed()

    def _trimmed(self) -> Result:
        return {key: value for key, value in self.result.items() if value not in (None, [], {}, "")}

    # -- filtering

    def _filter(self) -> bool:
        """Fill in the filters' verdicts; return False if a filter failed."""
        evaluation = self.evaluation
        objectors = evaluation.first_objectors()
        rows = self._judged()
        failed = next((row for row in rows if self._status(objectors, row).code is Code.ERROR), None)
        if failed is not None:
            # the first failure in the order of the rows ends the search
            rows = rows[: rows.index(failed) + 1]
        self._filters_alone(rows)
        if failed is not None:
            status = self._status(objectors, failed)
            self.result["error"] = f'running "{status.plugin}" filter plugin: {status.message}'
            rows = rows[:-1]
        rejected = {row: self._status(objectors, row) for row in rows if objectors[row]}
        self.result["nodeStatus"] = {
            self.table.names[row]: status_form(status, with_plugin=True) for row, status in rejected.items()
        }
        if failed is not None:
            # earlier results stay
            self.result["feasible"] = [self.table.names[row] for row in rows if not objectors[row]]
            return False
        self.result["feasible"] = self._names(evaluation.feasible().mask)
        verdicts = evaluation.verdicts()
        self.result["unschedulablePlugins"] = sorted(diagnose(evaluation, verdicts).unschedulable_plugins)
        return True

    def _judged(self) -> list[int]:
        rows = self.evaluation.judged_rows()
        judged = self.table.present_rows() if rows is None else rows
        return sorted(judged.tolist(), key=lambda row: self.table.names[row])

    def _filters_alone(self, rows: list[int]) -> None:
        alone: dict[str, dict[str, Any]] = {}
        for question in self.evaluation.active_filters:
            ids = question.judge(np.array(rows, np.intp))
            for row, index in zip(rows, ids.tolist(), strict=True):
                if index:
                    status = self.evaluation.statuses[index]
                    node = alone.setdefault(self.table.names[row], {})
                    node[question.plugin.name] = status_form(status, with_plugin=False)
        self.result["filter"] = alone

    def _status(self, ids: NDArray[np.int16], row: int) -> Status:
        return self.evaluation.statuses[int(ids[row])]

    def _names(self, mask: NDArray[np.bool_]) -> list[str]:
        return sorted(self.table.names[row] for row in np.flatnonzero(mask).tolist())

    def _nominated_node(self) -> None:
        row = self.evaluation.nominated_row()
        if row is not None:
            self.result["nominated"] = self.table.names[row]

    # -- scoring

    def _score(self) -> None:
        evaluation, result = self.evaluation, self.result
        feasible = evaluation.feasible()
        scoring = evaluation.score()
        if scoring.failure is not None:
            if feasible.count == 1:
                # the only candidate is taken without scoring
                result["scoreError"] = scoring.failure.message
                result["best"] = result["feasible"]
                self._choose()
                return
            result["error"] = scoring.failure.message
            if not any(q.pre_score_failed and q.failure for q in evaluation.pod_class.pre_scores):
                self._scores(failed=True)
            return
        self._scores(failed=False)
        totals = scoring.totals + scoring.constant
        total = {name: int(totals[self.table.row_of[name]]) for name in result["feasible"]}
        result["total"] = total
        best = max(total.values())
        result["best"] = [name for name in result["feasible"] if total[name] == best]
        self._choose()

    def _scores(self, *, failed: bool) -> None:
        """Fill in skips, raw and weighted scores; after a failure, the raw scores of the plugins before it."""
        evaluation, result = self.evaluation, self.result
        feasible = evaluation.feasible()
        rows = np.flatnonzero(feasible.mask)
        result["scoreSkip"] = sorted(q.plugin.name for q in evaluation.pod_class.pre_scores if q.skip)
        raw, scores = {}, {}
        for question, weight in evaluation.pod_class.scores:
            if question.skip:
                continue
            if question.failure is not None:
                break
            raw[question.plugin.name] = self._column(question.raw, rows)
            if not failed:
                final = question.scores(feasible)
                assert not isinstance(final, Status), "totals were computed from it"
                column = np.full(self.table.size, final) if isinstance(final, int) else final
                scores[question.plugin.name] = self._column(column.astype(np.int64) * weight, rows)
        if not failed:
            for extender in self.extenders:
                if not extender.prioritize_verb and is_interested(extender, evaluation.pod.spec):
                    # an extender that only manages resources scores all nodes equally
                    scores[extender.url_prefix] = dict.fromkeys(result["feasible"], 0)
        result["raw"], result["scores"] = raw, scores

    def _column(self, column: NDArray[Any], rows: NDArray[np.intp]) -> dict[str, int]:
        return {self.table.names[row]: int(column[row]) for row in rows.tolist()}

    def _choose(self) -> None:
        result = self.result
        if "nominated" in result:
            result["chosen"] = result["nominated"]
        elif result.get("best"):
            result["chosen"] = result["best"][0]
        for plugin in self.profile.plugins.values():
            if "chosen" in result:
                cycle, pod = self.evaluation.cycle, self.evaluation.pod
                result.update(described_plan(plugin, cycle, pod, result["chosen"]))

    # -- failing

    def _fail(self) -> None:
        """Fill in PostFilter's result and the message."""
        evaluation, result = self.evaluation, self.result
        verdicts = evaluation.verdicts()
        diagnosis = diagnose(evaluation, verdicts)
        result["unschedulablePlugins"] = sorted(diagnosis.unschedulable_plugins)
        found = run_post_filter(self.profile.post_filter, evaluation.cycle, evaluation.pod, verdicts)
        self.effects = found.effects
        self._preemption(found)
        result["message"] = diagnosis.message(found.message)

    def _preemption(self, found: PostFiltered) -> None:
        for name, outcome in found.by_plugin.items():
            if claims := claims_released(outcome.effects):
                self.result["claimsReleased"] = claims
            if name != "DefaultPreemption":
                continue
            self.result["preemptionCandidates"] = {
                candidate.node_name: {
                    "victims": [victim.full_name for victim in candidate.victims],
                    "pdbViolations": candidate.pdb_violations,
                }
                for candidate in outcome.candidates
            }
            self.result["preemptionBest"] = best_of(self.table, outcome.candidates)
            if not outcome.status.ok:
                self.result["preemptionMessage"] = outcome.status.message.removeprefix("preemption: ")

"""A plugin's answers about a pod, as plain values that can be compared.

From an engine with only this plugin, and a pod, to the verdict and the score of every node.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from kubesched.api.pods import Pod
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.evaluation.score_details import scores_by_plugin
from kubesched.core.framework.values.status import Code, Status
from kubesched.core.scheduling.engine import Engine

PASSES = "passes"


@dataclass(frozen=True, slots=True)
class PodAnswers:
    """The answers about one pod: PreFilter's, and by node those of Filter and Score; `failure` if a hook failed."""

    pre_filter: str = ""
    verdicts: dict[str, str] = field(default_factory=dict)
    scores: dict[str, int] = field(default_factory=dict)
    failure: str = ""

    @property
    def fits(self) -> bool:
        """Return whether the pod passes on a node."""
        return not self.failure and PASSES in self.verdicts.values()

    @property
    def rejected(self) -> bool:
        """Return whether the plugin rejects the pod everywhere."""
        return not self.failure and not self.fits and bool(self.pre_filter or self.verdicts)

    @property
    def rejects(self) -> bool:
        """Return whether the plugin rejects the pod on some node."""
        return not self.failure and bool(self.pre_filter or any(each != PASSES for each in self.verdicts.values()))

    def differences(self, found: "PodAnswers", expected_by: str, found_by: str) -> Iterator[str]:
        """Yield the differences to other answers, in words."""
        if self.failure != found.failure:
            yield f"{expected_by}: {self.failure or 'no failure'}; {found_by}: {found.failure or 'no failure'}"
            return
        if self.pre_filter != found.pre_filter:
            yield f"pre_filter: {expected_by}: {self.pre_filter or PASSES}; {found_by}: {found.pre_filter or PASSES}"
            return
        for node, verdict in self.verdicts.items():
            if found.verdicts.get(node) != verdict:
                yield f"node {node}: {expected_by}: {verdict}; {found_by}: {found.verdicts.get(node, 'not judged')}"
        for node, score in self.scores.items():
            if node in found.scores and found.scores[node] != score:
                yield f"node {node}: {expected_by}: score {score}; {found_by}: score {found.scores[node]}"


def answers_of(engine: Engine, pod: Pod) -> PodAnswers:
    """Return the answers of an engine's plugins about a pod on its current cluster."""
    return answers_in(engine.evaluation_of(engine.cluster.reader.read(copy.deepcopy(pod))))


def answers_in(evaluation: Evaluation) -> PodAnswers:
    """Return the answers of an evaluation."""
    rejection = evaluation.pre_filtered.rejection
    if rejection is not None:
        failed = rejection.code is Code.ERROR
        return PodAnswers(failure=rejection.message) if failed else PodAnswers(pre_filter=status_text(rejection))
    table = evaluation.table
    rows = evaluation.judged_rows()
    rows = table.present_rows() if rows is None else rows
    ids = evaluation.first_objectors()
    statuses = {table.names[row]: evaluation.statuses[int(ids[row])] for row in rows.tolist()}
    for status in statuses.values():
        if status.code is Code.ERROR:
            return PodAnswers(failure=status.message)
    verdicts = {name: status_text(status) for name, status in statuses.items()}
    feasible = evaluation.feasible()
    if not feasible.count:
        return PodAnswers(verdicts=verdicts)
    scoring = evaluation.score(feasible)
    if scoring.failure is not None:
        return PodAnswers(verdicts=verdicts, failure=scoring.failure.message)
    passing = np.flatnonzero(feasible.mask).tolist()
    by_plugin = scores_by_plugin(evaluation, feasible, passing)
    if isinstance(by_plugin, Status):
        return PodAnswers(verdicts=verdicts, failure=by_plugin.message)
    scores = {
        table.names[row]: sum(column[place] for column in by_plugin.values()) for place, row in enumerate(passing)
    }
    return PodAnswers(verdicts=verdicts, scores=scores if by_plugin else {})


def status_text(status: Status | None) -> str:
    """Return a status in words."""
    if status is None or status.ok:
        return PASSES
    return f"{status.code.text} ({status.message})" if status.message else status.code.text

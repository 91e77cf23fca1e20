"""Judgements of the decisions of the cluster's scheduler, and their summary.

Values: a judgement of one decision, and the answer of a whole session, as `-o json` prints it.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Final

from kubesched.model.cluster_objects import Gap
from kubesched.reports.answers import Answer

# verdicts about a pod that it bound
AMONG_BEST: Final = "amongBest"
SCORED_LESS: Final = "scoredLess"
# a lower score, but the cluster's scheduler evaluates only a part of the nodes
SAMPLED: Final = "sampled"
REJECTED: Final = "rejected"
FOUND_NONE: Final = "weFoundNone"
# verdicts about a pod for which it found no node
SAME_MESSAGE: Final = "sameMessage"
OTHER_MESSAGE: Final = "otherMessage"
FOUND_ONE: Final = "itFoundNone"
# neither of these
NOT_JUDGED: Final = "notJudged"

WORDS: Final = {
    AMONG_BEST: "its node is among our best",
    SAMPLED: "its node is feasible and scored less; sampling of nodes explains it",
    SCORED_LESS: "its node is feasible but scored less",
    REJECTED: "we reject its node",
    FOUND_NONE: "we found none, it did",
    SAME_MESSAGE: "both found none, with the same message",
    OTHER_MESSAGE: "both found none, with other messages",
    FOUND_ONE: "it found none, we did",
}
AGREEING: Final = (AMONG_BEST, SAMPLED, SAME_MESSAGE)
DIFFERING: Final = (SCORED_LESS, REJECTED, FOUND_NONE, OTHER_MESSAGE, FOUND_ONE)


@dataclass(frozen=True, slots=True)
class Judgement(Answer):
    """The judgement of one decision.

    `node` is the choice of the cluster's scheduler, `ours` our best node. `why` is a sentence. `behind` is the
    difference of the scores, and `plugin` the plugin with the largest part in it, or the plugin that rejects the node.
    """

    pod: str
    verdict: str
    node: str = ""
    ours: str = ""
    why: str = ""
    behind: int | None = None
    plugin: str | None = None
    its_message: str | None = None
    our_message: str | None = None

    @property
    def agrees(self) -> bool:
        """Return whether both decided alike."""
        return self.verdict in AGREEING

    @property
    def differs(self) -> bool:
        """Return whether the two differ."""
        return self.verdict in DIFFERING

    def sentence(self) -> str:
        """Return the judgement as one line."""
        where = f" on {self.node}" if self.node else ""
        why = f": {self.why}" if self.why else ""
        return f"{self.pod}{where}: {WORDS.get(self.verdict, 'not judged')}{why}"


@dataclass(frozen=True, slots=True)
class ShadowAnswer(Answer):
    """The result of a session.

    `counts` are the decisions by verdict. `other_moments` counts the agreements that hold only at another moment than
    right before the write (a pod was assumed but not bound yet, or a change was not seen yet). `not_judged` are numbers
    by reason. `differences` has the first ones.
    """

    ROWS: ClassVar[str] = "differences"

    summary: str
    agrees: bool
    origin: str
    kubernetes: str
    schedulers: tuple[str, ...]
    seconds: float
    judged: int
    counts: dict[str, int] = field(default_factory=dict)
    other_moments: int = 0
    not_judged: dict[str, int] = field(default_factory=dict)
    differences: tuple[Judgement, ...] = ()
    gaps: tuple[Gap, ...] = ()

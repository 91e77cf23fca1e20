"""What shadow says of a decision of the cluster's scheduler, and of all of them.

Values: a judgement of one decision, and the answer of a whole session, as `-o json` prints it.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Final

from kubesched.model.cluster_objects import Gap
from kubesched.reports.answers import Answer

# of a pod that it bound
AMONG_BEST: Final = "amongBest"
SCORED_LESS: Final = "scoredLess"
# it scored less, but the cluster's scheduler looks at a part of the nodes only
SAMPLED: Final = "sampled"
REJECTED: Final = "rejected"
FOUND_NONE: Final = "weFoundNone"
# of a pod for which it found no node
SAME_MESSAGE: Final = "sameMessage"
OTHER_MESSAGE: Final = "otherMessage"
FOUND_ONE: Final = "itFoundNone"
# of neither
NOT_JUDGED: Final = "notJudged"

WORDS: Final = {
    AMONG_BEST: "its node is among our best",
    SAMPLED: "its node is feasible and scored less, as sampling of nodes lets it",
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
    """What we say of one decision.

    `node` is the one that the cluster's scheduler chose, `ours` the best that we know; `why` is a sentence, `behind` by
    how many points the node scored less, `plugin` the one that makes most of it, or that rejects the node.
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
        """Return the judgement in one line."""
        where = f" on {self.node}" if self.node else ""
        why = f": {self.why}" if self.why else ""
        return f"{self.pod}{where}: {WORDS.get(self.verdict, 'not judged')}{why}"


@dataclass(frozen=True, slots=True)
class ShadowAnswer(Answer):
    """What a session found.

    `counts` are the decisions by verdict, `other_moments` how many of those that agree do so only as of another moment
    than right before the write (a pod was assumed but not bound yet, or a change was not seen yet). `not_judged` are
    numbers by reason. Of `differences` the first ones are kept.
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

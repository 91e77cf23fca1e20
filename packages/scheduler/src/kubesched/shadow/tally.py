"""The judgements of a session, counted.

From judgements to counts, the first differences, a line of progress and the answer of the session.
"""

from collections import Counter
from collections.abc import Sequence

from kubesched.model.cluster_objects import Gap
from kubesched.reports.plain_words import number
from kubesched.shadow.judgements import DIFFERING, SAMPLED, WORDS, Judgement, ShadowAnswer

# limit of kept differences; all are counted
MOST_DIFFERENCES = 1000


class ShadowTally:
    """Counts judgements; `strict` counts differences that sampling explains, too."""

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self.counts: Counter[str] = Counter()
        self.not_judged: Counter[str] = Counter()
        self.other_moments = 0
        self.kept: list[Judgement] = []

    def take(self, judgement: Judgement, *, other_moment: bool = False) -> bool:
        """Count a judgement; return whether it is a difference."""
        if not judgement.agrees and not judgement.differs:
            self.not_judged[judgement.why] += 1
            return False
        self.counts[judgement.verdict] += 1
        self.other_moments += other_moment
        if judgement.verdict not in self._differing:
            return False
        if len(self.kept) < MOST_DIFFERENCES:
            self.kept.append(judgement)
        return True

    @property
    def _differing(self) -> Sequence[str]:
        return (*DIFFERING, SAMPLED) if self._strict else DIFFERING

    @property
    def judged(self) -> int:
        """Return the number of judged decisions."""
        return self.counts.total()

    @property
    def differing(self) -> int:
        """Return the number of decisions that differ."""
        return sum(self.counts[verdict] for verdict in self._differing)

    def line(self) -> str:
        """Return the progress as one line."""
        missed = self.not_judged.total()
        agreeing = self.judged - self.differing
        parts = [f"{number(self.judged, 'decision')} judged, {agreeing:,} alike, {self.differing:,} different"]
        parts += [f"{count:,} {WORDS[verdict]}" for verdict, count in self.counts.items() if verdict in self._differing]
        parts += [f"{missed:,} not judged"] if missed else []
        return "; ".join(parts)

    def summary(self) -> str:
        """Return the verdict as a sentence."""
        if not self.judged:
            return f"Nothing was judged: {self._missed() or 'no pod was decided while it ran'}."
        if self.differing:
            return f"The two differ on {self.differing:,} of {number(self.judged, 'decision')}."
        return f"Both decided alike: {number(self.judged, 'decision')} of {self.judged:,}."

    def _missed(self) -> str:
        return ", ".join(f"{why} ({count:,})" for why, count in self.not_judged.most_common())

    def answer(
        self, origin: str, kubernetes: str, schedulers: Sequence[str], seconds: float, gaps: Sequence[Gap]
    ) -> ShadowAnswer:
        """Return the answer of the session."""
        return ShadowAnswer(
            self.summary(),
            not self.differing,
            origin,
            kubernetes,
            tuple(schedulers),
            round(seconds, 1),
            self.judged,
            {verdict: self.counts[verdict] for verdict in WORDS if self.counts[verdict]},
            self.other_moments,
            dict(self.not_judged.most_common()),
            tuple(self.kept),
            tuple(gaps),
        )

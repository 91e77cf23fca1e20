"""Observations of an attempt before it has a record: answers of extenders, candidates of a preemption.

From observations to bounded values.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import nlargest
from sys import getsizeof
from typing import Final

from kubesched.core.framework.observing.decision_details import MOST_REASONS, MOST_SAMPLED
from kubesched.core.framework.results.outcomes import PostFilterResult
from kubesched.core.framework.values.extenders import ExtenderAnswer
from kubesched.serving.decisions.records import RecordedCandidate, RecordedExtender, RejectedGroup
from kubesched.serving.decisions.ring import OBJECT_BYTES

MOST_EXTENDERS: Final = 16
MOST_CANDIDATES: Final = 5
MOST_VICTIMS: Final = 10
MOST_SCORES: Final = 5
MOST_CHARACTERS: Final = 500


@dataclass(slots=True)
class AttemptAside:
    """Answers of extenders in their order, and the first candidates of a preemption."""

    extenders: tuple[RecordedExtender, ...] = ()
    candidates: tuple[RecordedCandidate, ...] = ()
    candidate_count: int = 0

    @property
    def size(self) -> int:
        """Return about how many bytes these are."""
        named = sum(
            OBJECT_BYTES * (4 + len(each.names)) + sum(map(getsizeof, (each.node, *each.names)))
            for each in self.candidates
        )
        return named + sum(map(extender_bytes, self.extenders))


def recorded_extender(answer: ExtenderAnswer) -> RecordedExtender:
    """Return an extender's answer, with the most frequent reasons and the highest scores."""
    reasons = Counter(answer.rejected.values()).most_common(MOST_REASONS)
    samples: dict[str, list[str]] = {}
    for node, message in answer.rejected.items():
        named = samples.setdefault(message, [])
        if len(named) < MOST_SAMPLED:
            named.append(node)
    best = nlargest(MOST_SCORES, answer.scores.items(), key=lambda item: item[1])
    return RecordedExtender(
        extender=answer.extender[:MOST_CHARACTERS],
        call=answer.call,
        nodes=answer.asked,
        left=answer.left,
        seconds=round(answer.seconds, 6),
        rejected=tuple(
            RejectedGroup(plugin="", message=message[:MOST_CHARACTERS], nodes=count, sample=tuple(samples[message]))
            for message, count in reasons
        ),
        scores=dict(best),
        error=answer.error[:MOST_CHARACTERS],
    )


def extender_bytes(answer: RecordedExtender) -> int:
    """Return about how many bytes an answer takes."""
    texts = [answer.extender, answer.error, *answer.scores]
    texts += [text for each in answer.rejected for text in (each.message, *each.sample)]
    return OBJECT_BYTES * (8 + 3 * len(answer.rejected)) + sum(map(getsizeof, texts))


def recorded_candidates(plugins: Mapping[str, PostFilterResult]) -> tuple[RecordedCandidate, ...]:
    """Return the first candidates that PostFilter plugins found."""
    found: list[RecordedCandidate] = []
    for result in plugins.values():
        for candidate in result.candidates[: MOST_CANDIDATES - len(found)]:
            names = tuple(victim.full_name for victim in candidate.victims[:MOST_VICTIMS])
            found.append(
                RecordedCandidate(
                    node=candidate.node_name,
                    victims=len(candidate.victims),
                    names=names,
                    budget_violations=int(candidate.pdb_violations),
                )
            )
    return tuple(found)

"""What is not read of a cluster: kinds that say nothing about scheduling, and objects that cannot be understood."""

from collections.abc import Sequence

from kubesched.model.cluster_objects import Gap

# kinds of structs that say nothing about scheduling
UNREAD_KINDS = frozenset({"Lease", "LeaseCandidate", "Event"})
# further unreadable objects are counted
MOST_NAMED = 20


def gaps_of_unread(problems: Sequence[str]) -> list[Gap]:
    """Return a gap for each object that cannot be read; of very many, some are only counted."""
    uncertain = "answers do not count it"
    gaps = [Gap("an object", problem, uncertain) for problem in problems[:MOST_NAMED]]
    if len(problems) > MOST_NAMED:
        gaps.append(
            Gap(f"{len(problems) - MOST_NAMED} more objects", "they cannot be read", "answers do not count them")
        )
    return gaps

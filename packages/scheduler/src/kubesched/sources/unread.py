"""The unread parts of a cluster: kinds without meaning for scheduling, and unreadable objects."""

from collections.abc import Sequence

from kubesched.model.cluster_objects import Gap

# kinds of structs without meaning for scheduling
UNREAD_KINDS = frozenset({"Lease", "LeaseCandidate", "Event"})
# further unreadable objects are counted
MOST_NAMED = 20


def gaps_of_unread(problems: Sequence[str]) -> list[Gap]:
    """Return a gap for each unreadable object; beyond a limit they are only counted."""
    uncertain = "answers ignore it"
    gaps = [Gap("an object", problem, uncertain) for problem in problems[:MOST_NAMED]]
    if len(problems) > MOST_NAMED:
        gaps.append(Gap(f"{len(problems) - MOST_NAMED} more objects", "they cannot be read", "answers ignore them"))
    return gaps

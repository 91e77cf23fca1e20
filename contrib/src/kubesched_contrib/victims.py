"""Victims of a preemption: who of the pods that may be evicted has to be.

From pods on a node that were all removed in a trial to those that cannot come back.
"""

from collections.abc import Callable, Sequence

from kubesched import PodInfo


def importance(pod: PodInfo) -> tuple[int, float]:
    """Return a key by which less important pods come first: lower priority, then the later start."""
    started = pod.status.start_time
    return pod.priority, -started.timestamp() if started is not None else float("-inf")


def necessary_victims(
    removed: Sequence[PodInfo],
    remove: Callable[[PodInfo], None],
    restore: Callable[[PodInfo], None],
    fits: Callable[[], bool],
) -> tuple[PodInfo, ...]:
    """Return who has to go, most important first; `removed` are all who may, least important first."""
    victims = []
    for pod in reversed(removed):
        restore(pod)
        if not fits():
            remove(pod)
            victims.append(pod)
    return tuple(victims)

"""PreFilter: the combined result of all plugins.

From the questions of a pod's class, in the profile's order, to a rejection, a narrowing to some nodes, or nothing.
"""

from collections.abc import Sequence

import msgspec

from kubesched.core.framework.columns.questions import FilterQuestion
from kubesched.core.framework.values.status import Code, Status, error, unresolvable


class PreFiltered(msgspec.Struct, frozen=True):
    """The combined result of PreFilter: a rejection (or error), or a narrowing to some nodes by some plugins."""

    rejection: Status | None = None
    node_names: frozenset[str] | None = None
    narrowing: tuple[str, ...] = ()
    # the plugins that ran, in order; after a rejection others may not have run
    asked: tuple[str, ...] = ()


# upstream: framework/runtime/framework.go, RunPreFilterPlugins (v1.36)
def pre_filter(questions: Sequence[FilterQuestion]) -> PreFiltered:
    """Combine the PreFilter results of the questions, which are up to date."""
    node_names: frozenset[str] | None = None
    rejection: Status | None = None
    narrowing: list[str] = []
    asked: list[str] = []
    for question in questions:
        name = question.plugin.name
        asked.append(name)
        if question.skip:
            continue
        refused = question.rejection
        if refused is not None:
            if refused.code is Code.UNSCHEDULABLE:
                # the search goes on; the last such status wins
                rejection = refused
                continue
            if refused.code is not Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                refused = error(f'running PreFilter plugin "{name}": {refused.message}').by(name)
            return PreFiltered(refused, asked=tuple(asked))
        if question.node_names is not None:
            narrowing.append(name)
            node_names = question.node_names if node_names is None else node_names & question.node_names
            if not node_names:
                return PreFiltered(_nothing_left(narrowing), node_names, tuple(narrowing), tuple(asked))
    return PreFiltered(rejection, node_names, tuple(narrowing), tuple(asked))


def _nothing_left(narrowing: Sequence[str]) -> Status:
    """Return the rejection for plugins that together narrowed the search to no node."""
    if len(narrowing) == 1:
        return unresolvable(f"node(s) didn't satisfy plugin {narrowing[0]}")
    return unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(narrowing))}] simultaneously")

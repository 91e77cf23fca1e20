"""The spread constraints of a pod, as one hashable key.

From constraints as written (in the pod, or as the profile's defaults) to `SpreadKey`: constraints with resolved
selectors, and only the fields of the pod that the answer depends on. Selectors are parsed once per template; pods with
the same values of the labels that matter get the same object.
"""

# upstream: podtopologyspread/common.go (v1.36)

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from weakref import ReferenceType, WeakKeyDictionary, ref

import msgspec

from kubesched.api.labels import EQUALS, InvalidSelectorError, Requirement, Selector, from_label_selector
from kubesched.api.node_selectors import RequiredNodeAffinity
from kubesched.api.pods import Toleration, TopologySpreadConstraint
from kubesched.core.cluster.node_matching import node_affinity_of
from kubesched.core.cluster.pod_info import PodInfo

DO_NOT_SCHEDULE: Final = "DoNotSchedule"
SCHEDULE_ANYWAY: Final = "ScheduleAnyway"
HONOR: Final = "Honor"

_ANY_NODE = RequiredNodeAffinity()
# The most keys that a template remembers whose pods differ in labels that matter.
_REMEMBERED_KEYS = 256


class SpreadConstraint(msgspec.Struct, frozen=True, cache_hash=True):
    """One constraint with its selector parsed and its defaults filled in."""

    max_skew: int
    topology_key: str
    selector: Selector
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False


class SpreadKey(msgspec.Struct, frozen=True, cache_hash=True, weakref=True):
    """All that the answer for a pod depends on; without constraints and failure the plugin is skipped.

    `affinity` and `tolerations` are None if no constraint honours them; with `require_all` nodes without all topology
    keys do not count.
    """

    namespace: str = ""
    constraints: tuple[SpreadConstraint, ...] = ()
    self_matches: tuple[bool, ...] = ()
    affinity: RequiredNodeAffinity | None = None
    tolerations: tuple[Toleration, ...] | None = None
    require_all: bool = True
    failure: str = ""

    @property
    def topology_keys(self) -> frozenset[str]:
        """Return the topology keys of all constraints."""
        return frozenset(constraint.topology_key for constraint in self.constraints)

    @property
    def honors_taints(self) -> bool:
        """Return whether taints of nodes matter."""
        return self.tolerations is not None


NOTHING_ASKED: Final = SpreadKey()
# the keys that exist, each with a reference to the object that stands for all equal ones
InternedKeys = WeakKeyDictionary[SpreadKey, ReferenceType[SpreadKey]]


class Written(NamedTuple):
    """A constraint before the labels of a particular pod are known."""

    constraint: SpreadConstraint
    match_label_keys: tuple[str, ...] = ()

    def for_labels(self, labels: Mapping[str, str]) -> SpreadConstraint:
        """Return the constraint for a pod with these labels."""
        demanded = [Requirement(key, EQUALS, (labels[key],)) for key in self.match_label_keys if key in labels]
        return self.with_selector(self.constraint.selector.adding(*demanded)) if demanded else self.constraint

    def with_selector(self, selector: Selector) -> SpreadConstraint:
        """Return the constraint with another selector."""
        return msgspec.structs.replace(self.constraint, selector=selector)


def parse_constraints(
    constraints: Iterable[TopologySpreadConstraint], action: str, *, match_label_keys: bool
) -> tuple[Written, ...]:
    """Return the constraints with one action; InvalidSelectorError for a selector that does not parse."""
    return tuple(
        Written(
            SpreadConstraint(
                max_skew=written.max_skew,
                topology_key=written.topology_key,
                selector=from_label_selector(written.label_selector),
                min_domains=1 if written.min_domains is None else written.min_domains,
                honor_affinity=written.node_affinity_policy in (None, HONOR),
                honor_taints=written.node_taints_policy == HONOR,
            ),
            tuple(dict.fromkeys(written.match_label_keys)) if match_label_keys else (),
        )
        for written in constraints
        if written.when_unsatisfiable == action
    )


class TemplateConstraints:
    """The constraints with one action that all pods of a template have; makes the key of each pod.

    `defaults` are the profile's constraints, for pods without constraints; their selector is `default_selector`'s.
    """

    def __init__(
        self,
        pod: PodInfo,
        action: str,
        *,
        defaults: Sequence[Written],
        match_label_keys: bool,
        require_all: bool,
        interned: InternedKeys,
    ) -> None:
        self._hard = action == DO_NOT_SCHEDULE
        self._namespace = pod.namespace
        self._interned = interned
        self._keys: dict[object, SpreadKey] = {}
        self._failure = ""
        own = pod.spec.topology_spread_constraints
        self._own = bool(own)
        self._require_all = self._own or require_all
        self._written: Sequence[Written] = defaults
        if own:
            try:
                self._written = parse_constraints(own, action, match_label_keys=match_label_keys)
            except InvalidSelectorError as error:
                which = "hard" if self._hard else "soft"
                self._failure = f"obtaining pod's {which} topology spread constraints: {error}"
        self._label_keys = tuple(sorted(self._labels_that_matter())) if own else ()

    def _labels_that_matter(self) -> set[str]:
        """Return the label keys in which pods of the template may differ so that their keys differ."""
        keys = {key for written in self._written for key in written.match_label_keys}
        if self._hard:
            # whether the pod counts itself
            keys.update(key for written in self._written for key in written.constraint.selector.keys)
        return keys

    def key(self, pod: PodInfo, default_selector: Callable[[PodInfo], Selector]) -> SpreadKey:
        """Return the key of a pod of this template."""
        labels = pod.labels
        what: object
        if self._own:
            what = tuple([labels.get(key) for key in self._label_keys])
        elif not self._written:
            return NOTHING_ASKED
        else:
            selector = default_selector(pod)
            if selector.empty:
                return NOTHING_ASKED
            what = (selector, self._hard and selector.matches(labels))
        known = self._keys.get(what)
        if known is None:
            if self._own:
                constraints = tuple(written.for_labels(labels) for written in self._written)
            else:
                constraints = tuple(written.with_selector(selector) for written in self._written)
            if len(self._keys) >= _REMEMBERED_KEYS:
                self._keys.clear()
            known = self._keys[what] = self._make(pod, constraints)
        return known

    def _make(self, pod: PodInfo, constraints: tuple[SpreadConstraint, ...]) -> SpreadKey:
        if self._failure:
            made = SpreadKey(failure=self._failure)
        elif not constraints:
            made = NOTHING_ASKED
        else:
            affinity, labels = pod.derive(node_affinity_of), pod.labels
            honors_affinity = affinity != _ANY_NODE and any(c.honor_affinity for c in constraints)
            honors_taints = any(c.honor_taints for c in constraints)
            made = SpreadKey(
                namespace=self._namespace,
                constraints=constraints,
                self_matches=tuple(c.selector.matches(labels) for c in constraints) if self._hard else (),
                affinity=affinity if honors_affinity else None,
                tolerations=pod.spec.tolerations if honors_taints else None,
                require_all=self._require_all,
            )
        # The same object for the same key, so that comparing keys is comparing identities.
        return self._interned.setdefault(made, ref(made))() or made

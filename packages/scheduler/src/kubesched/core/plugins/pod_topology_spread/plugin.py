"""The plugin: keys of pods, their questions, and events.

From pods to `SpreadFilterQuestion` and `SpreadScoreQuestion`. Pods without constraints get the profile's
default constraints, which are the system's unless the profile lists some.
"""

# upstream: podtopologyspread/plugin.go (v1.36)

from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from kubesched.api.pods import TopologySpreadConstraint
from kubesched.config.args import PodTopologySpreadArgs
from kubesched.config.args import TopologySpreadConstraint as DefaultConstraint
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import PreFilterPlugin, PreScorePlugin, QuestionFilterPlugin, QuestionScorePlugin
from kubesched.core.framework.values.events import Registration
from kubesched.core.framework.values.status import StatusTable
from kubesched.core.plugins.pod_topology_spread.constraints import (
    DO_NOT_SCHEDULE,
    SCHEDULE_ANYWAY,
    InternedKeys,
    SpreadKey,
    TemplateConstraints,
    Written,
    parse_constraints,
)
from kubesched.core.plugins.pod_topology_spread.filtering import SpreadFilterQuestion
from kubesched.core.plugins.pod_topology_spread.hints import SpreadHints
from kubesched.core.plugins.pod_topology_spread.owners import DefaultSelectors
from kubesched.core.plugins.pod_topology_spread.scoring import HOSTNAME, SpreadScoreQuestion

SYSTEM_DEFAULTING = "System"
SYSTEM_DEFAULTS = (
    TopologySpreadConstraint(max_skew=3, topology_key=HOSTNAME, when_unsatisfiable=SCHEDULE_ANYWAY),
    TopologySpreadConstraint(
        max_skew=5, topology_key="topology.kubernetes.io/zone", when_unsatisfiable=SCHEDULE_ANYWAY
    ),
)


class _Template(NamedTuple):
    """The hard and soft constraints of all pods of a template."""

    hard: TemplateConstraints
    soft: TemplateConstraints


class PodTopologySpread(PreFilterPlugin, QuestionFilterPlugin, PreScorePlugin, QuestionScorePlugin):
    """Spreads pods over topology domains."""

    name = "PodTopologySpread"
    looks_up = ("Service", "ReplicationController", "ReplicaSet", "StatefulSet")
    # all that a question may read; each question declares its part
    reads = Reads.PODS | Reads.LABELS | Reads.TAINTS | Reads.PRESENCE
    score_reads = reads
    without_pre_filter = 'reading "PreFilterPodTopologySpread" from cycleState: not found'
    without_pre_score = 'error reading "PreScorePodTopologySpread" from cycleState: not found'
    in_range = True

    def __init__(self, args: PodTopologySpreadArgs | None, cluster: ClusterState, gates: FeatureGates) -> None:
        self._table = cluster.table
        self._selectors = DefaultSelectors(cluster.objects)
        self._match_label_keys = gates.enabled("MatchLabelKeysInPodTopologySpread")
        self._comparison = gates.enabled("TaintTolerationComparisonOperators")
        self._system_defaulted = args is None or args.defaulting_type == SYSTEM_DEFAULTING
        defaults: Sequence[TopologySpreadConstraint | DefaultConstraint] = SYSTEM_DEFAULTS
        if args is not None and not self._system_defaulted:
            defaults = args.default_constraints
        self._hard_defaults = _defaults(defaults, DO_NOT_SCHEDULE)
        self._soft_defaults = _defaults(defaults, SCHEDULE_ANYWAY)
        self._keys: InternedKeys = WeakKeyDictionary()
        self._hints = SpreadHints(self.key)

    # -- keys

    def key(self, pod: PodInfo) -> SpreadKey:
        """Return the pod's hard constraints with all that they depend on."""
        return pod.derive(self._template).hard.key(pod, self._selectors.of)

    def score_key(self, pod: PodInfo) -> SpreadKey:
        """Return the pod's soft constraints with all that they depend on."""
        return pod.derive(self._template).soft.key(pod, self._selectors.of)

    def _template(self, pod: PodInfo) -> _Template:
        return _Template(
            self._constraints(pod, DO_NOT_SCHEDULE, self._hard_defaults),
            self._constraints(pod, SCHEDULE_ANYWAY, self._soft_defaults),
        )

    def _constraints(self, pod: PodInfo, action: str, defaults: Sequence[Written]) -> TemplateConstraints:
        return TemplateConstraints(
            pod,
            action,
            defaults=defaults,
            match_label_keys=self._match_label_keys,
            # With the system's defaults, nodes without a zone still count by host name.
            require_all=action == DO_NOT_SCHEDULE or not self._system_defaulted,
            interned=self._keys,
        )

    # -- questions

    def filter_question(self, pod: PodInfo, statuses: StatusTable) -> SpreadFilterQuestion:
        """Return the question of a pod's hard constraints."""
        return SpreadFilterQuestion(self, pod, self._table, statuses, self.key(pod), comparison=self._comparison)

    def score_question(self, pod: PodInfo) -> SpreadScoreQuestion:
        """Return the question of a pod's soft constraints."""
        return SpreadScoreQuestion(self, pod, self._table, self.score_key(pod), comparison=self._comparison)

    # -- events

    def events_to_register(self) -> Sequence[Registration]:
        """Return the events that can help a pod which this plugin rejected."""
        return self._hints.registrations()


def _defaults(constraints: Sequence[TopologySpreadConstraint | DefaultConstraint], action: str) -> tuple[Written, ...]:
    """Return default constraints in the form of a pod's; their selectors come from the pod's owners."""
    plain = [
        TopologySpreadConstraint(
            max_skew=constraint.max_skew,
            topology_key=constraint.topology_key,
            when_unsatisfiable=constraint.when_unsatisfiable,
            min_domains=constraint.min_domains,
            node_affinity_policy=constraint.node_affinity_policy,
            node_taints_policy=constraint.node_taints_policy,
        )
        for constraint in constraints
    ]
    return parse_constraints(plain, action, match_label_keys=False)

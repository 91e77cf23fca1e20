"""The plugin: its keys of pods, its questions, and its events."""

# upstream: interpodaffinity/plugin.go (v1.36)

from collections.abc import Hashable, Sequence

from kubesched.config.args import InterPodAffinityArgs
from kubesched.core.cluster.affinity_terms import NO_TERMS
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import PreFilterPlugin, PreScorePlugin, QuestionFilterPlugin, QuestionScorePlugin
from kubesched.core.framework.values.events import Action, ClusterEvent, Registration, Resource
from kubesched.core.framework.values.status import StatusTable
from kubesched.core.plugins.inter_pod_affinity.filtering import AffinityFilterQuestion, selects_itself
from kubesched.core.plugins.inter_pod_affinity.hints import after_node_change, after_pod_change
from kubesched.core.plugins.inter_pod_affinity.scoring import AffinityScoreQuestion, ignored

IGNORED = "ignored"


class InterPodAffinity(PreFilterPlugin, QuestionFilterPlugin, PreScorePlugin, QuestionScorePlugin):
    """Filters and scores nodes by the affinity and anti-affinity terms of the pod and of placed pods."""

    name = "InterPodAffinity"
    looks_up = ("Namespace",)
    reads = Reads.PODS | Reads.LABELS | Reads.PRESENCE | Reads.NAMESPACE_LABELS
    score_reads = reads
    in_range = True
    without_pre_filter = 'error reading "PreFilterInterPodAffinity" from cycleState: not found'
    without_pre_score = 'failed to read "PreScoreInterPodAffinity" from cycleState: not found'

    def __init__(self, args: InterPodAffinityArgs | None, cluster: ClusterState) -> None:
        self._args = args or InterPodAffinityArgs()
        self._cluster = cluster
        self._counts = cluster.table.counts

    # -- Filter

    def key(self, pod: PodInfo) -> Hashable:
        """Return the required terms, and the namespace and labels by which terms of other pods select the pod."""
        terms = pod.affinity
        seen = (pod.namespace, self._counts.mentioned(pod.labels))
        if terms is NO_TERMS:
            return seen
        return (*seen, terms.required_affinity, terms.required_anti_affinity, selects_itself(pod), terms.errors)

    def filter_question(self, pod: PodInfo, statuses: StatusTable) -> AffinityFilterQuestion:
        """Return the question whether nodes satisfy the required terms, in both directions."""
        return AffinityFilterQuestion(self, pod, self._cluster, statuses)

    # -- Score

    def score_key(self, pod: PodInfo) -> Hashable:
        """Return the preferred terms, and the namespace and labels by which terms of other pods select the pod."""
        if ignored(pod, self._args):
            return IGNORED
        terms = pod.affinity
        seen = (pod.namespace, self._counts.mentioned(pod.labels))
        if terms is NO_TERMS:
            return seen
        return (*seen, terms.preferred_affinity, terms.preferred_anti_affinity, terms.errors)

    def score_question(self, pod: PodInfo) -> AffinityScoreQuestion:
        """Return the question how well nodes satisfy the preferred terms, in both directions."""
        return AffinityScoreQuestion(self, pod, self._cluster, self._args)

    # -- events

    def events_to_register(self) -> Sequence[Registration]:
        """Return pods that are added, deleted or relabelled, and nodes that are added or relabelled."""
        pods = ClusterEvent(Resource.POD, Action.ADD | Action.UPDATE_POD_LABEL | Action.DELETE)
        nodes = ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)
        return Registration(pods, after_pod_change), Registration(nodes, after_node_change)

"""The verdict engine: the profiles of a configuration over one cluster, and evaluations of pods.

From a pod to its evaluation under the profile that its `spec.schedulerName` names. The registry has the plugins.
"""

from collections.abc import Sequence

import numpy as np

from kubesched.config.load import Loaded
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.evaluation.evaluator import Evaluator
from kubesched.core.framework.profile import Profile, compile_profiles
from kubesched.core.framework.registry import Registry
from kubesched.core.framework.services import Services
from kubesched.core.scheduling.decision import choose


class Engine:
    """A cluster, and an evaluator per profile."""

    def __init__(self, loaded: Loaded, registry: Registry, services: Services) -> None:
        self.loaded = loaded
        self.services = services
        self.cluster = services.cluster
        self.effects = services.effects
        self.profiles: dict[str, Profile] = compile_profiles(loaded, registry, services.by_name())
        self.evaluators = {name: Evaluator(profile, self.cluster) for name, profile in self.profiles.items()}
        services.trials.judge = self

    def evaluation_of(self, pod: PodInfo) -> Evaluation:
        """Return the evaluation of a pod under its profile; KeyError if there is no such profile.

        Raises TypeError for anything but a PodInfo, such as a Pod.
        """
        if not isinstance(pod, PodInfo):
            raise TypeError(
                f"a pod is evaluated as the cluster reads it: engine.evaluation_of(engine.cluster.reader.read(pod)), "
                f"not {type(pod).__name__}"
            )
        return self.evaluators[_scheduler_of(pod)].evaluation_of(pod)

    # -- for trials of plugins

    def has_profile(self, pod: PodInfo) -> bool:
        """Return whether there is a profile for a pod."""
        return _scheduler_of(pod) in self.evaluators

    def feasible_nodes(self, pod: PodInfo, among: Sequence[str] | None = None) -> list[str]:
        """Return the nodes, all or among some, that pass PreFilter and Filter for a pod; none if a plugin fails."""
        evaluation = self.evaluation_of(pod)
        if among is not None:
            row_of = evaluation.table.row_of
            evaluation.within = np.array(sorted(row_of[name] for name in among if name in row_of), np.intp)
        if evaluation.pre_filtered.rejection is not None:
            return []
        passing = evaluation.feasible().mask & evaluation.present()
        if evaluation.filter_failure() is not None:
            return []
        return [evaluation.table.names[row] for row in np.flatnonzero(passing).tolist()]

    def chosen_node(self, pod: PodInfo) -> str:
        """Return the node that would be chosen for a pod, the first of several; an empty text if it fits nowhere."""
        return choose(self.evaluation_of(pod), lambda count: 0).node_name


def _scheduler_of(pod: PodInfo) -> str:
    return pod.spec.scheduler_name or "default-scheduler"

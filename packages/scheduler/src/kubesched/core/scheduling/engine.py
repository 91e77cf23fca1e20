"""The verdict engine: the profiles of a configuration over one cluster, and evaluations of pods.

From a pod to its evaluation under the profile that its `spec.schedulerName` names. The registry has the plugins.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from kubesched.config.load import Loaded
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.evaluation.evaluator import Evaluator
from kubesched.core.framework.building.profile import Profile, compile_profiles, release_plugins
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.services.offered import Services
from kubesched.core.scheduling.decision import choose


class Engine:
    """A cluster, and an evaluator per profile.

    An engine for a changed configuration is made from the one `before`, over the same cluster; `generation` counts
    them. Profiles and plugins that are configured as before are the same objects.
    """

    def __init__(self, loaded: Loaded, registry: Registry, services: Services, before: "Engine | None" = None) -> None:
        self.loaded = loaded
        self.services = services
        self.cluster = services.cluster
        self.effects = services.effects
        self._registry = registry
        self.generation: int = before.generation + 1 if before is not None else 1
        known = before.profiles if before is not None else {}
        self.profiles: dict[str, Profile] = compile_profiles(loaded, registry, services.by_name(), known)
        self.evaluators: dict[str, Evaluator] = {
            name: before.evaluators[name]
            if before is not None and profile is known.get(name)
            else Evaluator(profile, self.cluster)
            for name, profile in self.profiles.items()
        }
        if before is None:
            self.take_charge()

    def reconfigured(self, loaded: Loaded) -> "Engine":
        """Return an engine for another configuration, to be put in charge later; PluginError if it cannot be built."""
        return Engine(loaded, self._registry, self.services, self)

    def take_charge(self) -> None:
        """Judge the trials of plugins from now on."""
        self.services.trials.judge = self

    def release(self, in_use: "Iterable[Engine]") -> None:
        """End what services do for plugins that no engine in use has."""
        release_plugins(self.profiles.values(), [profile for engine in in_use for profile in engine.profiles.values()])

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

    def forget_unused(self) -> int:
        """Evict cached values of pods that were not used since the last call; return their number."""
        evaluators = sum(evaluator.forget_unused() for evaluator in self.evaluators.values())
        return evaluators + self.cluster.reader.forget_unused()

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
        feasible = evaluation.feasible()
        if feasible.failure is not None:
            return []
        passing = feasible.mask & evaluation.present()
        return [evaluation.table.names[row] for row in np.flatnonzero(passing).tolist()]

    def chosen_node(self, pod: PodInfo) -> str:
        """Return the node that would be chosen for a pod, the first of several; an empty text if it fits nowhere."""
        return choose(self.evaluation_of(pod), lambda count: 0).node_name


def _scheduler_of(pod: PodInfo) -> str:
    return pod.spec.scheduler_name or "default-scheduler"

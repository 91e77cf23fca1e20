"""The verdict engine: a configuration and a cluster in, evaluations out.

Puts the pieces together for whoever has no API server: scenarios, benchmarks, notebooks. Profiles are selected by the
pod's `spec.schedulerName`.
"""

from kubesched.config.feature_gates import FeatureGates
from kubesched.config.intree import IN_TREE, merge_catalogs
from kubesched.config.load import Loaded, load
from kubesched.core.cluster.cluster import Cluster
from kubesched.core.cluster.pod_info import PodInfo, request_options
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.evaluation.evaluator import Evaluator
from kubesched.core.framework.effects import Effects
from kubesched.core.framework.observer import NOBODY, Observers
from kubesched.core.framework.profile import Profile, compile_profiles
from kubesched.core.framework.registry import Registry
from kubesched.core.framework.waiting import NobodyWaits, PodsThatWait
from kubesched.core.framework.waits import NoWaits, Waits
from kubesched.core.plugins.in_tree import in_tree_registry
from kubesched.core.scheduling.cluster_effects import ClusterEffects


class Engine:
    """A cluster, and an evaluator per profile."""

    def __init__(
        self,
        loaded: Loaded,
        registry: Registry | None = None,
        effects: Effects | None = None,
        waits: Waits | None = None,
        waiting: PodsThatWait | None = None,
        observers: Observers | None = None,
    ) -> None:
        self.loaded = loaded
        self.cluster = Cluster(request_options(loaded.gates))
        # what would be done to the world is done to the cluster
        self.effects: Effects = effects or ClusterEffects(self.cluster)
        everything = in_tree_registry()
        if registry is not None:
            for name in registry:
                everything.adopt(registry, name)
        services = {
            "cluster": self.cluster,
            "effects": self.effects,
            "waits": waits or NoWaits(),
            "waiting": waiting if waiting is not None else NobodyWaits(),
            "observers": observers or NOBODY,
        }
        self.profiles: dict[str, Profile] = compile_profiles(loaded, everything, services)
        self.evaluators = {name: Evaluator(profile, self.cluster) for name, profile in self.profiles.items()}

    def evaluate(self, pod: PodInfo) -> Evaluation:
        """Return the evaluation of a pod under its profile; KeyError if there is no such profile.

        TypeError for a Pod, or anything else that no reader has read.
        """
        if not isinstance(pod, PodInfo):
            raise TypeError(
                f"a pod is evaluated as the cluster reads it: engine.evaluate(engine.cluster.reader.read(pod)), "
                f"not {type(pod).__name__}"
            )
        return self.evaluators[pod.spec.scheduler_name or "default-scheduler"].evaluate(pod)


def build_engine(
    config: str | bytes | None = None,
    gates: FeatureGates | None = None,
    registry: Registry | None = None,
    *,
    validate: bool = True,
    effects: Effects | None = None,
    waits: Waits | None = None,
    waiting: PodsThatWait | None = None,
    observers: Observers | None = None,
) -> Engine:
    """Return an engine for a configuration text; `registry` brings out-of-tree plugins, the rest is for binding."""
    catalog = merge_catalogs(IN_TREE, registry.catalog()) if registry is not None else IN_TREE
    return Engine(load(config, gates, catalog, validate=validate), registry, effects, waits, waiting, observers)

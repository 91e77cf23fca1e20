"""Models of clusters for the tests of `asking`."""

from kubesched.api.meta import ApiObject
from kubesched.asking.cluster_objects import ClusterObjects
from kubesched.asking.model import ClusterModel
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import load_config
from kubesched.core.framework.registry import Registry


def a_model(
    *objects: ApiObject, config: str | None = None, registry: Registry | None = None, gates: str = ""
) -> ClusterModel:
    """Return a model of a cluster with some objects, under a configuration text and with some gates on."""
    enabled = FeatureGates(dict.fromkeys(gates.split(), True))
    return ClusterModel(ClusterObjects(objects), load_config(config, enabled, registry), registry)

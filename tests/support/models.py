"""Models of clusters for the tests of `asking`."""

from dataclasses import replace

from kubesched.api.meta import ApiObject
from kubesched.client.rest import RestConfig
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects


def a_model(
    *objects: ApiObject, config: str | None = None, registry: Registry | None = None, gates: str = ""
) -> ClusterModel:
    """Return a model of a cluster with some objects, under a configuration text and with some gates on."""
    enabled = FeatureGates(dict.fromkeys(gates.split(), True))
    return ClusterModel(ClusterObjects(objects), load_config(config, enabled, registry), registry)


def a_live_model(*objects: ApiObject) -> ClusterModel:
    """Return a model that counts as one of a live cluster, whose API server does not answer."""
    model = a_model(*objects)
    origin = "https://api.a-long-name-of-a-cluster.example.com:6443"
    nowhere = RestConfig("http://127.0.0.1:9", _no_headers)
    model.source = replace(model.source, origin=origin, kubernetes="v1.36.4", server=nowhere)
    return model


async def _no_headers() -> dict[str, str]:
    return {}

"""A cluster to ask about, from Python and from notebooks.

From files, a kubeconfig or objects to answers: frozen values, which notebooks show as HTML. All commands that ask are
here under their names.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from kubesched.api.codec import decode
from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.asking.cluster_objects import ClusterObjects
from kubesched.asking.explain.explain_pod import explain_pod
from kubesched.asking.explain.pod_answer import PodAnswer
from kubesched.asking.model import ClusterModel

# imported for notebooks
from kubesched.asking.reports import answer_reports as answer_reports
from kubesched.asking.sources.files import read_files
from kubesched.common.files import UnusableFileError, read_at_most
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates, parse_flag
from kubesched.config.load import Loaded
from kubesched.core.assembly import load_config
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import Plugin
from kubesched.core.framework.registry import Registry
from kubesched.errors import KubeschedError

# of a KubeSchedulerConfiguration
LARGEST_CONFIG = 10 << 20
Document = Mapping[str, Any]
PathName = str | os.PathLike[str]


class Cluster:
    """The objects of a cluster, and the scheduler that answers.

    `config` is a KubeSchedulerConfiguration: the name of a file, or the document; without one the defaults count.
    `gates` are feature gates, as a mapping or as `--feature-gates` has them. `plugins` are plugins of your own, which
    the configuration enables.
    """

    def __init__(
        self,
        objects: ClusterObjects,
        *,
        config: PathName | Document | None = None,
        gates: Mapping[str, bool] | str | None = None,
        plugins: Iterable[type[Plugin]] = (),
    ) -> None:
        registry = _registry(plugins)
        self._model = ClusterModel(objects, _loaded(config, gates, registry), registry)

    # -- where a cluster comes from

    @classmethod
    def read(cls, *paths: PathName, **scheduler: Any) -> "Cluster":
        """Return the cluster in files and folders: snapshots, and manifests as `kubectl get -o yaml` writes them."""
        return cls(read_files([os.fspath(path) for path in paths]), **scheduler)

    @classmethod
    def of(cls, objects: Iterable[ApiObject | Document], **scheduler: Any) -> "Cluster":
        """Return the cluster of some objects: structs as `kubesched.testing` makes them, or documents."""
        read = [obj if isinstance(obj, ApiObject) else decode(dict(obj)) for obj in objects]
        return cls(ClusterObjects(tuple(read), origin="objects"), **scheduler)

    # -- what it has

    @property
    def nodes(self) -> list[str]:
        """Return the names of the nodes."""
        return self._model.node_names()

    @property
    def pending(self) -> list[str]:
        """Return the pods without a node, as `namespace/name`."""
        return sorted(pod.full_name for pod in self._model.cluster.pending.values())

    def __repr__(self) -> str:
        counts = f"nodes: {len(self.nodes)}, pods: {len(self._model.pods)}, pending: {len(self.pending)}"
        return f"<Cluster of {self._model.source.origin}; {counts}>"

    # -- questions

    def explain(self, pod: str | Document | Pod) -> PodAnswer:
        """Explain why a pod is pending, and what would help: `namespace/name`, or a pod that does not exist yet."""
        return explain_pod(self._model, self._pod(pod))

    def _pod(self, pod: str | Document | Pod) -> PodInfo:
        if isinstance(pod, str):
            return self._model.pod(pod if "/" in pod else f"default/{pod}")
        read = pod if isinstance(pod, Pod) else decode({"apiVersion": "v1", "kind": "Pod", **pod})
        if not isinstance(read, Pod):
            raise KubeschedError(f"explain takes a pod, not a {type(read).__name__}")
        return self._model.read(read)


def _registry(plugins: Iterable[type[Plugin]]) -> Registry:
    registry = Registry()
    for plugin in plugins:
        registry.register(plugin)
    return registry


def _loaded(config: PathName | Document | None, gates: Mapping[str, bool] | str | None, registry: Registry) -> Loaded:
    settings = parse_flag(gates) if isinstance(gates, str) else gates
    try:
        return load_config(_text(config), FeatureGates(settings), registry)
    except ConfigError as error:
        raise error.about("config" if isinstance(config, Mapping | None) else os.fspath(config)) from None


def _text(config: PathName | Document | None) -> bytes | None:
    if config is None:
        return None
    if isinstance(config, Mapping):
        return msgspec.json.encode(config)
    try:
        return read_at_most(Path(config), LARGEST_CONFIG)
    except UnusableFileError as error:
        raise KubeschedError(f"{os.fspath(config)}: {error}") from None

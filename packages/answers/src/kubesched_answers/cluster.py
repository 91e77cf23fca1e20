"""A cluster for questions from Python and from notebooks.

From files, a kubeconfig or objects to answers: frozen values, which notebooks show as HTML. Its methods have the
names of the commands. Questions about workloads need an API server, whose modules are imported at the first such
question.
"""

import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, overload

import msgspec

from kubesched.api.codec import to_builtins
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.client.credentials.context_choice import ContextChoice
from kubesched.common.files import UnusableFileError, read_at_most
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates, parse_flag
from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import Plugin
from kubesched.errors import KubeschedError
from kubesched.manifests import Manifest
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.sources.cluster_source import ClusterSource
from kubesched.sources.custom_kinds import custom_kinds_of
from kubesched_answers.capacity.capacity_answer import CapacityAnswer
from kubesched_answers.explain.explain_node import explain_node
from kubesched_answers.explain.explain_pod import explain_named_pod, explain_pod
from kubesched_answers.explain.node_answer import NodeAnswer
from kubesched_answers.explain.pod_answer import PodAnswer
from kubesched_answers.explain.triage import triage
from kubesched_answers.explain.triage_answer import Triage
from kubesched_answers.remaining.remaining_answer import RemainingAnswer

# for notebooks only
from kubesched_answers.reports import answer_reports as answer_reports
from kubesched_answers.sources.anonymising import anonymised
from kubesched_answers.sources.files import read_files, read_objects
from kubesched_answers.sources.reading import read_cluster
from kubesched_answers.sources.remembering import remembered
from kubesched_answers.sources.snapshot_file import write_snapshot
from kubesched_answers.sources.snapshots import snapshot_bytes
from kubesched_answers.sources.template_files import read_manifests
from kubesched_answers.whatif.whatif_answer import ComparisonAnswer, ConsolidationAnswer, WhatIfAnswer
from kubesched_answers.workloads.workload_answer import WorkloadAnswer

# of a KubeSchedulerConfiguration
LARGEST_CONFIG = 10 << 20
Document = Mapping[str, Any]
PathName = str | os.PathLike[str]
Config = PathName | Document | None
Gates = Mapping[str, bool] | str | None
Plugins = Iterable[type[Plugin] | Callable[..., Any]]


class Cluster:
    """The objects of a cluster, and the scheduler that answers. Create one by `connect`, `read` or `of`.

    All three take the scheduler's options. `config` is a KubeSchedulerConfiguration, as a file name or a document;
    without it the defaults apply. `gates` are feature gates, as a mapping or in the form of `--feature-gates`.
    `plugins` are out-of-tree plugins, which the configuration enables.
    """

    def __init__(self, model: ClusterModel) -> None:
        self._model = model

    # -- where a cluster comes from

    @classmethod
    def connect(
        cls,
        kubeconfig: PathName | None = None,
        context: str | None = None,
        name: str | None = None,
        *,
        config: Config = None,
        gates: Gates = None,
        plugins: Plugins = (),
    ) -> "Cluster":
        """Read a live cluster: kubectl's current cluster, or by `name` a cluster of `kubesched up`."""
        if name and (kubeconfig or context):
            raise KubeschedError("connect takes either the name of a cluster, or a kubeconfig and a context")
        scheduler = _Scheduler(config, gates, plugins)
        source = ClusterSource(
            cluster=name or "", kubeconfig=os.fspath(kubeconfig or ""), choice=ContextChoice(context=context or "")
        )
        return cls(scheduler.model(read_cluster(source, scheduler.custom_kinds)))

    @classmethod
    def read(
        cls,
        *paths: PathName,
        config: Config = None,
        gates: Gates = None,
        plugins: Plugins = (),
    ) -> "Cluster":
        """Return the cluster in files and folders: snapshots, or manifests in the form of `kubectl get -o yaml`."""
        if not paths:
            raise KubeschedError("read needs files or folders: snapshots, or manifests")
        scheduler = _Scheduler(config, gates, plugins)
        return cls(scheduler.model(read_files([os.fspath(path) for path in paths], scheduler.custom_kinds)))

    @classmethod
    def of(
        cls,
        objects: Iterable[ApiObject | Document],
        *,
        config: Config = None,
        gates: Gates = None,
        plugins: Plugins = (),
    ) -> "Cluster":
        """Return the cluster of some objects: structs, such as those of `kubesched.testing`, or documents."""
        scheduler = _Scheduler(config, gates, plugins)
        return cls(scheduler.model(read_objects(objects, scheduler.custom_kinds)))

    def snapshot(self, file: PathName, anonymise: bool = False) -> None:
        """Write the cluster to a file for `read`; `anonymise` replaces names and values by random codes."""
        objects = self._model.source
        if anonymise:
            objects = anonymised(objects, secrets.token_bytes(32))
        write_snapshot(Path(file), snapshot_bytes(objects))

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

    @overload
    def explain(self) -> Triage: ...

    @overload
    def explain(self, pod: str | Document | Pod) -> PodAnswer: ...

    def explain(self, pod: str | Document | Pod | None = None) -> Triage | PodAnswer:
        """Explain why a pod is pending, and what would help; without a pod, everything that is pending, by cause.

        `pod` is a name (`namespace/name`), or a pod that does not exist yet: a struct or a document. The document of
        a workload stands for its next pod.
        """
        if pod is None:
            return triage(self._model, self._model.source.taken_at or datetime.now(UTC))
        if isinstance(pod, str):
            return remembered(self._model, explain_named_pod(self._model, self._model.full_name(pod)))
        if isinstance(pod, Pod):
            return explain_pod(self._model, self._model.read(pod))
        from kubesched_answers.explain.explain_template import explain_manifests

        return explain_manifests(self._model, _manifests([pod]))

    def explain_node(self, name: str) -> NodeAnswer:
        """Explain a node: its free resources, and the pending pods that would fit."""
        return explain_node(self._model, name)

    def explain_workload(self, name: str) -> WorkloadAnswer:
        """Explain the pods of a workload, `deploy/web` or `deploy/shop/web`: their nodes, or why they are pending."""
        from kubesched_answers.whatif.workloads import parse_name
        from kubesched_answers.workloads.explain_workload import explain_workload

        return explain_workload(self._model, parse_name(name), self._model.source.taken_at or datetime.now(UTC))

    def remaining(self, *, pool_label: str = "") -> RemainingAnswer:
        """Return the free capacity: amounts in total and by zone and pool, the largest pod, and stranded amounts."""
        from kubesched_answers.remaining.remaining import remaining

        return remaining(self._model, pool_label)

    def capacity(
        self,
        *workloads: PathName | Document | ApiObject,
        until: int | None = None,
        own_replicas: bool = False,
        weights: Sequence[int] = (),
        pool_label: str = "",
        nodes: Iterable[Node] = (),
        prices: Mapping[str, float] | None = None,
    ) -> CapacityAnswer:
        """Count how many replicas of workloads fit. A workload is a file, a document, or a pod to copy.

        `until` (or, with `own_replicas`, the replicas of each) is a target: the answer then says which nodes to add,
        of the cluster's kinds or copies of `nodes`. `weights` place the workloads in rounds. `prices` are by instance
        type.
        """
        from kubesched_answers.capacity.capacity import CapacityOptions, capacity
        from kubesched_answers.capacity.node_kinds import NodePrices
        from kubesched_answers.templates.reading import read_templates

        options = CapacityOptions(
            until, own_replicas, tuple(weights), pool_label, tuple(nodes), NodePrices(table=prices or {})
        )
        return capacity(self._model, read_templates(self._model, _manifests(workloads)), options)

    def whatif(self, *, force: bool = False, delete_emptydir_data: bool = False, **operations: Any) -> WhatIfAnswer:
        """Try operations in the given order; return the outcome for the pods. The names are those of the command's
        options.

        `drain`, `cordon`, `remove`: names of nodes, or a label selector; `taint`: (nodes, taint); `add_nodes`:
        `3=n1`; `scale`: `deploy/web=9`; `apply`: a file; `delete`: `pod/web`; `reschedule`: `all`. Each value may
        also be a list. As with kubectl, a drain needs `force` if a pod has no controller, and `delete_emptydir_data`
        if a pod has an emptyDir volume.
        """
        from kubesched_answers.sources.operation_files import FILE_READERS
        from kubesched_answers.whatif.requests import operation_of, with_drain_options
        from kubesched_answers.whatif.whatif import whatif

        pairs = [(name, each) for name, value in operations.items() for each in _several(value)]
        tried = [operation_of(self._model, name, each, FILE_READERS) for name, each in pairs]
        return whatif(self._model, with_drain_options(tried, force, delete_emptydir_data))

    def compare(
        self, *, config: Config = None, gates: Gates = None, plugins: Plugins = (), reschedule_all: bool = False
    ) -> ComparisonAnswer:
        """Compare this cluster's scheduler with another one, on the pending pods or on all pods."""
        from kubesched_answers.whatif.compare import NamedModel, compare

        other = _Scheduler(config, gates, plugins).model(self._model.source)
        models = (
            NamedModel("this configuration", self._model),
            NamedModel("the other scheduler", other, disposable=True),
        )
        return compare(*models, reschedule_all=reschedule_all)

    def consolidate(self, *, most: int | None = None) -> ConsolidationAnswer:
        """Return which nodes can be emptied (at most `most`), in which order, and where each pod goes."""
        from kubesched_answers.whatif.consolidate import consolidate

        return consolidate(self._model, most=most)


def _several(value: Any) -> list[Any]:
    """Return the values of an operation that is tried several times."""
    return list(value) if isinstance(value, list) else [value]


def _manifests(workloads: Iterable[PathName | Document | ApiObject]) -> list[Manifest]:
    """Return workloads as manifests: documents, structs, and those in files."""
    found: list[Manifest] = []
    for number, workload in enumerate(workloads, 1):
        if isinstance(workload, str | os.PathLike):
            found += read_manifests([os.fspath(workload)])
        else:
            document = _document(workload) if isinstance(workload, ApiObject) else dict(workload)
            found.append(Manifest(f"workload {number}", document))
    return found


def _document(obj: ApiObject) -> dict[str, Any]:
    """Return the document of a struct; a pod created in Python may leave out images."""
    document = to_builtins(obj)
    for container in document["spec"]["containers"] if isinstance(obj, Pod) else ():
        container.setdefault("image", "unknown")
    return document


class _Scheduler:
    """The scheduler that answers: its configuration and out-of-tree plugins."""

    def __init__(
        self,
        config: Config,
        gates: Gates,
        plugins: Plugins,
    ) -> None:
        self._registry = Registry()
        for plugin in plugins:
            self._registry.register(plugin)
        settings = parse_flag(gates) if isinstance(gates, str) else gates
        try:
            self._loaded = load_config(_text(config), FeatureGates(settings), self._registry)
        except ConfigError as error:
            raise error.about("config" if isinstance(config, Mapping | None) else os.fspath(config)) from None
        self.custom_kinds = custom_kinds_of(self._loaded, self._registry)

    def model(self, objects: ClusterObjects) -> ClusterModel:
        """Return the model of a cluster."""
        return ClusterModel(objects, self._loaded, self._registry)


def _text(config: Config) -> bytes | None:
    if config is None:
        return None
    if isinstance(config, Mapping):
        return msgspec.json.encode(config)
    try:
        return read_at_most(Path(config), LARGEST_CONFIG)
    except UnusableFileError as error:
        raise KubeschedError(f"{os.fspath(config)}: {error}") from None

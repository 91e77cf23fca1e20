"""Manifests of workloads as templates.

    manifests ──an API server in memory: defaults, validation, admission──▶ workloads ──controllers' rules──▶ pods

From manifests to `WorkloadTemplate`s, and the other objects of the manifests. A pod is stored as by the API server:
defaulted, with its priority, its default tolerations, and the additions of limit ranges and runtime classes of the
cluster. An invalid object is an error of one line, with the file, the object and the field.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, NamedTuple

from kubesched.api.codec import decode, to_builtins
from kubesched.api.kinds import is_foreign
from kubesched.api.nodes import Namespace
from kubesched.api.owners import ReplicaSet
from kubesched.api.pods import Pod
from kubesched.api.scheduling import PriorityClass
from kubesched.api.storage import PersistentVolumeClaim, StorageClass
from kubesched.errors import InvalidObjectError
from kubesched.manifests import Manifest
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import UNADMITTED, Gap
from kubesched.reports.answers import ObjectChange, ObjectName
from kubesched_answers.templates.workload_template import ClaimedVolume, WorkloadTemplate
from kubesched_controlplane.access import RoleBasedAccess, StaticTokens
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.controllers.workloads import job_pods, stateful_pods
from kubesched_controlplane.controllers.workloads.cron_jobs import job_of
from kubesched_controlplane.controllers.workloads.daemon_nodes import NodeFitness, daemon_spec
from kubesched_controlplane.controllers.workloads.hashing import short_hash
from kubesched_controlplane.controllers.workloads.owning import controller_reference, pod_for
from kubesched_controlplane.controllers.workloads.rollouts import TEMPLATE_HASH
from kubesched_controlplane.controllers.workloads.template_sets import set_for
from kubesched_controlplane.kinds.priority_classes import SYSTEM_PRIORITIES
from kubesched_controlplane.loading.loader import create
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.local_client import LocalClient

# kinds of the cluster that the API server reads when it admits a pod
_ADMITTING: Final = (Namespace, PriorityClass, StorageClass)
_LIMIT_RANGE, _QUOTA, _RUNTIME_CLASS = "LimitRange", "ResourceQuota", "RuntimeClass"
# fields of an existing pod that the template lacks
_NOT_OF_A_TEMPLATE: Final = ("nodeName", "ephemeralContainers")
# path to the pod spec, if not in the template of the spec
_SPEC_PATHS: Final = {
    "Pod": ("spec",),
    "PodTemplate": ("template", "spec"),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
}
_NOT_OF_NEW_METADATA: Final = ("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "managedFields")


class WorkloadTemplates(NamedTuple):
    """The templates in manifests, and the other objects there: claims, classes, owners of the pods.

    `gaps` are unknown additions of admission, and objects left out. `quotas` come from the manifests.
    """

    templates: tuple[WorkloadTemplate, ...]
    others: tuple[ObjectChange, ...]
    gaps: tuple[Gap, ...] = ()
    quotas: tuple[Document, ...] = ()


def read_templates(model: ClusterModel, manifests: Sequence[Manifest]) -> WorkloadTemplates:
    """Return the templates in manifests, in their order; raises InvalidObjectError.

    Objects without a namespace are in that of the model's source. Left out are custom resources, and objects that
    controllers of other manifests create: the replica sets of a Deployment among the manifests, and their pods.
    Quotas refuse no template: `asking.quotas` says how many pods they allow.
    """
    manifests = [_as_new(manifest, model.source.namespace) for manifest in manifests]
    manifests, made = _without_made(manifests)
    classes = _unknown_runtime_classes(model, manifests)
    stand_ins = [*classes.values(), *_unread_priority_classes(model, manifests)]
    server, refused = admitting_server(model, {_namespace(manifest.document) for manifest in manifests}, stand_ins)
    served = {resource.kind for resource in server.registry.catalog.resources}
    manifests = [manifest for manifest in manifests if manifest.kind in served or not is_foreign(manifest.document)]
    quotas = [manifest for manifest in manifests if manifest.kind == _QUOTA]
    manifests = [manifest for manifest in manifests if manifest.kind != _QUOTA]
    _create(server, manifests)
    reader = _Reader(model, server)
    templates: list[WorkloadTemplate] = []
    others: list[Document] = []
    for manifest in manifests:
        if manifest.kind in _MAKERS:
            templates.append(reader.template(manifest))
        elif not is_foreign(manifest.document):
            others.append(reader.stored(manifest.document))
    # after the pods, which quotas might reject
    _create(server, quotas)
    gaps = [*refused, *_unread(model, templates, classes)]
    if made:
        named = ", ".join(f"{each.kind} {each.name}" for each in made[:3])
        more = f" and {len(made) - 3} more" if len(made) > 3 else ""
        gaps.append(Gap(f"{named}{more}", "the owner is among the manifests", "nothing: it counts with its owner"))
    changes = tuple(map(_created, [*others, *reader.owners]))
    own = tuple(reader.stored(quota.document) for quota in quotas)
    return WorkloadTemplates(tuple(templates), changes, tuple(gaps), tuple(map(_uncounted, own)))


def is_workload(document: Document) -> bool:
    """Return whether a document is of a kind that has pods, or is a pod."""
    return document.get("kind") in _MAKERS


class _Reader:
    """Makes templates of workloads that an API server has stored."""

    def __init__(self, model: ClusterModel, server: ApiServer) -> None:
        self._model = model
        self._client = LocalClient(server, ADMINISTRATOR)
        # replica sets and other owners of the pods, which the scheduler reads
        self.owners: list[Document] = []

    def stored(self, document: Document) -> Document:
        """Return the stored form of a manifest's object."""
        resource = self._client.resource(document["apiVersion"], document["kind"])
        namespace = _namespace(document) if resource.namespaced else ""
        found = self._client.get(resource, namespace, document["metadata"]["name"])
        assert found is not None, "it was created"
        return found

    def template(self, manifest: Manifest) -> WorkloadTemplate:
        """Return the template of a workload; raises InvalidObjectError."""
        try:
            return _MAKERS[manifest.kind](self, self.stored(manifest.document))
        except ApiError as error:
            raise InvalidObjectError(f"{manifest.named}: {error.message}") from None

    # -- one maker a kind

    def pod(self, pod: Document) -> WorkloadTemplate:
        """Return the template of a pod: copies of it."""
        return self._of(pod, pod)

    def pod_template(self, holder: Document) -> WorkloadTemplate:
        """Return the template of a PodTemplate."""
        return self._of(holder, self._create(pod_for(holder, holder["template"], _reference(holder))))

    def deployment(self, deployment: Document) -> WorkloadTemplate:
        """Return the template of a Deployment; its pods have the hash of its newest replica set, if there is one."""
        replicas = set_for(deployment, self._known_hash(deployment))
        replicas = self._create({"apiVersion": "apps/v1", "kind": "ReplicaSet", **replicas})
        return replace(_renamed(self.replicas(replicas), deployment), replicas=deployment["spec"].get("replicas", 1))

    def replicas(self, owner: Document) -> WorkloadTemplate:
        """Return the template of a ReplicaSet or ReplicationController."""
        self.owners.append(owner)
        spec = owner["spec"]
        pod = self._create(pod_for(owner, spec["template"], _reference(owner)))
        return replace(self._of(owner, pod), replicas=spec.get("replicas", 1))

    def stateful_set(self, owner: Document) -> WorkloadTemplate:
        """Return the template of a StatefulSet, with its volume claim templates."""
        self.owners.append(owner)
        ordinal, spec = stateful_pods.first_ordinal(owner), owner["spec"]
        pod = pod_for(owner, spec["template"], _reference(owner))
        stateful_pods.complete(pod, owner, ordinal, f"{owner['metadata']['name']}-{short_hash(spec['template'])}")
        claims = tuple(
            ClaimedVolume(
                template["metadata"]["name"], self._claim(stateful_pods.claim_of(owner, template, name)), False
            )
            for template, name in stateful_pods.claim_names(owner, ordinal)
        )
        found = self._of(owner, self._create(pod))
        return replace(
            found,
            replicas=spec.get("replicas", 1),
            first_ordinal=ordinal,
            index_labels=(stateful_pods.POD_INDEX,),
            name_label=stateful_pods.POD_NAME,
            claims=(*claims, *found.claims),
        )

    def job(self, job: Document) -> WorkloadTemplate:
        """Return the template of a Job: as many pods as run in parallel."""
        spec = job["spec"]
        at_once = spec.get("parallelism", 1)
        replicas = at_once if spec.get("completions") is None else min(at_once, spec["completions"])
        pod = pod_for(job, job_pods.tracked_template(job), _reference(job))
        indexed = spec.get("completionMode") == "Indexed"
        if indexed:
            job_pods.with_index(pod, job, 0, None)
        index_labels = (job_pods.INDEX,) if indexed else ()
        return replace(self._of(job, self._create(pod)), replicas=replicas, index_labels=index_labels)

    def cron_job(self, cron_job: Document) -> WorkloadTemplate:
        """Return the template of a CronJob: the pods of one of its jobs."""
        due = datetime.fromtimestamp(0, UTC)
        job = job_of(cron_job, f"{cron_job['metadata']['name']}-0", due)
        return _renamed(self.job(self._create({"apiVersion": "batch/v1", "kind": "Job", **job})), cron_job)

    def daemon_set(self, owner: Document) -> WorkloadTemplate:
        """Return the template of a DaemonSet, with the tolerations that its controller adds."""
        template = owner["spec"]["template"]
        pod = pod_for(owner, template, _reference(owner))
        pod["spec"] = daemon_spec(template["spec"])
        pod["metadata"].setdefault("labels", {})[stateful_pods.REVISION] = short_hash(template)
        return replace(self._of(owner, self._create(pod)), replicas=0, fitness=NodeFitness(template))

    # -- parts

    def _create(self, document: Document) -> Document:
        document = {"apiVersion": "v1", "kind": "Pod", **document}
        return self._client.create(self._client.resource(document["apiVersion"], document["kind"]), document)

    def _claim(self, document: Document) -> PersistentVolumeClaim:
        made = decode(self._create({"kind": "PersistentVolumeClaim", **document}))
        assert isinstance(made, PersistentVolumeClaim)
        return made

    def _known_hash(self, deployment: Document) -> str:
        """Return the hash of a deployment's newest replica set in the cluster, an empty text without one."""
        meta = deployment["metadata"]
        own = [
            each
            for each in self._model.cluster.objects.of(ReplicaSet)
            if each.namespace == meta["namespace"]
            and any(
                owner.kind == "Deployment" and owner.name == meta["name"] for owner in each.metadata.owner_references
            )
        ]
        newest = max(own, key=_revision, default=None)
        return newest.metadata.labels.get(TEMPLATE_HASH, "") if newest is not None else ""

    def _of(self, owner: Document, document: Document) -> WorkloadTemplate:
        """Return the template of an owner with one pod, and with the claims of its pod's ephemeral volumes."""
        pod = decode({"apiVersion": "v1", "kind": "Pod", **document})
        assert isinstance(pod, Pod)
        name = _name_of(owner)
        return WorkloadTemplate(name, pod, base_name=name.name, claims=tuple(self._ephemeral_claims(document)))

    def _ephemeral_claims(self, pod: Document) -> Iterable[ClaimedVolume]:
        meta = pod["metadata"]
        for volume in pod["spec"].get("volumes") or ():
            template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
            if template is not None:
                described = template.get("metadata") or {}
                made = {"name": f"{meta['name']}-{volume['name']}", "namespace": meta["namespace"]}
                claim = self._claim({"metadata": {**described, **made}, "spec": template["spec"]})
                yield ClaimedVolume(volume["name"], claim, True)


_Maker = Callable[[_Reader, Document], WorkloadTemplate]
_MAKERS: Final[dict[str, _Maker]] = {
    "Pod": _Reader.pod,
    "PodTemplate": _Reader.pod_template,
    "Deployment": _Reader.deployment,
    "ReplicaSet": _Reader.replicas,
    "ReplicationController": _Reader.replicas,
    "StatefulSet": _Reader.stateful_set,
    "Job": _Reader.job,
    "CronJob": _Reader.cron_job,
    "DaemonSet": _Reader.daemon_set,
}


# -- the server


def _create(server: ApiServer, manifests: Sequence[Manifest]) -> None:
    report = create(server, manifests)
    if report.problems:
        raise InvalidObjectError("\n".join(report.problems))


def admitting_server(
    model: ClusterModel, namespaces: Iterable[str], classes: Iterable[Document]
) -> tuple[ApiServer, tuple[Gap, ...]]:
    """Return an API server with the objects that admission reads, and gaps for objects that it rejects."""
    tokens = StaticTokens({})
    server = ApiServer(access=lambda registry: RoleBasedAccess(registry, tokens), seed=0)
    known = [to_builtins(obj) for obj in model.source.objects if isinstance(obj, _ADMITTING)]
    known += [each for each in model.source.admission if each["kind"] != _QUOTA]
    there = {each["metadata"]["name"] for each in known if each["kind"] == "Namespace"}
    known += [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for name in sorted({"default", *namespaces} - there)
    ]
    known += classes
    report = create(server, [Manifest(f"cluster: object {at}", each, True) for at, each in enumerate(known, 1)])
    gaps = (
        Gap("an object", f"this release refuses it: {each}", "pods are admitted without it") for each in report.problems
    )
    return server, tuple(gaps)


def _unread(model: ClusterModel, templates: Sequence[WorkloadTemplate], classes: Iterable[str]) -> Iterator[Gap]:
    """Yield gaps for admission kinds that the source may lack, unless the source already reports them."""
    source = model.source
    for name in classes:
        yield Gap(f"{_RUNTIME_CLASS} {name}", "the source does not have it", "its overhead and nodes do not count")
    concerned = {
        _LIMIT_RANGE: bool(templates),
        _QUOTA: bool(templates),
        PriorityClass.__name__: bool(templates),
        StorageClass.__name__: any(template.claims for template in templates),
    }
    told = {gap.what.partition(" ")[0] for gap in source.gaps}
    for kind in source.unread:
        if concerned.get(kind) and kind not in told:
            yield Gap(kind, f"{source.origin or 'the source'} has none; the cluster may have some", UNADMITTED[kind])


def _unknown_runtime_classes(model: ClusterModel, manifests: Sequence[Manifest]) -> dict[str, Document]:
    """Return runtime classes that pods name and the source may lack, with the overhead in the pods."""
    if _RUNTIME_CLASS not in model.source.unread:
        return {}
    known = {each["metadata"]["name"] for each in model.source.admission if each["kind"] == _RUNTIME_CLASS}
    known |= {manifest.name for manifest in manifests if manifest.kind == _RUNTIME_CLASS}
    found: dict[str, Document] = {}
    for manifest in manifests:
        spec = _pod_spec(manifest.document)
        name = spec.get("runtimeClassName")
        if isinstance(name, str) and name not in known:
            made = {
                "apiVersion": "node.k8s.io/v1",
                "kind": "RuntimeClass",
                "metadata": {"name": name},
                "handler": "any",
            }
            found[name] = {**made, "overhead": {"podFixed": spec["overhead"]}} if spec.get("overhead") else made
    return found


def _unread_priority_classes(model: ClusterModel, manifests: Sequence[Manifest]) -> Iterator[Document]:
    """Yield priority classes that pods name, if the source may lack some; a gap reports it."""
    if PriorityClass.__name__ not in model.source.unread:
        return
    for spec in (_pod_spec(manifest.document) for manifest in manifests):
        name, value = spec.get("priorityClassName"), spec.get("priority")
        if isinstance(name, str) and name and name not in SYSTEM_PRIORITIES:
            yield {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value if isinstance(value, int) else 0,
            }


# -- documents


def _pod_spec(document: Document) -> Document:
    """Return the pod spec of a workload, empty if it has none."""
    value: object = document
    for field in _SPEC_PATHS.get(str(document.get("kind")), ("spec", "template", "spec")):
        value = value.get(field) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _as_new(manifest: Manifest, namespace: str) -> Manifest:
    """Return a manifest with a name and a namespace, and a pod without the fields of an existing pod."""
    document = manifest.document
    meta = document.get("metadata")
    if not isinstance(meta, dict):
        return manifest
    meta = meta if meta.get("namespace") else {**meta, "namespace": namespace or "default"}
    if not meta.get("name") and isinstance(meta.get("generateName"), str):
        meta = {**meta, "name": meta["generateName"].rstrip("-.")}
    if manifest.kind != "Pod" or not isinstance(document.get("spec"), dict):
        return manifest._replace(document={**document, "metadata": meta})
    meta = {field: value for field, value in meta.items() if field not in _NOT_OF_NEW_METADATA}
    spec = {field: value for field, value in document["spec"].items() if field not in _NOT_OF_A_TEMPLATE}
    kept = {field: value for field, value in document.items() if field != "status"}
    return Manifest(manifest.place, {**kept, "metadata": meta, "spec": spec})


def _without_made(manifests: Sequence[Manifest]) -> tuple[list[Manifest], list[Manifest]]:
    """Return the manifests without an owner among the manifests, and the manifests with one."""
    there = {(each.kind, _namespace(each.document), each.name) for each in manifests if each.kind in _MAKERS}

    def is_made(manifest: Manifest) -> bool:
        meta = manifest.document.get("metadata")
        owners = meta.get("ownerReferences") if isinstance(meta, dict) and manifest.kind in _MAKERS else None
        return isinstance(owners, list) and any(
            (owner.get("kind"), _namespace(manifest.document), owner.get("name")) in there
            for owner in owners
            if isinstance(owner, dict) and owner.get("controller")
        )

    return [each for each in manifests if not is_made(each)], [each for each in manifests if is_made(each)]


def _namespace(document: Document) -> str:
    meta = document.get("metadata")
    name = meta.get("namespace") if isinstance(meta, dict) else None
    return name if isinstance(name, str) and name else "default"


def _name_of(document: Document) -> ObjectName:
    meta = document["metadata"]
    return ObjectName(document["apiVersion"], document["kind"], meta.get("namespace", ""), meta["name"])


def _renamed(template: WorkloadTemplate, owner: Document) -> WorkloadTemplate:
    """Return a template in the name of the owner's owner: a Deployment's, a CronJob's."""
    name = _name_of(owner)
    return replace(template, workload=name, base_name=name.name)


def _reference(owner: Document) -> Document:
    return controller_reference(owner["apiVersion"], owner["kind"], owner)


def _uncounted(quota: Document) -> Document:
    return {field: value for field, value in quota.items() if field != "status"}


def _created(document: Document) -> ObjectChange:
    return ObjectChange(_name_of(document), create=document)


def _revision(replicas: ReplicaSet) -> int:
    text = replicas.metadata.annotations.get("deployment.kubernetes.io/revision", "")
    return int(text) if text.isdecimal() else 0

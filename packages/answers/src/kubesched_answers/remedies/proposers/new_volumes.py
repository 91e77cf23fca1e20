"""Storage objects that a pod's claim lacks: the claim itself, its class, a volume for it.

From a claim to steps. They do not include the provisioner's work: you create the claim, or fix the provisioner.
Volumes of a class without a provisioner are local ones, on the node that has the disk.
"""

from collections.abc import Iterator
from dataclasses import replace

from kubesched.api.codec import decode, to_builtins
from kubesched.api.labels import subdomain_problems
from kubesched.api.storage import PersistentVolumeClaim, StorageClass
from kubesched.api.volumes import Volume
from kubesched.core.cluster.storage.volume_claims import WAIT_FOR_FIRST_CONSUMER, storage_class_name
from kubesched.core.plugins.volume_binding.claims import BIND_COMPLETED
from kubesched_answers.remedies.proposers.new_nodes import HOSTNAME
from kubesched_answers.remedies.proposers.obstacles import creation, field, object_step
from kubesched_answers.remedies.steps import Document, Edit, Rank, Step, Steps
from kubesched_answers.remedies.trials import Trial

NO_PROVISIONER = "kubernetes.io/no-provisioner"
ANY_DRIVER = "csi.example.com"
DEFAULT_SIZE = "1Gi"
IS_DEFAULT = "storageclass.kubernetes.io/is-default-class"


def new_claims(trial: Trial, volume: Volume, name: str, ephemeral: bool) -> Iterator[Steps]:
    """Yield the creation of a missing claim, with each class of the cluster, the default class first."""
    classes = list(trial.model.cluster.objects.of(StorageClass))
    template = volume.ephemeral.volume_claim_template if volume.ephemeral is not None else None
    if ephemeral and template is not None and template.spec.storage_class_name is not None:
        classes = [each for each in classes if each.name == template.spec.storage_class_name]
    for storage_class in sorted(classes, key=lambda each: each.metadata.annotations.get(IS_DEFAULT) != "true"):
        meta: Document = {"name": name, "namespace": trial.pod.namespace}
        spec: Document = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": DEFAULT_SIZE}},
            "storageClassName": storage_class.name,
        }
        if ephemeral:
            meta["ownerReferences"] = [
                {"apiVersion": "v1", "kind": "Pod", "name": trial.pod.name, "uid": trial.pod.uid, "controller": True}
            ]
            spec = to_builtins(template.spec) if template is not None else spec
        document = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec}
        text = f"create claim {trial.pod.namespace}/{name} of storage class {spec.get('storageClassName', '')}"
        created = creation(document, "claim", text)
        if storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER:
            yield (created,)
        elif storage_class.provisioner != NO_PROVISIONER:
            yield _with_volume(trial, created, document, storage_class)


def _with_volume(trial: Trial, created: Step, document: Document, storage_class: StorageClass) -> Steps:
    """Return the creation of a claim, and of the volume that its provisioner creates at once."""
    claim = decode(document)
    assert isinstance(claim, PersistentVolumeClaim)
    bound_document = to_builtins(claim)
    binding(_volume_name(claim))(bound_document)
    volume = _volume_of(trial, claim, _volume_name(claim), None, created.summary, storage_class)
    return (replace(created, create=bound_document, sent=document), *(replace(each, outside=True) for each in volume))


def provisioned(trial: Trial, claim: PersistentVolumeClaim, storage_class: StorageClass) -> Steps:
    """Return the volume that a provisioner should have created for a claim; None if the class has no provisioner."""
    if storage_class.provisioner == NO_PROVISIONER:
        return ()
    of_class = f"provisioner {storage_class.provisioner} of storage class {storage_class.name}"
    text = f"have {of_class} create the volume of claim {claim.full_name}, for which it waits"
    step = object_step(claim, "provisioner", text, binding(_volume_name(claim)), rank=Rank.FIX_CLAIM)
    describe = ("kubectl", "describe", "-n", claim.namespace, "persistentvolumeclaim", claim.name)
    volume = _volume_of(trial, claim, _volume_name(claim), None, text, storage_class)
    return (replace(step, outside=True, command=describe), *(replace(each, outside=True) for each in volume))


def new_volume(trial: Trial, claim: PersistentVolumeClaim, name: str, row: int | None) -> Iterator[Step]:
    """Yield the creation of a volume for a claim; a local one needs the node of a row."""
    size = claim.spec.resources.requests.get("storage", DEFAULT_SIZE)
    found = trial.model.cluster.objects.get(StorageClass, storage_class_name(claim))
    return _volume_of(trial, claim, name, row, f"create volume {name} of {size} for claim {claim.full_name}", found)


def _volume_of(
    trial: Trial,
    claim: PersistentVolumeClaim,
    name: str,
    row: int | None,
    text: str,
    storage_class: StorageClass | None,
) -> Iterator[Step]:
    spec: Document = {
        "capacity": {"storage": claim.spec.resources.requests.get("storage", DEFAULT_SIZE)},
        "accessModes": list(claim.spec.access_modes) or ["ReadWriteOnce"],
        "storageClassName": storage_class_name(claim),
    }
    if claim.spec.volume_mode:
        spec["volumeMode"] = claim.spec.volume_mode
    if storage_class is not None and storage_class.provisioner == NO_PROVISIONER:
        node = trial.node(row) if row is not None else None
        host = node.metadata.labels.get(HOSTNAME) if node is not None else None
        if node is None or host is None:
            return
        path = f"/mnt/disks/{name}"
        expression = {"key": HOSTNAME, "operator": "In", "values": [host]}
        spec["local"] = {"path": path}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
        text = f"{text}, a disk of node {node.name} that is mounted at {path}"
    else:
        provisioner = storage_class.provisioner if storage_class is not None else ANY_DRIVER
        driver = provisioner.rpartition("/")[2]
        spec["csi"] = {"driver": ANY_DRIVER if subdomain_problems(driver) else driver, "volumeHandle": name}
    document = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": spec,
        "status": {"phase": "Available"},
    }
    sent = {key: value for key, value in document.items() if key != "status"}
    yield replace(creation(document, "volume", text), sent=sent)


def new_class(trial: Trial, name: str) -> Step:
    """Return the creation of a missing storage class, with the provisioner of another class."""
    others = trial.model.cluster.objects.of(StorageClass)
    provisioners = [each.provisioner for each in others if each.provisioner != NO_PROVISIONER]
    provisioner = provisioners[0] if provisioners else ANY_DRIVER
    document = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": WAIT_FOR_FIRST_CONSUMER,
    }
    return creation(document, "storage class", f"create storage class {name} with provisioner {provisioner}")


def binding(volume_name: str) -> Edit:
    """Return the edit of a claim that binds it to a volume."""

    def edit(document: Document) -> None:
        document["spec"]["volumeName"] = volume_name
        field(document, "metadata", "annotations")[BIND_COMPLETED] = "yes"

    return edit


def _volume_name(claim: PersistentVolumeClaim) -> str:
    return f"{claim.name}-volume"

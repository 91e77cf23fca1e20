"""Volume plugins: claims that are missing, unbound or out of reach, volumes in another place, limits of nodes.

From a pod's claims and their problems to steps: create objects, provision or bind claims, evict the pods that use an
exclusive claim, replace the claim in the pod. `new_volumes` makes the objects.
"""

from collections.abc import Iterator
from dataclasses import replace

from kubesched.api.quantity import quantity_of
from kubesched.api.storage import CSINode, CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass
from kubesched.api.volumes import Volume
from kubesched.core.cluster.storage.free_volumes import affinity_selector, exact_size, is_free
from kubesched.core.cluster.storage.volume_claims import (
    READ_WRITE_ONCE_POD,
    WAIT_FOR_FIRST_CONSUMER,
    ephemeral_claim_name,
    storage_class_name,
)
from kubesched.core.plugins.volume_binding.claims import is_fully_bound
from kubesched.core.plugins.volume_zone import TOPOLOGY_LABELS
from kubesched_answers.remedies.proposers.evictions import evicting
from kubesched_answers.remedies.proposers.new_volumes import (
    DEFAULT_SIZE,
    binding,
    new_claims,
    new_class,
    new_volume,
    provisioned,
)
from kubesched_answers.remedies.proposers.obstacles import Obstacle, field, labelled, may_label, object_step, pod_step
from kubesched_answers.remedies.steps import Document, Edit, Rank, Step, Steps
from kubesched_answers.remedies.trials import Trial

MOST_CLAIMS = 3
MOST_WAYS = 3


def claims(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield steps for each claim of the pod that may be the problem."""
    wrong = list(_wrong(trial, obstacle))
    yield tuple(step for ways in wrong for step in ways[0])
    for ways in wrong:
        yield from ways[1:MOST_WAYS]
    named = [(volume, name) for volume, name, ephemeral in _claims_of(trial) if not ephemeral]
    yield tuple(_emptied(trial, volume, name) for volume, name in named)
    for volume, name in named:
        yield from _replaced(trial, volume, name)
        users = [pod for pod in trial.model.pods.values() if _uses(trial, pod.namespace, pod.spec.volumes, name)]
        placed = [pod for pod in users if pod.spec.node_name and pod.uid != trial.pod.uid]
        claim = _claim(trial, name)
        if claim is not None and READ_WRITE_ONCE_POD in claim.spec.access_modes and placed:
            yield evicting(trial, placed)


def volume_limits(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield a higher limit of each driver of the node."""
    if obstacle.row is None:
        return
    node = trial.model.cluster.objects.get(CSINode, trial.node(obstacle.row).name)
    for driver in node.spec.drivers if node is not None else ():
        if node is not None and driver.allocatable is not None and driver.allocatable.count is not None:
            count = driver.allocatable.count
            yield (_limit(node, driver.name, count, count + 2**10),)


def volume_zone(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield changes of the volumes' zones to that of the node."""
    if obstacle.row is None:
        return
    labels = trial.node(obstacle.row).metadata.labels
    steps = []
    for _, name, _ in _claims_of(trial):
        claim = _claim(trial, name)
        volume = _volume(trial, claim.spec.volume_name) if claim is not None else None
        for key in TOPOLOGY_LABELS if volume is not None else ():
            if volume is not None and key in volume.metadata.labels and volume.metadata.labels[key] != labels.get(key):
                steps.append(_relabelled(volume, key, labels.get(key)))
    yield tuple(steps)


# -- problems of a claim


def _claims_of(trial: Trial) -> Iterator[tuple[Volume, str, bool]]:
    """Yield the pod's volumes with a claim: the volume, the claim's name, and whether the claim is created for the
    pod.
    """
    for volume in trial.pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            yield volume, volume.persistent_volume_claim.claim_name, False
        elif volume.ephemeral is not None:
            yield volume, ephemeral_claim_name(trial.pod.name, volume.name), True


def _wrong(trial: Trial, obstacle: Obstacle) -> Iterator[list[Steps]]:
    """Yield for each claim that may be the problem the functions that fix it."""
    for volume, name, ephemeral in _claims_of(trial):
        claim = _claim(trial, name)
        if claim is None:
            ways = new_claims(trial, volume, name, ephemeral)
        elif claim.spec.volume_name and _volume(trial, claim.spec.volume_name) is None:
            ways = iter([tuple(new_volume(trial, claim, claim.spec.volume_name, obstacle.row))])
        elif is_fully_bound(claim):
            ways = ((step,) for step in _within_reach(trial, claim, obstacle.row))
        else:
            ways = _bindable(trial, claim, obstacle.row)
        if found := [way for way in ways if way]:
            yield found


def _bindable(trial: Trial, claim: PersistentVolumeClaim, row: int | None) -> Iterator[Steps]:
    """Yield steps for what an unbound claim may wait for: its provisioner, a volume, its class, capacity."""
    objects = trial.model.cluster.objects
    class_name = storage_class_name(claim)
    storage_class = objects.get(StorageClass, class_name) if class_name else None
    waits = storage_class is not None and storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER
    if not waits:
        fitting = [v for v in objects.of(PersistentVolume) if is_free(v) and _serves(v, claim, class_name)]
        fitting.sort(key=lambda volume: (exact_size(volume.spec.capacity), volume.name))
        yield from ((_bound(claim, volume.name),) for volume in fitting[:1])
    if class_name and storage_class is None:
        yield (new_class(trial, class_name),)
    elif storage_class is not None and not waits:
        yield provisioned(trial, claim, storage_class)
    if waits:
        yield tuple(new_volume(trial, claim, f"{claim.name}-volume", row))
        yield from ((step,) for step in _more_capacity(trial, claim, class_name))


def _serves(volume: PersistentVolume, claim: PersistentVolumeClaim, class_name: str) -> bool:
    enough = exact_size(volume.spec.capacity) >= exact_size(claim.spec.resources.requests)
    modes = set(claim.spec.access_modes) <= set(volume.spec.access_modes)
    return enough and modes and volume.spec.storage_class_name == class_name


def _within_reach(trial: Trial, claim: PersistentVolumeClaim, row: int | None) -> Iterator[Step]:
    """Yield steps that bring a bound volume and a node together; the volume's reach does not change."""
    volume = _volume(trial, claim.spec.volume_name)
    if volume is None or row is None:
        return
    node = trial.node(row)
    selector = affinity_selector(volume)
    if selector is None or selector.matches(node.metadata.labels, node.name):
        return
    terms = volume.spec.node_affinity.required if volume.spec.node_affinity is not None else None
    for term in terms.node_selector_terms[:1] if terms is not None else ():
        wanted = {e.key: e.values[0] for e in term.match_expressions if e.operator == "In" and e.values}
        missing = {key: value for key, value in wanted.items() if node.metadata.labels.get(key) != value}
        if len(missing) == 1 and all(may_label(node, key) for key in missing):
            yield from labelled(node, dict(missing))


# -- steps


def _bound(claim: PersistentVolumeClaim, volume_name: str) -> Step:
    text = f"bind claim {claim.full_name} to volume {volume_name}"
    return object_step(claim, "bind claim", text, binding(volume_name), rank=Rank.FIX_CLAIM)


def _more_capacity(trial: Trial, claim: PersistentVolumeClaim, class_name: str) -> Iterator[Step]:
    wanted = claim.spec.resources.requests.get("storage", DEFAULT_SIZE)
    for pool in trial.model.cluster.objects.of(CSIStorageCapacity):
        if pool.storage_class_name == class_name and quantity_of(pool.capacity or 0) < quantity_of(wanted):

            def edit(document: Document) -> None:
                document["capacity"] = wanted
                document.pop("maximumVolumeSize", None)

            text = f"free storage up to {wanted} in {pool.full_name} of storage class {class_name}"
            # its driver publishes the free capacity
            yield replace(object_step(pool, "storage capacity", text, edit, rank=Rank.FIX_CLAIM), outside=True)


def _relabelled(volume: PersistentVolume, key: str, value: str | None) -> Step:
    def edit(document: Document) -> None:
        labels = field(document, "metadata", "labels")
        if value is None:
            labels.pop(key, None)
        else:
            labels[key] = value

    old = volume.metadata.labels[key]
    text = f"change label {key} of volume {volume.name} from {old} to {value}"
    text = text if value else f"remove label {key} from volume {volume.name}"
    words = (f"{key}={value}", "--overwrite") if value else (f"{key}-",)
    step = object_step(volume, "volume zone", text, edit, rank=Rank.GIVE_UP_CLAIM)
    return replace(step, command=("kubectl", "label", "persistentvolume", volume.name, *words))


def _limit(node: CSINode, driver: str, old: int, new: int) -> Step:
    def edit(document: Document) -> None:
        for each in document["spec"]["drivers"]:
            if each.get("name", "") == driver:
                each["allocatable"]["count"] = new

    text = f"raise the limit of driver {driver} on node {node.name} from {old} to {new} volumes"
    step = object_step(node, "volume limit", text, edit)
    # the driver on the node reports the limit
    return replace(step, tuned=lambda number: _limit(node, driver, old, number), least=old, number=new, outside=True)


def _emptied(trial: Trial, volume: Volume, name: str) -> Step:
    loss = "without the data of the claim; what the pod writes there is lost with the pod"
    text = f"replace claim {name} of volume {volume.name} by an empty directory, {loss}"
    step = pod_step(trial, "pod's claim", text, _with_source(volume.name, {"emptyDir": {}}), 2.0)
    return replace(step, rank=Rank.LOSE_DATA)


def _replaced(trial: Trial, volume: Volume, name: str) -> Iterator[Steps]:
    """Yield other claims of the namespace that are bound and unused."""
    used = {
        each.persistent_volume_claim.claim_name
        for pod in trial.model.pods.values()
        if pod.namespace == trial.pod.namespace
        for each in pod.spec.volumes
        if each.persistent_volume_claim is not None
    }
    others = [
        claim.name
        for claim in trial.model.cluster.objects.of(PersistentVolumeClaim)
        if claim.namespace == trial.pod.namespace and claim.name not in used and claim.name != name
    ]
    for other in sorted(others)[:MOST_CLAIMS]:
        text = f"use claim {other}, with its data, in place of {name} in volume {volume.name}"
        edit = _with_source(volume.name, {"persistentVolumeClaim": {"claimName": other}})
        yield (replace(pod_step(trial, "pod's other claim", text, edit, 1.0), rank=Rank.GIVE_UP_CLAIM),)


def _with_source(volume_name: str, source: Document) -> Edit:
    def edit(document: Document) -> None:
        volumes = document.get("spec", {}).get("volumes", [])
        for index, each in enumerate(volumes):
            if each.get("name", "") == volume_name:
                volumes[index] = {"name": volume_name, **source}

    return edit


def _uses(trial: Trial, namespace: str, volumes: tuple[Volume, ...], name: str) -> bool:
    return namespace == trial.pod.namespace and any(
        v.persistent_volume_claim is not None and v.persistent_volume_claim.claim_name == name for v in volumes
    )


def _claim(trial: Trial, name: str) -> PersistentVolumeClaim | None:
    return trial.model.cluster.objects.get(PersistentVolumeClaim, f"{trial.pod.namespace}/{name}")


def _volume(trial: Trial, name: str) -> PersistentVolume | None:
    return trial.model.cluster.objects.get(PersistentVolume, name) if name else None

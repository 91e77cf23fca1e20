"""The default classes of storage and of ingresses.

From the stored classes, and the annotations that mark a default, to a name.
"""

# upstream: pkg/volume/util/storageclass.go, plugin/pkg/admission/network/defaultingressclass/admission.go (v1.36)

from kubesched_controlplane.storage.store import Store


def default_class_of(store: Store, classes: str, *annotations: str) -> str | None:
    """Return the name of the class that an annotation marks as default: the newest, then the first by name."""
    found = []
    for stored in store.set_of(classes):
        if b"is-default-class" not in stored.body:
            continue
        meta = stored.document()["metadata"]
        given = meta.get("annotations") or {}
        if any(given.get(annotation) == "true" for annotation in annotations):
            found.append((meta.get("creationTimestamp", ""), stored.name))
    newest = max((created for created, _ in found), default="")
    return next((name for created, name in sorted(found) if created == newest), None)

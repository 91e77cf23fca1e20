"""The objects in manifests that checks of a plugin use: `plugins check --objects FILE`.

From files and the kinds that a plugin looks up to nodes, pods and other objects; an unreadable part is a
KubeschedError that names file, document and fix.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from kubesched.api.codec import decode
from kubesched.api.custom import custom_kind_of, custom_object
from kubesched.api.kinds import KINDS
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.errors import KubeschedError
from kubesched.manifests import Manifest, read

_DEFINITION = "CustomResourceDefinition"


@dataclass
class ExampleObjects:
    """The given objects for random clusters; None means generated ones."""

    nodes: list[Node] | None = None
    pods: list[Pod] | None = None
    objects: list[ApiObject] | None = None
    # the kinds in the files that the plugin does not look up, with the place of the first
    unknown: dict[str, str] = field(default_factory=dict)

    def options(self) -> dict[str, Any]:
        """Return the arguments for `check_plugin`."""
        return {"nodes": self.nodes, "pods": self.pods, "objects": self.objects}


def read_examples(files: Sequence[str], kinds: Collection[str]) -> ExampleObjects:
    """Return the objects in files; `kinds` are the kinds that the plugin looks up, such as `racks.v1.example.com`."""
    manifests, problems = read(files)
    if problems:
        raise KubeschedError("; ".join(problems))
    found = ExampleObjects()
    for manifest in manifests:
        obj = _object(manifest, kinds)
        if isinstance(obj, Node):
            found.nodes = [*(found.nodes or ()), obj]
        elif isinstance(obj, Pod):
            found.pods = [*(found.pods or ()), obj]
        elif obj is not None:
            found.objects = [*(found.objects or ()), obj]
        elif manifest.kind != _DEFINITION:
            found.unknown.setdefault(manifest.kind or "no kind", manifest.place)
    return found


def _object(manifest: Manifest, kinds: Collection[str]) -> ApiObject | None:
    """Return the object of a manifest with a UID; None if the plugin does not read its kind."""
    document = manifest.document
    meta = document.get("metadata")
    if not isinstance(meta, dict) or not meta.get("name"):
        raise KubeschedError(f"{manifest.named}: metadata.name: is required")
    kind = custom_kind_of(document, kinds)
    if kind is None and manifest.kind not in KINDS:
        return None
    place = f"{meta.get('namespace') or ''}/{meta['name']}"
    given = {**document, "metadata": {**meta, "uid": meta.get("uid") or f"{manifest.kind}-{place}"}}
    return custom_object(kind, given) if kind is not None else decode(given, manifest.place)

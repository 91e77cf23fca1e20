"""Anonymised clusters: names become codes, and every verdict stays the same.

From a cluster to one in which names, namespaces, values of labels and taints, images, UIDs, handles of volumes and
texts of devices are codes of a keyed hash. The same text has the same code everywhere, so selectors select the same
objects. Every text is replaced unless it is a known word of the API; texts that plugins interpret stay: keys of
labels and taints, names of resources, drivers and schedulers, quantities, integers that are compared.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from kubesched.api.codec import decode, to_builtins
from kubesched.api.kinds import KINDS
from kubesched.model.cluster_objects import ClusterObjects, Gap
from kubesched.sources.reduction import reduced
from kubesched_answers.sources import anonymous_fields as fields
from kubesched_answers.sources.anonymous_codes import Codes, OrderedCodes
from kubesched_answers.sources.anonymous_selectors import PlainExpressions

Document = dict[str, Any]

# resources that are named after a class: before its name, or behind it
_OF_CLASS: Final = re.compile(
    r"(?:(?P<before>(?:requests\.)?deviceclass\.resource\.kubernetes\.io/)(?P<first>.+)"
    r"|(?P<second>.+)(?P<behind>\.(?:deviceclass\.resource|storageclass\.storage)\.k8s\.io/.+))"
)
_AWS_DISK: Final = re.compile(r"aws://[^/]*/(vol-[^/]*)")
_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_LABEL_VALUE: Final = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
LONGEST_LABEL: Final = 63
# separates the zones of a volume, and the parts of a zone's name
_ZONES, _PARTS = "__", "-"


def anonymised(cluster: ClusterObjects, key: bytes) -> ClusterObjects:
    """Return the cluster with codes for names; equal keys give equal codes. Custom objects are left out."""
    documents = [to_builtins(reduced(obj)) for obj in cluster.objects if type(obj).__name__ in KINDS]
    others = [*cluster.workloads, *cluster.admission]
    anonymiser = Anonymiser(Codes(key))
    anonymiser.learn(documents, others)
    # the reason of a gap may quote names
    gaps = tuple(Gap(gap.what.partition(" ")[0], "it was not read", gap.uncertain) for gap in cluster.gaps)
    if len(documents) < len(cluster.objects):
        gaps += (Gap("objects of custom kinds", "they cannot be anonymised", "plugins that look them up"),)
    return replace(
        cluster,
        objects=tuple(decode(anonymiser.document(document)) for document in documents),
        workloads=tuple(map(anonymiser.document, cluster.workloads)),
        admission=tuple(map(anonymiser.document, cluster.admission)),
        origin="an anonymised cluster",
        gaps=gaps,
        anonymised=True,
        custom_kinds=(),
    )


class Anonymiser:
    """Replaces texts in documents, by the names of their fields; it must learn each document first."""

    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        # the keys of labels whose values are compared as integers; whether values of taints are
        self._compared: set[str] = set()
        self._compares_taints = False
        self._selectors = PlainExpressions()
        # devices are tried in the order of their pools' names, which the codes keep: an expression may fail on one
        self._pools = OrderedCodes()

    def learn(self, documents: Collection[Document], workloads: Collection[Document] = ()) -> bool:
        """Learn the texts of documents; return whether earlier codes would now be different."""
        changed = self._codes.keep(_driver_names(documents))
        changed |= self._codes.keep(_attribute_names(documents))
        _keep_derived_names(self._codes, documents)
        before = (len(self._compared), self._compares_taints)
        expressions: list[str] = []
        pools: set[str] = set()
        for part in _parts([*documents, *workloads]):
            pool = part.get("pool")
            pools.add(pool if isinstance(pool, str) else pool.get("name", "") if isinstance(pool, dict) else "")
            if part.get("operator") in ("Gt", "Lt"):
                self._compared.add(part.get("key", ""))
                self._compares_taints |= "value" in part
            if isinstance(part.get("expression"), str):
                expressions.append(part["expression"])
        self._pools.add(pools)
        changed |= self._selectors.learn(expressions)
        return changed or before != (len(self._compared), self._compares_taints)

    def full_name(self, full_name: str) -> str:
        """Return the code of `namespace/name`, or of a name."""
        return "/".join(self._codes.of(part) for part in full_name.split("/"))

    def document(self, document: Document) -> Document:
        """Return an object with codes."""
        found: Document = self._mapping(document)
        return found

    def _mapping(self, value: Mapping[str, Any]) -> Document:
        found = {field: self._value(field, each) for field, each in value.items() if field not in fields.DROPPED_FIELDS}
        if isinstance(value.get("values"), list):
            # a requirement of a selector
            found["values"] = [self._label(value.get("key", ""), each) for each in value["values"]]
        return found

    def _value(self, field: str, value: Any) -> Any:
        if field in fields.KEPT_WHOLE:
            return value
        if isinstance(value, dict):
            return self._object(field, value)
        if isinstance(value, list):
            return [self._mapping(each) if isinstance(each, dict) else self._value(field, each) for each in value]
        return self._text(field, value) if isinstance(value, str) else value

    def _object(self, field: str, value: Document) -> Document:
        if field in fields.LABEL_FIELDS and not any(isinstance(each, dict | list) for each in value.values()):
            return {key: self._label(key, each) for key, each in value.items()}
        if field in fields.AMOUNT_FIELDS and (field != "resources" or not value.keys() & fields.RESOURCE_FIELDS):
            return {self._resource(name): each for name, each in value.items()}
        if field == "annotations":
            return {key: self._annotation(key, each) for key, each in value.items()}
        if field == "pool":
            return {**self._mapping(value), "name": self._pools.of(value.get("name", ""))}
        if field == "disruptedPods":
            return {self._codes.of(name): time for name, time in value.items()}
        if field == "attributes":
            return {name: self._attribute(each) for name, each in value.items()}
        return self._mapping(value)

    def _text(self, field: str, text: str) -> str:
        if field in fields.KEPT_TEXTS:
            return text
        if field in fields.IMAGE_FIELDS:
            return self._image(text)
        if field in fields.AMOUNT_FIELDS:
            return text if field != "requests" else self._codes.of_parts(text, "/")
        if field == "pool":
            return self._pools.of(text)
        if field == "value":
            # a taint, or a toleration, which may be for all keys
            return text if self._compares_taints and _INTEGER.fullmatch(text) else self._codes.of(text)
        if field == "request":
            return self._codes.of_parts(text, "/")
        if field == "expression":
            return self._selectors.coded(text, self._codes.of)
        if field == "finalizers" and ("kubernetes.io/" in text or "k8s.io/" in text):
            return text
        if field == "volumeID":
            match = _AWS_DISK.fullmatch(text)
            prefix = "aws://" if match is None and text.startswith("aws://") else ""
            return prefix + self._codes.of(match[1] if match is not None else text)
        return self._codes.of(text)

    def _label(self, key: str, value: str) -> str:
        if key in fields.KEPT_LABELS or (key in self._compared and _INTEGER.fullmatch(value)):
            return value
        if value and (len(value) > LONGEST_LABEL or not _LABEL_VALUE.fullmatch(value)):
            # a selector with an invalid value stays invalid
            return f"{self._codes.of(value)}!"
        # a volume has the names of several zones in one label
        found = self._codes.of_parts(value, _ZONES, _PARTS) if key.endswith("/zone") else ""
        return found if 0 < len(found) <= LONGEST_LABEL or not value else self._codes.of(value)

    def _annotation(self, key: str, value: str) -> str:
        return value if key in fields.KEPT_ANNOTATION_VALUES else self._codes.of(value)

    def _resource(self, name: str) -> str:
        match = _OF_CLASS.fullmatch(name)
        if match is None:
            return name
        return f"{match['before'] or ''}{self._codes.of(match['first'] or match['second'])}{match['behind'] or ''}"

    def _attribute(self, attribute: Document) -> Document:
        if not self._selectors.plain:
            return attribute
        found = dict(attribute)
        if isinstance(found.get("string"), str):
            found["string"] = self._codes.of(found["string"])
        if found.get("strings"):
            found["strings"] = [self._codes.of(each) for each in found["strings"]]
        return found

    def _image(self, name: str) -> str:
        # the scheduler completes names in the same way
        if name.rfind(":") <= name.rfind("/"):
            name += ":latest"
        return f"{self._codes.of(name)}:0"


def _parts(value: Any) -> Iterator[Document]:
    """Yield all mappings in a document."""
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from _parts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _parts(each)


def _driver_names(documents: Iterable[Document]) -> Iterator[str]:
    """Yield the names of drivers, which resources, topology keys and migrated volumes refer to."""
    for document in documents:
        if document["kind"] == "CSIDriver":
            yield document.get("metadata", {}).get("name", "")
        for part in _parts(document):
            yield from (part[field] for field in fields.DRIVER_FIELDS if isinstance(part.get(field), str))
            if isinstance(part.get("drivers"), list):
                yield from (driver.get("name", "") for driver in part["drivers"])


def _attribute_names(documents: Iterable[Document]) -> Iterator[str]:
    """Yield the names of attributes and capacities of devices and their domains, which expressions refer to."""
    for document in documents:
        if document["kind"] == "ResourceSlice":
            for device in document.get("spec", {}).get("devices", ()):
                for name in (*device.get("attributes", ()), *device.get("capacity", ())):
                    yield from (name, *name.split("/"))


def _keep_derived_names(codes: Codes, documents: Iterable[Document]) -> None:
    """Derive codes of composed names (of stateful pods and of their claims) from the codes of their parts."""
    for document in documents:
        if document["kind"] == "PersistentVolumeClaim":
            _owned_claims(codes, document)
        if document["kind"] != "Pod":
            continue
        meta = document.get("metadata", {})
        name = meta.get("name", "")
        volumes = document.get("spec", {}).get("volumes", ())
        for owner in meta.get("ownerReferences", ()):
            ordinal = name.removeprefix(f"{owner.get('name', '')}-")
            if owner.get("kind") == "StatefulSet" and ordinal.isdigit():
                codes.derive(name, f"{codes.of(owner.get('name', ''))}-{ordinal}")
                for volume in volumes:
                    claim = volume.get("persistentVolumeClaim", {}).get("claimName", "")
                    if claim.endswith(f"-{name}"):
                        codes.derive(claim, f"{codes.of(claim.removesuffix(f'-{name}'))}-{codes.of(name)}")
        for volume in volumes:
            if "ephemeral" in volume:
                own = volume.get("name", "")
                codes.derive(f"{name}-{own}", f"{codes.of(name)}-{codes.of(own)}")


def _owned_claims(codes: Codes, document: Document) -> None:
    """Derive the code of a claim that was created for a pod from the pod's code."""
    meta = document.get("metadata", {})
    name = meta.get("name", "")
    for owner in meta.get("ownerReferences", ()):
        pod = owner.get("name", "")
        if owner.get("kind") == "Pod" and name.startswith(f"{pod}-"):
            codes.derive(name, f"{codes.of(pod)}-{codes.of(name.removeprefix(f'{pod}-'))}")

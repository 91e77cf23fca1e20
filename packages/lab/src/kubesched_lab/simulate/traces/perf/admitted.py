"""The objects of a workload as the scheduler sees them, without an API server.

From documents to objects with defaults, and with the claims that a controller creates from templates for a pod. Of
documents that differ only in their names, one is admitted and copied.
"""

from collections.abc import Iterator

import msgspec

from kubesched.api.codec import decode
from kubesched.api.devices import ResourceClaim, ResourceClaimTemplate
from kubesched.api.meta import ApiObject, OwnerReference
from kubesched.api.pods import Pod, PodResourceClaimStatus
from kubesched.errors import InvalidObjectError
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.admission import TraceAdmission, renamed
from kubesched_lab.simulate.traces.perf.made_object import MadeObject
from kubesched_lab.simulate.traces.pod_template import with_priority

replace = msgspec.structs.replace
# kinds whose status a server would reset, or that need objects that only a server has
_AS_THEY_ARE = frozenset({"CSINode", "PersistentVolume", "PersistentVolumeClaim", "ResourceClaim", "ResourceSlice"})
# kinds that the scheduler does not read
_UNREAD = frozenset({"ConfigMap", "Secret", "ServiceAccount"})


class AdmittedObjects:
    """Admits the objects of a workload."""

    def __init__(self) -> None:
        self._admission = TraceAdmission()
        self._alike: dict[tuple[str, str], ApiObject] = {}
        self._claim_templates: dict[str, ResourceClaimTemplate] = {}

    def admit(self, made: MadeObject) -> Iterator[ApiObject]:
        """Yield the object of a document, after the claims that belong to it; raises TraceError."""
        if made.kind in _UNREAD:
            return
        obj = self._admitted(made)
        if isinstance(obj, ResourceClaimTemplate):
            self._claim_templates[obj.full_name] = obj
        if isinstance(obj, Pod) and obj.spec.resource_claims:
            claims = list(self._claims(obj, made))
            statuses = tuple(
                PodResourceClaimStatus(name=name, resource_claim_name=claim.name) for name, claim in claims
            )
            yield from (claim for _, claim in claims)
            obj = replace(obj, status=replace(obj.status, resource_claim_statuses=statuses))
        yield obj

    def _admitted(self, made: MadeObject) -> ApiObject:
        key = (made.alike, made.namespace)
        known = self._alike.get(key) if made.alike else None
        if known is None:
            known = self._first(made)
            if made.alike:
                self._alike[key] = known
        elif made.kind == "Node" or made.name != known.name:
            known = renamed(known, made.name)
        return _with_claim(known, made.claim) if made.claim and isinstance(known, Pod) else known

    def _first(self, made: MadeObject) -> ApiObject:
        if made.kind in _AS_THEY_ARE:
            try:
                obj = decode(made.document, f"{made.where}: ")
            except InvalidObjectError as error:
                raise TraceError(str(error)) from None
            return replace(obj, metadata=replace(obj.metadata, uid=f"uid-of-{obj.full_name}"))
        document, priority = made.document, None
        if made.kind == "Pod":
            # without a PriorityClass, which an API server would require
            spec = {**(document.get("spec") or {})}
            priority = spec.pop("priority", None)
            document = {**document, "spec": spec}
        obj = self._admission.admit(document, made.where)
        return with_priority(obj, priority) if priority is not None and isinstance(obj, Pod) else obj

    def _claims(self, pod: Pod, made: MadeObject) -> Iterator[tuple[str, ResourceClaim]]:
        """Yield the claims that a controller creates for a pod, by the names of the pod's entries."""
        owner = OwnerReference(api_version="v1", kind="Pod", name=pod.name, uid=pod.full_name, controller=True)
        for entry in pod.spec.resource_claims:
            if entry.resource_claim_template_name is None:
                continue
            template = self._claim_templates.get(f"{pod.namespace}/{entry.resource_claim_template_name}")
            if template is None:
                raise TraceError(
                    f"{made.where}: there is no ResourceClaimTemplate {entry.resource_claim_template_name} in "
                    f"namespace {pod.namespace}; create it before the pods"
                )
            name = f"{pod.name}-{entry.name}"
            metadata = replace(
                template.spec.metadata,
                name=name,
                namespace=pod.namespace,
                uid=f"uid-of-{pod.namespace}/{name}",
                owner_references=(owner,),
            )
            claim = ResourceClaim(
                api_version=template.api_version, kind="ResourceClaim", metadata=metadata, spec=template.spec.spec
            )
            yield entry.name, claim


def _with_claim(pod: Pod, claim: str) -> Pod:
    """Return a pod with another claim in its only volume."""
    volume = pod.spec.volumes[0]
    assert volume.persistent_volume_claim is not None
    source = replace(volume.persistent_volume_claim, claim_name=claim)
    return replace(pod, spec=replace(pod.spec, volumes=(replace(volume, persistent_volume_claim=source),)))

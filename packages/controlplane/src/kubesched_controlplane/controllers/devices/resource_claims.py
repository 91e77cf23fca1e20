"""ResourceClaims that are created for pods and deleted with them.

From pods that name a ResourceClaimTemplate to claims, and from terminal pods to claims without their reservations. A
claim without consumers is deallocated; a claim that was created for a terminal pod is deleted.
"""

# upstream: pkg/controller/resourceclaim/controller.go (v1.36)

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.prefixes import PODS
from kubesched_controlplane.controllers.framework.controller import Controller, Key
from kubesched_controlplane.kinds.pod.phases import TERMINAL
from kubesched_controlplane.storage.store import DELETED, Change, Changed

CLAIMS = "resourceclaims.resource.k8s.io"
TEMPLATES = "resourceclaimtemplates.resource.k8s.io"
FINALIZER = "resource.kubernetes.io/delete-protection"
POD_CLAIM = "resource.kubernetes.io/pod-claim-name"
MOST_CONSUMERS = 256
# a name of 63 characters, less a hyphen and the five characters that generateName appends
_LONGEST_START = 57


class ResourceClaimController(Controller):
    """Creates claims from templates for pods; reserves allocated claims for bound pods without a reservation."""

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {PODS: self._pod_changed, TEMPLATES: self._template_changed, CLAIMS: self._claim_changed}

    def _pod_changed(self, change: Change) -> None:
        if change.type != DELETED and b'"resourceClaims"' in change.new.body:
            self._add(change)

    def _template_changed(self, change: Change) -> None:
        # pods may wait for the template
        if change.type != DELETED:
            for stored in self.context.store.set_of(PODS).in_order(change.new.namespace):
                if b'"resourceClaimTemplateName"' in stored.body:
                    self.workqueue.add((stored.namespace, stored.name))

    def _claim_changed(self, change: Change) -> None:
        owner = _owning_pod(change.new.document())
        if owner is not None:
            self.workqueue.add((change.new.namespace, owner["name"]))

    def reconcile(self, key: Key) -> None:
        """Create the missing claims of a pod, and reserve its allocated claims once it is bound."""
        pod = self.context.find(PODS, *key)
        if pod is None or "deletionTimestamp" in pod["metadata"] or is_done(pod):
            return
        made: dict[str, str] = {}
        for wanted in pod["spec"].get("resourceClaims") or ():
            if wanted.get("resourceClaimTemplateName") and (name := self._claim_for(pod, wanted)):
                made[wanted["name"]] = name
        statuses = pod["status"].get("resourceClaimStatuses") or []
        new = {each["name"]: each for each in statuses}
        for name, claim in made.items():
            new[name] = {"name": name, "resourceClaimName": claim}
        if list(new.values()) != statuses:
            pod["status"]["resourceClaimStatuses"] = list(new.values())
            pod = self.context.update(PODS, pod, "status")
        if pod["spec"].get("nodeName"):
            self._reserve(pod)

    def _claim_for(self, pod: Document, wanted: Document) -> str | None:
        """Return the name of the claim for an entry of a pod, created if missing; None without its template."""
        namespace, name = pod["metadata"]["namespace"], wanted["name"]
        for status in pod["status"].get("resourceClaimStatuses") or ():
            if status["name"] == name:
                known: str | None = status.get("resourceClaimName")
                claim = self.context.find(CLAIMS, namespace, known) if known else None
                # without a name no claim is needed
                if not known or (claim is not None and _is_for(claim, pod)):
                    return known
        for stored in self.context.store.set_of(CLAIMS).in_order(namespace):
            claim = stored.document()
            if _is_for(claim, pod) and (claim["metadata"].get("annotations") or {}).get(POD_CLAIM) == name:
                return stored.name
        template = self.context.find(TEMPLATES, namespace, wanted["resourceClaimTemplateName"])
        if template is None:
            return None
        made: str = self.context.create(CLAIMS, _claim(pod, name, template["spec"]))["metadata"]["name"]
        return made

    def _reserve(self, pod: Document) -> None:
        """Reserve the allocated claims of a bound pod that its scheduler did not reserve."""
        namespace, meta = pod["metadata"]["namespace"], pod["metadata"]
        names = {
            each["name"]: each.get("resourceClaimName") for each in pod["status"].get("resourceClaimStatuses") or ()
        }
        for entry in pod["spec"].get("resourceClaims") or ():
            name = entry.get("resourceClaimName") or names.get(entry["name"])
            claim = self.context.find(CLAIMS, namespace, name) if name else None
            status = (claim or {}).get("status") or {}
            consumers = status.get("reservedFor") or []
            if claim is None or not status.get("allocation") or len(consumers) >= MOST_CONSUMERS:
                continue
            if all(consumer.get("uid") != meta["uid"] for consumer in consumers):
                me = {"resource": "pods", "name": meta["name"], "uid": meta["uid"]}
                claim["status"]["reservedFor"] = [*consumers, me]
                self.context.update(CLAIMS, claim, "status")


class ClaimConsumers(Controller):
    """Ends the reservations of terminal pods, and deallocates claims without consumers."""

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {CLAIMS: self._claim_changed, PODS: self._pod_changed}

    def _claim_changed(self, change: Change) -> None:
        if change.type != DELETED:
            self._add(change)

    def _pod_changed(self, change: Change) -> None:
        terminal = change.type == DELETED or change.new.fields.get("status.phase") in TERMINAL
        if b'"resourceClaims"' not in change.new.body or not (terminal or b'"deletionTimestamp"' in change.new.body):
            return
        pod = change.new.document()
        names = [entry.get("resourceClaimName") for entry in pod["spec"].get("resourceClaims") or ()]
        names += [entry.get("resourceClaimName") for entry in pod["status"].get("resourceClaimStatuses") or ()]
        extended = pod["status"].get("extendedResourceClaimStatus") or {}
        for name in (*names, extended.get("resourceClaimName")):
            if name:
                self.workqueue.add((change.new.namespace, name))

    def reconcile(self, key: Key) -> None:
        """Remove terminal and deleted pods from the reservations of a claim; deallocate or delete an unused claim."""
        claim = self.context.find(CLAIMS, *key)
        if claim is None:
            return
        status = claim.get("status") or {}
        consumers = status.get("reservedFor") or []
        left = [consumer for consumer in consumers if self._still_needs(key[0], consumer)]
        held = FINALIZER in (claim["metadata"].get("finalizers") or ())
        terminating = "deletionTimestamp" in claim["metadata"]
        if len(left) < len(consumers) or (terminating and not left and held):
            self._give_back(claim, left, held)
        if not left:
            self._delete_if_done(key)

    def _give_back(self, claim: Document, left: list[Document], held: bool) -> None:
        """Write the remaining consumers of a claim; without consumers, remove its allocation and finalizer."""
        status = claim["status"] = dict(claim.get("status") or {})
        status["reservedFor"] = left
        if not left:
            del status["reservedFor"]
            if held:
                status.pop("allocation", None)
        claim = self.context.update(CLAIMS, claim, "status")
        if held and not left:
            claim["metadata"]["finalizers"].remove(FINALIZER)
            self.context.update(CLAIMS, claim)

    def _still_needs(self, namespace: str, consumer: Document) -> bool:
        if consumer.get("apiGroup") or consumer.get("resource") != "pods":
            return True
        pod = self.context.find(PODS, namespace, consumer["name"])
        return pod is not None and pod["metadata"]["uid"] == consumer["uid"] and not is_done(pod)

    def _delete_if_done(self, key: Key) -> None:
        """Delete a claim that was created for a terminal or replaced pod."""
        stored = self.context.get(CLAIMS, *key)
        if stored is None:
            return
        claim = stored.document()
        owner = _owning_pod(claim)
        if owner is None or "deletionTimestamp" in claim["metadata"]:
            return
        pod = self.context.find(PODS, key[0], owner["name"])
        # claims of a deleted pod are left to the garbage collector
        if pod is not None and (pod["metadata"]["uid"] != owner["uid"] or is_done(pod)):
            self.context.delete(CLAIMS, stored)


def is_done(pod: Document) -> bool:
    """Return whether a pod is terminal, or is terminating and was never bound."""
    if pod["status"].get("phase") in TERMINAL:
        return True
    return "deletionTimestamp" in pod["metadata"] and not pod["spec"].get("nodeName")


def _owning_pod(claim: Document) -> Document | None:
    for owner in claim["metadata"].get("ownerReferences") or ():
        if owner.get("controller") and (owner.get("apiVersion"), owner.get("kind")) == ("v1", "Pod"):
            found: Document = owner
            return found
    return None


def _is_for(claim: Document, pod: Document) -> bool:
    owner = _owning_pod(claim)
    return owner is not None and owner.get("uid") == pod["metadata"]["uid"]


def _claim(pod: Document, name: str, template: Document) -> Document:
    """Return the claim for an entry of a pod, from the spec of a template."""
    meta, described = pod["metadata"], template.get("metadata") or {}
    start = f"{meta['name']}-{name}-"
    if len(start) > _LONGEST_START:
        # both names are cut in proportion; the reference leaves the last hyphen out here
        parts = (text[: len(text) * _LONGEST_START // len(start)] for text in (meta["name"], name))
        start = "-".join(parts)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"], "controller": True}
    made: Document = {
        "generateName": start,
        "namespace": meta["namespace"],
        "annotations": {**(described.get("annotations") or {}), POD_CLAIM: name},
        "ownerReferences": [owner],
    }
    if described.get("labels"):
        made["labels"] = described["labels"]
    return {"metadata": made, "spec": template["spec"]}

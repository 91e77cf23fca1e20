"""The attributes of an admission request: an operation on an object by a user.

From a request to the values that rules, expressions and webhooks read.
"""

# upstream: apiserver/pkg/admission/{attributes,interfaces}.go, plugin/webhook/request/admissionreview.go (v1.36)

from __future__ import annotations

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import Request, Target, User
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError, forbidden
from kubesched_controlplane.representation.aggregated_discovery import subresource_kind

CREATE, UPDATE, DELETE = "CREATE", "UPDATE", "DELETE"
_OPTIONS = {CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions"}


class AdmissionAttributes(msgspec.Struct, frozen=True):
    """An operation on an object; `name` is empty for an object that is created by generateName."""

    operation: str
    target: Target
    request: Request
    name: str = ""
    dry_run: bool = False

    @property
    def resource(self) -> Resource:
        """Return the resource of the request."""
        return self.target.resource

    @property
    def user(self) -> User:
        """Return the user of the request."""
        return self.request.user

    @property
    def namespace(self) -> str:
        """Return the namespace of the request; for a Namespace, its own name."""
        return self.name if self.is_namespace else self.target.namespace

    @property
    def is_namespace(self) -> bool:
        """Return whether the object of the request is a Namespace."""
        return self.resource.prefix == "namespaces"

    def document(self, matched: Resource) -> Document:
        """Return the AdmissionRequest without objects; `matched` is the resource in the version that a rule matches."""
        subresource = self.target.subresource
        user: Document = {"username": self.user.name, "groups": list(self.user.groups)}
        user |= {"uid": self.user.uid} if self.user.uid else {}
        user |= {"extra": {key: list(each) for key, each in self.user.extra.items()}} if self.user.extra else {}
        found: Document = {
            "kind": _kind(matched, subresource),
            "resource": _resource(matched),
            "requestKind": _kind(self.resource, subresource),
            "requestResource": _resource(self.resource),
        }
        named = {"name": self.name, "namespace": self.namespace}
        found |= {field: value for field, value in named.items() if value}
        if subresource:
            found |= {"subResource": subresource, "requestSubResource": subresource}
        options = {"kind": _OPTIONS[self.operation], "apiVersion": "meta.k8s.io/v1", **self._options()}
        return {
            **found,
            "operation": self.operation,
            "userInfo": user,
            "dryRun": self.dry_run,
            "options": options,
        }

    def _options(self) -> Document:
        """Return the options of the request that are part of the AdmissionRequest."""
        found: Document = {"dryRun": ["All"]} if self.dry_run else {}
        if self.operation == DELETE:
            return found
        for field in ("fieldManager", "fieldValidation"):
            if value := self.request.option(field):
                found[field] = value
        return found

    def refusal(self, why: str, new: Document | None = None) -> ApiError:
        """Return the error 403 for the request."""
        meta = (new or {}).get("metadata") or {}
        name = self.name or meta.get("name") or meta.get("generateName") or "Unknown"
        return forbidden(self.resource, name, why)


def _kind(resource: Resource, subresource: str) -> Document:
    group, version, kind = resource.group, resource.version, resource.kind
    if subresource:
        group, version, kind = subresource_kind(resource, subresource)
    return {"group": group, "version": version, "kind": kind}


def _resource(resource: Resource) -> Document:
    return {"group": resource.group, "version": resource.version, "resource": resource.plural}

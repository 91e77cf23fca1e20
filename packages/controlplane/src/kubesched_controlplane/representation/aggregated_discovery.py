"""Aggregated discovery: all groups, versions and resources in one document.

From the catalog to the documents under /api and /apis, which clients request first, with an ETag for their caches. The
documents are made at the first request, and again when the catalog changes.
"""

# upstream: apiserver/pkg/endpoints/discovery/aggregated/{handler,wrapper,negotiation,etag}.go, api/apidiscovery/v2
# (v1.36)

from hashlib import sha512

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import Request, Response
from kubesched_controlplane.api.resources import Catalog, Resource
from kubesched_controlplane.representation.negotiation import JSON, Representation, clauses

GROUP, KIND = "apidiscovery.k8s.io", "APIGroupDiscoveryList"
# differs (D-135): the reference no longer serves v2beta1, which clients before 1.30 request
_FORMS = tuple(Representation(GROUP, version, KIND) for version in ("v2", "v2beta1"))
_ANY = (JSON, "application/*", "*/*")
# the kinds of subresources, where they differ from the kind of the resource
_KINDS = {
    "scale": ("autoscaling", "v1", "Scale"),
    "binding": ("", "v1", "Binding"),
    "eviction": ("policy", "v1", "Eviction"),
    "token": ("authentication.k8s.io", "v1", "TokenRequest"),
}
_STREAMS = {"attach": "Attach", "exec": "Exec", "portforward": "PortForward", "proxy": "Proxy"}


class AggregatedDiscovery:
    """Answers /api and /apis for clients that accept aggregated discovery."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._resources: tuple[Resource, ...] = ()
        # by path and version: the document, and its ETag
        self._made: dict[tuple[str, str], tuple[bytes, str]] = {}

    def answer(self, request: Request, path: str) -> Response | None:
        """Return the aggregated form, None if the client prefers the plain one."""
        version = _wanted_version(request)
        if version is None:
            return None
        body, tag = self._document(path, version)
        headers = {"ETag": tag, "Vary": "Accept", "Cache-Control": "public"}
        form = f"{JSON};g={GROUP};v={version};as={KIND}"
        if tag in request.headers.get("if-none-match", ""):
            return Response(304, (), headers, form)
        return Response(200, (body,), headers, form)

    def _document(self, path: str, version: str) -> tuple[bytes, str]:
        if self._catalog.resources is not self._resources:
            self._resources = self._catalog.resources
            self._made.clear()
        found = self._made.get((path, version))
        if found is None:
            groups = [name for name in self._catalog.versions() if bool(name) == (path == "/apis")]
            items = [self._group(name) for name in groups]
            head = {"kind": KIND, "apiVersion": f"{GROUP}/{version}", "metadata": {}}
            body = msgspec.json.encode({**head, "items": items})
            tag = f'"{sha512(msgspec.json.encode(items)).hexdigest().upper()}"'
            found = self._made[path, version] = body, tag
        return found

    def _group(self, name: str) -> Document:
        versions = [
            {
                "version": version,
                "resources": [_resource(each) for each in sorted(self._catalog.in_version(name, version), key=_plural)],
                "freshness": "Current",
            }
            for version in self._catalog.versions()[name]
        ]
        return {"metadata": {"name": name} if name else {}, "versions": versions}


def _wanted_version(request: Request) -> str | None:
    """Return the version of the aggregated form that a client prefers to the plain one, None if it prefers that."""
    for clause in clauses(request.headers.get("accept", "")):
        wanted = clause.wanted()
        if clause.kind in _ANY and wanted is None:
            return None
        if clause.kind == JSON and wanted is not None and wanted in _FORMS:
            return wanted.version
    return None


def _plural(resource: Resource) -> str:
    return resource.plural


def _resource(resource: Resource) -> Document:
    entry: Document = {
        "resource": resource.plural,
        "responseKind": _kind("", "", resource.kind),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    if resource.subresources:
        entry["subresources"] = [_subresource(resource, name) for name in sorted(resource.subresources)]
    return entry


def subresource_kind(resource: Resource, name: str) -> tuple[str, str, str]:
    """Return group, version and kind of a subresource."""
    if name in _STREAMS:
        return resource.group, resource.version, f"{resource.kind}{_STREAMS[name]}Options"
    return _KINDS.get(name, (resource.group, resource.version, resource.kind))


def _subresource(resource: Resource, name: str) -> Document:
    group, version, kind = subresource_kind(resource, name)
    # group and version are left out if they are those of the resource
    if (group, version) == (resource.group, resource.version):
        group = version = ""
    verbs = list(resource.subresources[name])
    return {"subresource": name, "responseKind": _kind(group, version, kind), "verbs": verbs}


def _kind(group: str, version: str, kind: str) -> Document:
    return {"group": group, "version": version, "kind": kind}

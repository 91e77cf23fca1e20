"""Discovery: groups, versions, resources, health, version.

From the catalog to the documents that clients request first.
"""

# upstream: apiserver/pkg/endpoints/discovery, pkg/server/routes/version.go (v1.36)

from base64 import b64encode
from hashlib import sha256

from kubesched.api.release import GIT_VERSION, MAJOR, MINOR
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import Request, Response, answer
from kubesched_controlplane.api.resources import Catalog, Resource
from kubesched_controlplane.api.statuses import method_not_allowed
from kubesched_controlplane.representation.aggregated_discovery import AggregatedDiscovery, subresource_kind
from kubesched_controlplane.representation.health import HEALTH, health
from kubesched_controlplane.representation.negotiation import check_accepts_json

VERSION = {
    "major": str(MAJOR),
    "minor": str(MINOR),
    "emulationMajor": str(MAJOR),
    "emulationMinor": str(MINOR),
    "minCompatibilityMajor": str(MAJOR),
    "minCompatibilityMinor": str(MINOR - 1),
    "gitVersion": GIT_VERSION,
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "kubesched/python",
}
# resources that the reference stores in an older version
_KEPT_IN = {"customresourcedefinitions.apiextensions.k8s.io": "apiextensions.k8s.io/v1beta1"}


class Discovery:
    """Answers requests for non-resource paths."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._aggregated = AggregatedDiscovery(catalog)

    def answer(self, request: Request) -> Response | None:
        """Return the response, None if the path does not exist."""
        path = request.path.removesuffix("/") or "/"
        if path.startswith(HEALTH):
            return health(request, path)
        document = self._document(path)
        if document is not None and request.method not in ("GET", "HEAD"):
            raise method_not_allowed()
        if document is None:
            return None
        found = self._aggregated.answer(request, path) if path in ("/api", "/apis") else None
        if found is None:
            check_accepts_json(request)
            found = answer(document)
        return found

    def _document(self, path: str) -> Document | None:
        if path == "/":
            return {"paths": self._paths()}
        if path == "/version":
            return VERSION
        if path == "/api":
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
        versions = self._catalog.versions()
        if path == "/apis":
            groups = [_group(name, found) for name, found in versions.items() if name]
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
        match path.removeprefix("/").split("/"):
            case ["api", version] if version in versions[""]:
                return self._resources("", version)
            case ["apis", group] if group and group in versions:
                return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, versions[group])}
            case ["apis", group, version] if version in versions.get(group, ()):
                return self._resources(group, version)
        return None

    def _paths(self) -> list[str]:
        """Return all non-resource paths."""
        paths = {"/api", "/apis", "/openapi/v2", "/openapi/v3", "/version", *HEALTH}
        for group, versions in self._catalog.versions().items():
            start = f"/apis/{group}" if group else "/api"
            paths |= {start, *(f"{start}/{version}" for version in versions)}
        return sorted(paths)

    def _resources(self, group: str, version: str) -> Document:
        found = []
        for resource in self._catalog.in_version(group, version):
            found.append(_resource(resource) | storage_version_hash(self._catalog, resource))
            found += [_subresource(resource, name) for name in resource.subresources]
        api_version = f"{group}/{version}" if group else version
        return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": api_version, "resources": found}


def storage_version_hash(catalog: Catalog, resource: Resource) -> Document:
    """Return the hash of a resource's storage version, nothing for a resource that is not stored."""
    if "list" not in resource.verbs:
        return {}
    kept_in = resource.stored_version or _KEPT_IN.get(resource.prefix)
    version = kept_in or catalog.by_prefix[resource.prefix].api_version
    text = f"{version if '/' in version else f'/{version}'}/{resource.kind}"
    return {"storageVersionHash": b64encode(sha256(text.encode()).digest()[:8]).decode()}


def _group(name: str, versions: list[str]) -> Document:
    entries = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": entries, "preferredVersion": entries[0]}


def _resource(resource: Resource) -> Document:
    entry: Document = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    return entry


def _subresource(resource: Resource, name: str) -> Document:
    group, version, kind = subresource_kind(resource, name)
    entry: Document = {
        "name": f"{resource.plural}/{name}",
        "singularName": "",
        "namespaced": resource.namespaced,
        "kind": kind,
        "verbs": list(resource.subresources[name]),
    }
    # group and version are left out if they are those of the resource
    if (group, version) != (resource.group, resource.version):
        entry |= {"group": group, "version": version}
    return entry

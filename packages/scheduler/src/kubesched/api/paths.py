"""Paths of objects on an API server.

From a kind and a name to a path.
"""

from urllib.parse import quote

from kubesched.api.kinds import API_VERSIONS

CLUSTER_SCOPED = frozenset(
    {
        "Node",
        "Namespace",
        "PersistentVolume",
        "StorageClass",
        "CSINode",
        "CSIDriver",
        "VolumeAttachment",
        "VolumeAttributesClass",
        "DeviceClass",
        "ResourceSlice",
        "DeviceTaintRule",
        "PriorityClass",
        "RuntimeClass",
    }
)


def plural_of(kind: str) -> str:
    """Return the name of a kind's resource."""
    name = kind.lower()
    if name.endswith("s"):
        return f"{name}es"
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def path_of(kind: str, namespace: str = "", name: str = "", subresource: str = "", api_version: str = "") -> str:
    """Return the path of a kind's collection, cluster-wide or in a namespace, of an object, or of a subresource."""
    plural = plural_of(kind)
    if kind in API_VERSIONS or api_version:
        version = api_version or API_VERSIONS[kind]
    else:
        # a custom resource: `foos.v1.example.com`
        plural, version, group = kind.split(".", 2)
        version = f"{group}/{version}"
    parts = ["/apis" if "/" in version else "/api", version]
    if namespace and kind not in CLUSTER_SCOPED:
        parts += ["namespaces", quote(namespace, safe="")]
    parts.append(plural)
    if name:
        parts.append(quote(name, safe=""))
    if subresource:
        parts.append(subresource)
    return "/".join(parts)

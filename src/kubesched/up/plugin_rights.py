"""The permissions of the scheduler in `kubesched up` for what its plugins look up and write.

From the kinds that plugins look up, and from what they write, to a role and its binding; and to the kinds that the
server does not serve.
"""

from collections.abc import Iterable, Mapping

from kubesched.api.kinds import API_VERSIONS
from kubesched.api.paths import plural_of
from kubesched.controlplane.access.default_roles import SCHEDULER
from kubesched.controlplane.api.documents import Document
from kubesched.controlplane.api.requests import ADMINISTRATOR
from kubesched.controlplane.api.statuses import ApiError
from kubesched.controlplane.server.server import ApiServer
from kubesched.controlplane.transport.local_client import LocalClient

NAME = "kubesched:plugins"
_GROUP = "rbac.authorization.k8s.io"


def grant(server: ApiServer, names: Iterable[str], writes: Iterable[str] = ()) -> None:
    """Grant the scheduler read access to kinds of plugins, named as `foos.v1.example.com`, and what they write."""
    rules: list[Document] = [
        {"apiGroups": [group], "resources": [plural], "verbs": ["get", "list", "watch"]}
        for plural, _, group in map(_parts, names)
    ]
    rules += [_write_rule(written) for written in dict.fromkeys(writes)]
    if not rules:
        return
    role: Document = {"rules": rules}
    subject = {"kind": "User", "apiGroup": _GROUP, "name": SCHEDULER}
    binding = {"subjects": [subject], "roleRef": {"kind": "ClusterRole", "apiGroup": _GROUP, "name": NAME}}
    client = LocalClient(server, ADMINISTRATOR)
    for kind, content in (("ClusterRole", role), ("ClusterRoleBinding", binding)):
        document = {"apiVersion": f"{_GROUP}/v1", "kind": kind, "metadata": {"name": NAME}, **content}
        resource = client.resource(f"{_GROUP}/v1", kind)
        try:
            client.create(resource, document)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise
            client.update(resource, document)


def _write_rule(written: str) -> Document:
    """Return the permission to write `Pod/eviction`, `foos.v1.example.com/status` or `foos.v1.example.com`."""
    kind, _, subresource = written.partition("/")
    if kind in API_VERSIONS:
        plural, group = plural_of(kind), API_VERSIONS[kind].rpartition("/")[0]
    else:
        plural, _, group = _parts(kind)
    resource = f"{plural}/{subresource}" if subresource else plural
    return {
        "apiGroups": [group],
        "resources": [resource],
        "verbs": ["create" if subresource == "eviction" else "patch"],
    }


def custom_kinds(names: Iterable[str]) -> list[str]:
    """Return the kinds that are custom resources, such as `foos.v1.example.com`."""
    return [name for name in names if "." in name]


def not_served(server: ApiServer, wanted: Mapping[str, Iterable[str]]) -> list[str]:
    """Return a line for each kind that is not served, with the plugins that look it up."""
    return [
        f"{', '.join(plugins)}: {name} is looked up, but not served: add its CustomResourceDefinition"
        for name, plugins in wanted.items()
        if not _is_served(server, name)
    ]


def _is_served(server: ApiServer, name: str) -> bool:
    plural, version, group = _parts(name)
    return server.registry.catalog.find(group, version, plural) is not None


def _parts(name: str) -> tuple[str, str, str]:
    """Return plural, version and group."""
    plural, _, rest = name.partition(".")
    version, _, group = rest.partition(".")
    return plural, version, group

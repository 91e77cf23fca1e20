"""The permissions of the scheduler in `kubesched up` for the objects that its plugins look up and write.

From the kinds that plugins look up and write to a role and its binding; and to the kinds that the server does not
serve.
"""

from collections.abc import Iterable, Mapping

from kubesched.core.framework.building.plugin_rights import name_parts, rules_of
from kubesched_controlplane.access.default_roles import SCHEDULER
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.local_client import LocalClient

NAME = "kubesched:plugins"
_GROUP = "rbac.authorization.k8s.io"


def grant(server: ApiServer, names: Iterable[str], writes: Iterable[str] = ()) -> None:
    """Grant the scheduler read access to the kinds that plugins look up (such as `foos.v1.example.com`), and their
    writes.
    """
    rules = rules_of(names, writes)
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


def not_served(server: ApiServer, wanted: Mapping[str, Iterable[str]]) -> list[str]:
    """Return a line for each kind that is not served, with the plugins that look it up."""
    return [
        f"{', '.join(plugins)}: {name} is looked up, but not served: add its CustomResourceDefinition"
        for name, plugins in wanted.items()
        if not _is_served(server, name)
    ]


def _is_served(server: ApiServer, name: str) -> bool:
    plural, version, group = name_parts(name)
    return server.registry.catalog.find(group, version, plural) is not None

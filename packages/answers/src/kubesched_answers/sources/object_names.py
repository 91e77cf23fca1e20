"""Names of pods and nodes, for completion in shells: quickly, or none at all.

From a source to some names. For a live cluster it reads one page; on any error there are no names.
"""

import msgspec

from kubesched.api.paths import CLUSTER_SCOPED, path_of
from kubesched.client.informers.paged_list import PAGE
from kubesched.client.rest import RestClient, RestConfig
from kubesched.errors import KubeschedError
from kubesched.sources.cluster_source import ClusterSource, live_target
from kubesched.sources.own_loop import in_own_loop
from kubesched_answers.sources.files import DEFAULT_NAMESPACE, read_files

# the shell is waiting
PATIENCE_SECONDS = 3.0


class _Metadata(msgspec.Struct):
    name: str = ""
    namespace: str = ""


class _Item(msgspec.Struct):
    metadata: _Metadata


class _Page(msgspec.Struct):
    items: list[_Item] = []


def names_in(source: ClusterSource, kind: str, namespace: str = "") -> list[str]:
    """Return names of objects of a kind: bare names in the source's namespace, or in the given one."""
    try:
        if source.paths:
            cluster = read_files(source.paths, (), source.namespace or DEFAULT_NAMESPACE)
            own = namespace or source.namespace or cluster.namespace
            found = [obj.metadata for obj in cluster.objects if type(obj).__name__ == kind]
            return [meta.name for meta in found if meta.namespace in ("", own)]
        target = live_target(source)
        own = namespace or source.namespace or target.namespace
        return in_own_loop(_listed(target, path_of(kind, "" if kind in CLUSTER_SCOPED else own)))
    except (KubeschedError, msgspec.MsgspecError):
        return []


async def _listed(target: RestConfig, path: str) -> list[str]:
    rest = RestClient(target, "kubesched", timeout_seconds=PATIENCE_SECONDS)
    try:
        page = msgspec.json.decode(await rest.get(path, {"limit": str(PAGE)}), type=_Page)
    finally:
        await rest.close()
    return [item.metadata.name for item in page.items]

"""Files that operations of `whatif` name: manifests to apply, and nodes to add.

From a path to manifests, or to the one node in a file.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from kubesched.api.codec import decode
from kubesched.api.nodes import Node
from kubesched.errors import KubeschedError
from kubesched.manifests import Manifest
from kubesched_answers.sources.template_files import read_manifests


class FileReaders(NamedTuple):
    """Reads files for operations: the manifests of one, and the node of one (None if there is no such file)."""

    manifests: Callable[[str], Iterable[Manifest]]
    node: Callable[[str], Node | None]


def read_node(path: str) -> Node | None:
    """Return the node in a file, None if there is no file; raises KubeschedError for a file with another content."""
    if not Path(path).exists():
        return None
    manifests = read_manifests([path])
    nodes = [decode(each.document, f"{each.place}: ") for each in manifests if each.kind == Node.__name__]
    if len(manifests) != 1 or not nodes or not isinstance(nodes[0], Node):
        found = manifests[0].named if len(manifests) == 1 else f"{len(manifests)} objects"
        raise KubeschedError(f"{path}: expected one Node, found {found}")
    return nodes[0]


FILE_READERS = FileReaders(lambda path: read_manifests([path]), read_node)

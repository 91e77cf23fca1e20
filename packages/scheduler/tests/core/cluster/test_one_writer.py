"""One writer: outside of `core/cluster` everything that the cluster knows is changed through `ClusterState` alone."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import kubesched
from kubesched.core.cluster.cluster import ClusterState
from kubesched.testing import a_pod

PACKAGE = Path(kubesched.__file__).parent
# the embedded API server has objects of its own
PACKAGES = (
    PACKAGE,
    *(PACKAGE.parents[2] / each for each in ("answers/src", "lab/src", "controlplane/src/kubesched_controlplane/up")),
)
# a part of the cluster -> its methods that change it; parts are known by these names, or with an underscore before
WRITES = {
    "table": {"add_pod", "remove_pod", "refresh_pod", "set_node", "remove_node"},
    "nominations": {"add", "remove"},
    "pod_groups": {"put", "remove"},
    "objects": {"put", "remove"},
    "claims": {"report", "forget", "assume", "begin_allocation", "end_allocation"},
    "volumes": {"report", "forget", "assume", "restore"},
}


def writes(path: Path) -> Iterator[str]:
    """Return the calls in a module that change a part of the cluster."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            part = ast.unparse(node.func.value).rsplit(".", 1)[-1].lstrip("_")
            if node.func.attr in WRITES.get(part, ()):
                yield f"{path.relative_to(PACKAGE.parents[2]).as_posix()}: {ast.unparse(node)}"


def test_only_the_cluster_room_writes() -> None:
    cluster = ClusterState()
    for part, methods in WRITES.items():
        assert all(callable(getattr(getattr(cluster, part), method)) for method in methods)
    room = PACKAGE / "core" / "cluster"
    assert any(call for path in room.rglob("*.py") for call in writes(path))
    rooms = [path for package in PACKAGES for path in package.rglob("*.py")]
    assert [call for path in rooms if not path.is_relative_to(room) for call in writes(path)] == []


def test_waiting_pods_are_shown_and_not_handed_out() -> None:
    cluster = ClusterState()
    cluster.add(a_pod("waiting"))
    with pytest.raises(TypeError):
        del cluster.pending["default-waiting"]  # type: ignore[attr-defined]
    cluster.remove_waiting("default-waiting")
    assert not cluster.pending

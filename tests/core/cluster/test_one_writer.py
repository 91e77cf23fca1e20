"""One writer: outside of `core/cluster` nominations, groups and the table are changed through `Cluster` alone."""

import re
from pathlib import Path

import kubesched

WRITES = re.compile(
    r"nominations\.(add|remove)\(|pod_groups\.(put|remove)\(|\.pending(\[[^\]]*\] = |\.pop\()"
    r"|table\.(add_pod|remove_pod|refresh_pod|set_node|remove_node)\("
)


def test_only_the_cluster_room_writes() -> None:
    package = Path(kubesched.__file__).parent
    found = [
        f"{path.relative_to(package)}: {line.strip()}"
        for path in sorted((package / "core").rglob("*.py"))
        if "cluster" not in path.relative_to(package / "core").parts
        for line in path.read_text().splitlines()
        if WRITES.search(line)
    ]
    assert not found

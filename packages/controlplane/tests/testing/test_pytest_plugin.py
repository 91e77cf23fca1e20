"""The fixtures for tests of plugins, and that they cost other people's tests nothing."""

import subprocess
import sys

from kubesched import NodeRow, PodInfo, Status, filter_plugin, unschedulable
from kubesched.testing import a_node, a_pod
from kubesched.testing.deciding import EngineFactory


@filter_plugin("QuietNodes")
def quiet_nodes(pod: PodInfo, node: NodeRow) -> Status | None:
    return unschedulable("node(s) nearly full") if node.free.milli_cpu < 100 else None


def test_an_engine_decides_with_the_plugins_of_a_test(engine: EngineFactory) -> None:
    made = engine([a_node("full", cpu="50m"), a_node("quiet", cpu="4")], plugins=[quiet_nodes])
    assert made.decide(a_pod("web")).node_name == "quiet"
    made.remove(a_node("quiet"))
    assert "1 node(s) nearly full" in made.decide(a_pod("web")).message


def test_loading_the_fixtures_imports_nothing_heavy() -> None:
    code = "import sys, kubesched.testing.pytest_plugin; sys.exit('numpy' in sys.modules or 'msgspec' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_schedulers_and_clusters_need_no_extra() -> None:
    code = (
        "import sys; sys.modules.update(hypothesis=None, pytest=None)\n"
        "from kubesched.testing import EmbeddedCluster, VirtualScheduler, a_node, a_pod\n"
        "for kind in (VirtualScheduler, EmbeddedCluster):\n"
        "    with kind() as made:\n"
        "        made.put(a_node('n'), a_pod('p'))\n"
        "        made.run(5)\n"
        "        assert made.node_of('p') == 'n'\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr

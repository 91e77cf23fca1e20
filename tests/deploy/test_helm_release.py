"""The chart on a cluster of `kubesched up`, with the real helm: installed, upgraded, rolled back, uninstalled."""

from functools import partial
from pathlib import Path

import pytest
from tests.support.api_client import ApiClient
from tests.support.control_plane import a_local_cluster
from tests.support.processes import eventually
from tests.support.rendering import CHART, IMAGE, WHY_NO_HELM, path_of_helm, run_helm

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not path_of_helm(), reason=WHY_NO_HELM)]

SPACE = "kube-system"
WAIT = ("--wait", "--timeout", "60s")


def test_a_release_comes_changes_and_goes_without_a_trace(tmp_path: Path) -> None:
    with a_local_cluster("--nodes", "3", XDG_STATE_HOME=str(tmp_path)) as cluster:
        api = ApiClient(cluster.kubeconfig)

        def helm(*words: str) -> str:
            found = run_helm(*words, "--namespace", SPACE, "--kubeconfig", str(cluster.kubeconfig), home=tmp_path)
            assert found.returncode == 0, found.stderr
            return found.stdout

        def replicas() -> int:
            return sum(pod["metadata"]["name"].startswith("kubesched-") for pod in api.all("Pod", SPACE))

        def has(count: int) -> bool:
            return replicas() == count

        assert "schedulerName: kubesched" in helm("install", "kubesched", str(CHART), *IMAGE, *WAIT)
        assert replicas() == 2
        helm("upgrade", "kubesched", str(CHART), *IMAGE, "--set", "replicas=3,podAntiAffinity=required", *WAIT)
        eventually(partial(has, 3), "three replicas")
        assert len({pod["spec"]["nodeName"] for pod in api.all("Pod", SPACE)}) == 3
        helm("rollback", "kubesched", "1", *WAIT)
        eventually(partial(has, 2), "two replicas again")
        # one replica needs no budget, which would hold up every drain; three have one again
        for count, budgets in ((1, 0), (3, 1)):
            helm("upgrade", "kubesched", str(CHART), *IMAGE, "--set", f"replicas={count}", *WAIT)
            eventually(partial(has, count), f"{count} replicas")
            assert len(api.ok("GET", f"/apis/policy/v1/namespaces/{SPACE}/poddisruptionbudgets")["items"]) == budgets
        helm("uninstall", "kubesched", *WAIT)
        eventually(partial(has, 0), "no replica is left")
        for kind in ("clusterrolebindings", f"namespaces/{SPACE}/roles", f"namespaces/{SPACE}/rolebindings"):
            found = api.ok("GET", f"/apis/rbac.authorization.k8s.io/v1/{kind}")["items"]
            assert [each for each in found if each["metadata"]["name"].startswith("kubesched:")] == []


def test_a_rolling_update_puts_replicas_on_several_nodes_wherever_the_old_ones_are(tmp_path: Path) -> None:
    with a_local_cluster("--nodes", "2", XDG_STATE_HOME=str(tmp_path)) as cluster:
        api = ApiClient(cluster.kubeconfig)
        first, second = sorted(node["metadata"]["name"] for node in api.ok("GET", "/api/v1/nodes")["items"])

        def rolled(*words: str) -> None:
            release = ("kubesched", str(CHART), *IMAGE, "--namespace", SPACE, "--kubeconfig", str(cluster.kubeconfig))
            found = run_helm("upgrade", "--install", *release, *WAIT, *words, home=tmp_path)
            assert found.returncode == 0, found.stderr

        def on(*nodes: str) -> bool:
            found = [pod for pod in api.all("Pod", SPACE) if pod["metadata"]["name"].startswith("kubesched-")]
            return sorted(pod["spec"].get("nodeName", "") for pod in found) == list(nodes)

        rolled("--set", f"nodeSelector.kubernetes\\.io/hostname={first}")
        eventually(partial(on, first, first), "both replicas on the only node that is allowed")
        rolled("--set", "verbosity=3")
        eventually(partial(on, first, second), "a replica on each node")

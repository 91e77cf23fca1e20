"""The command line of a static pod, as clusters are set up with: the pages behind its secure port, and its log."""

from pathlib import Path

import yaml
from tests.support.clusters import a_cluster_process, bound
from tests.support.probes import fetch, free_port
from tests.support.processes import a_scheduler

from kubesched.testing import a_node, a_pod


def test_the_manifest_of_a_static_pod_works_as_it_is(tmp_path: Path) -> None:
    port = free_port()
    with a_cluster_process(tmp_path, [a_node("n"), a_pod("p")]) as cluster:
        token = yaml.safe_load((tmp_path / "admin.kubeconfig").read_text())["users"][0]["user"]["token"]
        flags = (
            f"--authentication-kubeconfig={cluster.kubeconfig}",
            f"--authorization-kubeconfig={cluster.kubeconfig}",
            "--bind-address=127.0.0.1",
            f"--kubeconfig={cluster.kubeconfig}",
            "--leader-elect=true",
            f"--secure-port={port}",
        )
        with a_scheduler(tmp_path, *flags, secrets=[*cluster.secrets, token]) as scheduler:
            assert scheduler.says(f"Serving securely on 127.0.0.1:{port}").startswith("I")
            assert scheduler.says("Generated self-signed cert in-memory").startswith("I")
            bound(cluster.api, "p")
            # alive is whoever turns: what restarts it must not depend on a lease
            turns = "[+]scheduling-loop ok"
            assert fetch(port, "/livez?verbose") == (200, f"[+]ping ok\n{turns}\nlivez check passed\n")
            assert fetch(port, "/healthz?verbose") == (200, f"[+]leaderElection ok\n{turns}\nhealthz check passed\n")
            assert fetch(port, "/readyz") == (200, "ok")
            status = fetch(port, "/statusz", token)[1].splitlines()
            assert "Binary version: 1.36.4" in status
            assert status[-1] == "Paths: /configz /flagz /healthz /livez /metrics /readyz"
            assert fetch(port, "/metrics")[0] == 403
            assert fetch(port, "/metrics", "nobody's")[0] == 401
            code, text = fetch(port, "/metrics", token)
            assert code == 200
            assert 'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1' in text
            assert scheduler.end() == 0

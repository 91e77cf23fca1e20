"""The command line of a static pod, as clusters are set up with: the pages behind its secure port, and its log."""

import socket
import ssl
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import yaml

from kubesched.testing import a_node, a_pod
from kubesched.testing.clusters import a_cluster_process, bound
from kubesched.testing.processes import a_scheduler


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def fetch(port: int, path: str, token: str = "") -> tuple[int, str]:
    """Return the code and the text of a page."""
    # the certificate signs itself, as that of the reference
    trusting = ssl._create_unverified_context()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with urlopen(Request(f"https://127.0.0.1:{port}{path}", headers=headers), context=trusting) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


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
            # alive is whoever answers: what restarts it must not depend on a lease
            assert fetch(port, "/livez?verbose") == (200, "[+]ping ok\nlivez check passed\n")
            assert fetch(port, "/healthz?verbose") == (200, "[+]leaderElection ok\nhealthz check passed\n")
            assert fetch(port, "/readyz") == (200, "ok")
            assert fetch(port, "/metrics")[0] == 403
            assert fetch(port, "/metrics", "nobody's")[0] == 401
            code, text = fetch(port, "/metrics", token)
            assert code == 200
            assert 'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1' in text
            assert scheduler.end() == 0

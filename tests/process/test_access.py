"""Credentials and permissions that are wrong, run out or are taken away: it says so, and recovers by itself."""

import signal
import sys
from pathlib import Path

import pytest
import yaml
from tests.support.api_client import Document
from tests.support.clusters import ALONE, ClusterState, a_cluster_process, all_bound, bound, replace, settled

from kubesched.testing import a_node, a_pod
from kubesched_controlplane.transport.certificates import make_tls

# real processes, for seconds each
pytestmark = pytest.mark.slow

GRANTS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
ROLES = ("system:kube-scheduler", "system:volume-scheduler")


def revoke(cluster: ClusterState) -> list[Document]:
    """Take everything from the scheduler; return what to restore."""
    granted = [cluster.api.ok("GET", f"{GRANTS}/{role}") for role in ROLES]
    for role in ROLES:
        cluster.api.ok("DELETE", f"{GRANTS}/{role}")
    return granted


def restore(cluster: ClusterState, granted: list[Document]) -> None:
    """Give everything back."""
    for grant in granted:
        kept = {key: grant["metadata"][key] for key in ("name", "labels")}
        cluster.api.ok("POST", GRANTS, {**grant, "metadata": kept})


def test_a_token_that_is_not_accepted_is_read_again_until_it_is(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n"), a_pod("p")]) as cluster:
        token = (tmp_path / "token").read_text()
        replace(tmp_path / "token", "out-of-date")
        cluster.secrets.append("out-of-date")
        with cluster.scheduler(ALONE, "-v=10") as scheduler:
            line = scheduler.says("Unauthorized")
            assert f"in kubeconfig {cluster.kubeconfig}; they may have expired or been revoked" in line
            assert len(scheduler.lines("Unauthorized")) == 1, "said once, not for each kind"
            replace(tmp_path / "token", token)
            bound(cluster.api, "p")


def test_an_authority_that_did_not_issue_the_servers_certificate_is_read_again_until_it_did(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n"), a_pod("p")]) as cluster:
        authority = (tmp_path / "ca.crt").read_text()
        replace(tmp_path / "ca.crt", make_tls(["127.0.0.1"]).authority.decode())
        with cluster.scheduler(ALONE) as scheduler:
            line = scheduler.says("is not trusted")
            assert 'check certificate-authority and tls-server-name of context "kubesched" in kubeconfig' in line
            assert len(scheduler.lines("is not trusted")) == 1, "said once, not for each kind"
            replace(tmp_path / "ca.crt", authority)
            bound(cluster.api, "p")


def test_without_its_roles_it_says_what_it_lacks_and_begins_when_it_has_them(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n"), a_pod("p")]) as cluster:
        granted = revoke(cluster)
        with cluster.scheduler() as scheduler:
            line = scheduler.says('User "system:kube-scheduler" cannot list resource "')
            assert "bind the cluster roles system:kube-scheduler and system:volume-scheduler to it" in line
            assert len(scheduler.lines("cannot list resource")) == 1, "said once, not for each kind"
            restore(cluster, granted)
            bound(cluster.api, "p")


def test_access_that_is_revoked_for_a_while_delays_pods_and_loses_none(tmp_path: Path) -> None:
    pods = [a_pod(f"p{number}", cpu="1") for number in range(6)]
    objects = [a_node("n", cpu="4"), a_pod("first", cpu="1")]
    with a_cluster_process(tmp_path, objects) as cluster, cluster.scheduler(ALONE) as scheduler:
        bound(cluster.api, "first")
        granted = revoke(cluster)
        for pod in pods:
            cluster.api.create(pod)
        assert 'cannot patch resource "pods/status"' in scheduler.says("pods/status")
        restore(cluster, granted)
        all_bound(cluster.api, 4)
        settled(cluster.api)


def test_a_token_that_is_replaced_while_it_runs_is_used(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n"), a_pod("p")]) as cluster, cluster.scheduler(ALONE) as scheduler:
        bound(cluster.api, "p")
        cluster.kill()
        # the same address with another token and another authority
        cluster.start([a_node("n"), a_pod("q")])
        bound(cluster.api, "q")
        assert scheduler.alive


# a credential plugin that hands out what is in a file
EXEC = """
import json
from pathlib import Path

token = Path(__file__).with_name("token").read_text()
kind = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}
print(json.dumps({**kind, "status": {"token": token}}))
"""


def test_no_secret_is_in_the_log_of_those_who_want_to_know_everything(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n"), a_pod("p")]) as cluster:
        (tmp_path / "credentials.py").write_text(EXEC)
        content = yaml.safe_load(cluster.kubeconfig.read_text())
        content["users"][0]["user"] = {
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": sys.executable,
                "args": [str(tmp_path / "credentials.py")],
                "env": [{"name": "CLIENT_SECRET", "value": "s3cr3t-of-the-plugin"}],
                "interactiveMode": "Never",
            }
        }
        replace(cluster.kubeconfig, yaml.safe_dump(content))
        cluster.secrets.append("s3cr3t-of-the-plugin")
        reviews = ("--authentication-kubeconfig", str(cluster.kubeconfig))
        with cluster.scheduler(ALONE, "-v=10", "--logging-format=json", *reviews) as scheduler:
            bound(cluster.api, "p")
            # a server with another token and another authority: what was shown is refused
            cluster.kill()
            cluster.start([a_node("n"), a_pod("q")])
            bound(cluster.api, "q")
            scheduler.process.send_signal(signal.SIGUSR2)
            scheduler.says("Dump of cached NodeInfo")

"""What is wrong before anything runs: one line that names it and the fix, no traceback, and no secret in it."""

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.clusters import ALONE, a_cluster_process, bound
from tests.support.processes import a_scheduler

from kubesched.run.command import main
from kubesched.testing import a_node, a_pod

SECRET = "s3cr3t-of-nobody"
NOT_PEM = b64encode(SECRET.encode()).decode()
FLAGS = ("--secure-port=0", ALONE)


def a_kubeconfig(user: dict[str, Any], context: str = "x", **cluster: Any) -> dict[str, Any]:
    """Return a kubeconfig of a server that does not exist."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1", **cluster}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": context,
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such file; check --kubeconfig, or clientConnection.kubeconfig"),
        ("", "holds no mapping with clusters, users and contexts"),
        (f"users: [{{user: {{token: {SECRET}}}", "is not YAML: "),
        (f"\0{SECRET}", "is not YAML: "),
        (a_kubeconfig({"token": SECRET}, context="z"), '"z" does not exist'),
        (a_kubeconfig({"token": SECRET}, server="ftp://x"), 'cluster "c": server: is no address of an API server'),
        (
            a_kubeconfig({"token": SECRET}, **{"certificate-authority-data": NOT_PEM}),
            'cluster "c": certificate-authority-data: holds no PEM certificate',
        ),
        (
            a_kubeconfig({"client-certificate-data": NOT_PEM, "client-key-data": NOT_PEM}),
            'user "u": client-certificate-data: holds no PEM certificate',
        ),
        (a_kubeconfig({"token": f"{SECRET}\n{SECRET}"}), 'user "u": token: the token holds characters that no token'),
        (a_kubeconfig({"tokenFile": "gone"}), 'user "u": tokenFile: cannot read '),
        (a_kubeconfig({"password": SECRET, "token": [SECRET]}), "users[0].user.token: expected a string, got a list"),
    ],
)
def test_a_kubeconfig_that_cannot_be_used_ends_it_with_one_line(
    content: object, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config"
    if content is not None:
        file.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    assert main(["--kubeconfig", str(file), *FLAGS], "kubesched run") == 1
    out, error = capsys.readouterr()
    assert (out, len(error.splitlines())) == ("", 1), error
    assert error.startswith(f"Error: kubeconfig {file}: ")
    assert message in error
    assert SECRET not in error
    assert NOT_PEM not in error


def test_without_a_kubeconfig_and_outside_a_pod_it_says_what_to_set(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert main([*FLAGS], "kubesched run") == 1
    assert "Error: there is no API server to speak to: set --kubeconfig" in capsys.readouterr().err


def test_what_cannot_work_ends_a_process_without_a_traceback(tmp_path: Path) -> None:
    with a_scheduler(tmp_path, "--kubeconfig", str(tmp_path / "none"), *FLAGS) as scheduler:
        assert scheduler.ends() == 1
        assert len(scheduler.log.splitlines()) == 1


def test_it_waits_for_a_server_that_is_not_there_yet(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path) as cluster:
        cluster.kill()
        with cluster.scheduler(ALONE) as scheduler:
            line = scheduler.says("failed to list and watch")
            assert "cannot connect to https://127.0.0.1:" in line
            assert "Connection refused" in line
            assert len(scheduler.lines("cannot connect")) == 1, "said once, not for each kind"
            cluster.start([a_node("n"), a_pod("p")])
            bound(cluster.api, "p")

"""`explain pod` with what the scheduler remembers: of a cluster of `kubesched up`, and of a scheduler by its URL."""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from tests.support.control_plane import a_local_cluster
from tests.support.processes import eventually

from kubesched.cli import main

PODS = """\
apiVersion: v1
kind: Pod
metadata: {name: small, namespace: default}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: giant, namespace: default}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 64}}}]}
"""


def explained(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "120"}).invoke(main, ["explain", "pod", *arguments])


def answer(*arguments: str) -> Any:
    found = explained(*arguments, "-o", "json")
    assert found.exit_code in (0, 3), found.output
    return json.loads(found.stdout)


@pytest.fixture
def pods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "pods.yaml").write_text(PODS)
    return str(tmp_path / "pods.yaml")


def test_a_cluster_of_up_tells_what_its_scheduler_decided(pods: str, tmp_path: Path) -> None:
    with a_local_cluster("--nodes", "3", "--name", "told", pods) as process:
        small = eventually(
            lambda: found if (found := answer("small", "--cluster", "told")).get("placed") else None,
            "the pod is bound",
        )
        assert small["verdict"] == "bound"
        assert small["placed"]["node"] == small["decisions"][0]["node"]
        assert len(small["placed"]["runnersUp"]) == 2
        giant = answer("giant", "--cluster", "told")
        assert giant["waits"]["attempts"] >= 1
        assert giant["decisions"][0]["rejected"][0]["message"] == "Insufficient cpu"
        shown = explained("giant", "--kubeconfig", str(process.kubeconfig))
        assert "What the scheduler decided" in shown.stdout
        assert "3 lack cpu" in shown.stdout
        # the page is an API server's here; with a snapshot it is found by its URL
        config = yaml.safe_load(Path(process.kubeconfig).read_text())
        url, token = config["clusters"][0]["cluster"]["server"], config["users"][0]["user"]["token"]
        snapshot = str(tmp_path / "snapshot")
        made = CliRunner().invoke(main, ["snapshot", "--cluster", "told", "-o", snapshot])
        assert made.exit_code == 0, made.output
        (tmp_path / "token").write_text(token)
        (tmp_path / "ca.crt").write_bytes(b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]))
        files = ("--scheduler-ca", str(tmp_path / "ca.crt"), "--scheduler-token-file", str(tmp_path / "token"))
        assert answer("giant", "--from", snapshot, "--scheduler", url, *files)["decisions"]
    gone = answer("giant", "--from", snapshot, "--scheduler", url, *files)
    assert "decisions" not in gone or gone["decisions"] == []
    assert [gap["what"] for gap in gone["gaps"]] == [f"decisions of the scheduler at {url}"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--scheduler", "http://localhost"], "http://localhost is not a URL such as https://127.0.0.1:10259"),
        (["--scheduler-ca", "ca.crt"], "--scheduler-ca, -token, -cert and -key need --scheduler URL"),
        (["--scheduler", "https://a", "--scheduler-key", "k"], "give a client certificate and its key together"),
    ],
)
def test_wrong_options_are_told_before_anything_is_read(arguments: list[str], said: str) -> None:
    found = explained("giant", "--from", "nowhere.yaml", *arguments)
    assert found.exit_code == 2
    assert said in found.output

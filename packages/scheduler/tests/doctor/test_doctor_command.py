"""`kubesched doctor` as people call it."""

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from tests.support.served_cluster import a_served_cluster

from kubesched.cli import main


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["--config", "missing.yaml"], 1, "missing.yaml"),
        (["--dashboards", "missing.json"], 1, "--dashboards missing.json"),
        (["--scheduler", "ftp://x"], 2, "is not a URL such as https://"),
        (["-s", "https://127.0.0.1:1"], 1, "the cluster cannot be examined: cannot connect"),
    ],
)
def test_what_cannot_be_examined_is_told(arguments: list[str], code: int, why: str) -> None:
    result = CliRunner().invoke(main, ["doctor", *arguments])
    assert (result.exit_code, why in result.output) == (code, True), result.output


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "d.json").write_bytes(b"\xff\xfe")
    result = CliRunner().invoke(main, ["doctor", "--dashboards", str(tmp_path / "d.json")])
    assert (result.exit_code, "it is not UTF-8 text" in result.output) == (1, True)


@pytest.mark.slow
def test_a_cluster_over_https(tmp_path: Path) -> None:
    with a_served_cluster(tmp_path) as cluster:
        kubeconfig = ["--kubeconfig", cluster.kubeconfig()]
        plain = CliRunner().invoke(main, ["doctor", *kubeconfig])
        assert plain.exit_code == 0, plain.output
        assert "ok    version: the API server is v1.36.4" in plain.output
        strict = CliRunner().invoke(main, ["doctor", "--strict", *kubeconfig])
        assert strict.exit_code == 1
        refused = CliRunner().invoke(main, ["doctor", *kubeconfig, "--as", "nobody", "-o", "json"])
        answer = msgspec.json.decode(refused.stdout)
        assert (refused.exit_code, answer["ready"]) == (1, False)
        assert any(each["level"] == "fail" and each["check"] == "rights" for each in answer["findings"])

"""`kubesched shadow` as people call it."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.api_client import ApiClient
from tests.support.control_plane import a_local_cluster
from tests.support.extender_service import Service, configuration, serving
from tests.support.processes import eventually
from tests.support.shadow_process import PACKING, a_shadow

from kubesched.cli import main
from kubesched.testing import a_pod


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["--report", "a.txt"], 2, "expected a name that ends in .html or .md"),
        (["--report", "none/a.html", "-s", "https://127.0.0.1:1"], 1, "--report none/a.html: there is no folder none"),
        (["--duration", "soon"], 2, "'soon' is not a duration such as 30s or 2h"),
        (["--pods", "0"], 2, "0 is not in the range x>=1"),
        (["--config", "missing.yaml"], 1, "missing.yaml"),
        (["--feature-gates", "Nothing=true"], 1, "Nothing"),
        (["--kubeconfig", "missing"], 1, "missing"),
        (["-s", "https://127.0.0.1:1"], 1, "the cluster cannot be followed: cannot connect"),
    ],
)
def test_what_cannot_be_followed_is_told(arguments: list[str], code: int, why: str) -> None:
    result = CliRunner().invoke(main, ["shadow", *arguments])
    assert (result.exit_code, why in result.output) == (code, True), result.output


def test_a_scheduler_name_that_the_configuration_does_not_have(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    arguments = ["shadow", "--config", str(config), "--scheduler-name", "other"]
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, "the configuration has no such profile: default-scheduler" in result.output) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize(("config", "code"), [("", 0), (PACKING, 1)], ids=["the same configuration", "another one"])
def test_beside_the_scheduler_of_a_cluster_until_ctrl_c(tmp_path: Path, config: str, code: int) -> None:
    report = tmp_path / "report.html"
    with (
        a_local_cluster("--nodes", "3", "--name", f"shadowed-{code}") as cluster,
        a_shadow(tmp_path, cluster.kubeconfig, "--report", str(report), config=config) as shadow,
    ):
        api = ApiClient(cluster.kubeconfig)
        for number in range(6):
            api.create(a_pod(f"p{number}", cpu="1", image="i"))
        eventually(lambda: all(pod["spec"].get("nodeName") for pod in api.all("Pod", "default")), "all pods are bound")
        answer = shadow.end()
    assert (shadow.process.returncode, answer["judged"]) == (code, 6), shadow.log
    assert ("different: default/p" in shadow.log) is bool(code)
    assert answer["summary"] in report.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("asks", [True, False])
def test_extenders_are_asked_if_they_are_to_be(tmp_path: Path, asks: bool) -> None:
    # without its score all nodes are equal
    service = Service({"prioritize": lambda body: [{"Host": body["NodeNames"][-1], "Score": 10}]})
    name = f"extended-{asks}".lower()
    with serving(service):
        file = tmp_path / "config.yaml"
        file.write_text(configuration(service, {"weight": 5}))
        options = ["--ask-extenders"] if asks else ["--duration", "5s"]
        with (
            a_local_cluster("--nodes", "3", "--config", str(file), "--name", name) as cluster,
            a_shadow(tmp_path, cluster.kubeconfig, "--pods", "6", *options, config=file.read_text()) as shadow,
        ):
            api = ApiClient(cluster.kubeconfig)
            for number in range(6):
                api.create(a_pod(f"p{number}", cpu="1", image="i"))
            answer = shadow.answer()
    assert answer["agrees"], shadow.log
    if asks:
        assert (shadow.process.returncode, answer["judged"], answer["gaps"]) == (0, 6, []), answer
        assert len(service.asked) > 6
    else:
        assert answer["notJudged"], answer
        assert "extenders" in answer["gaps"][0]["what"]

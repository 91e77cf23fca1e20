"""The command line: what is wrong with it is said in kube-scheduler's words, on standard error, with code 1."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubesched.client.credentials.rest_config import load_rest_config
from kubesched.config.load import load
from kubesched.run.command import main
from kubesched.run.options import write_config
from kubesched.run.process import SchedulerProcess

KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
    "users": [{"name": "u", "user": {"token": "of-nobody"}}],
    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    "current-context": "x",
}


@pytest.fixture(autouse=True)
def _never_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a scheduler that would run fail instead."""

    async def run(self: SchedulerProcess) -> int:
        raise AssertionError("it runs")

    monkeypatch.setattr(SchedulerProcess, "run", run)


@pytest.fixture
def kubeconfig(tmp_path: Path) -> str:
    """Return a kubeconfig of a server that does not exist."""
    file = tmp_path / "kubeconfig"
    file.write_text(yaml.safe_dump(KUBECONFIG))
    return str(file)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nope"], "unknown flag: --nope"),
        (["--nope=1"], "unknown flag: --nope"),
        (["-x"], "unknown shorthand flag: 'x' in -x"),
        (["stray"], '"kubesched run" does not take any arguments, got ["stray"]'),
        (["--secure-port"], "flag needs an argument: --secure-port"),
        (
            ["--secure-port=abc"],
            'invalid argument "abc" for "--secure-port" flag: strconv.ParseInt: parsing "abc": invalid syntax',
        ),
        (
            ["--leader-elect=maybe"],
            'invalid argument "maybe" for "--leader-elect" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
        ),
        (
            ["--leader-elect-lease-duration", "5"],
            'invalid argument "5" for "--leader-elect-lease-duration" flag: time: missing unit in duration "5"',
        ),
        (["--secure-port=70000"], "--secure-port 70000 must be between 0 and 65535"),
        (["--feature-gates=Nope=true"], "unrecognized feature gate: Nope"),
        (["--config", "/none"], "--config /none: No such file or directory"),
        (["--plugin", "/none.py"], "--plugin /none.py: No such file or directory"),
        (
            ["--leader-elect-lease-duration=5s", "--leader-elect-renew-deadline=10s"],
            "leaderElection.leaseDuration: Invalid value",
        ),
    ],
)
def test_a_command_line_that_cannot_work(
    arguments: list[str], message: str, kubeconfig: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--kubeconfig", kubeconfig, *arguments], "kubesched run") == 1
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith(f"Error: {message}"), error
    assert "Traceback" not in error


def test_help_and_version_go_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"], "kubesched run") == 0
    out, error = capsys.readouterr()
    assert error == ""
    assert "Leader election flags:" in out
    assert "--leader-elect-lease-duration duration" in out
    assert main(["--version"], "kubesched run") == 0
    assert capsys.readouterr().out == "Kubernetes v1.36.4\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("foo", 'strconv.ParseBool: parsing "foo": invalid syntax'),
        ("", 'strconv.ParseBool: parsing "": invalid syntax'),
        ("v", 'could not parse "v" as version'),
        ("v1.36", 'illegal version string "v1.36"'),
        ("v01.36.4", 'illegal zero-prefixed version component "01" in "v01.36.4"'),
        ("v1.36.4-01", 'illegal zero-prefixed version component "01" in "v1.36.4-01"'),
        ("v1.36.4-", 'could not parse pre-release/metadata (-) in version "v1.36.4-"'),
        ("v1.36.5", 'version "v1.36.5" must match major/minor/patch of default version "v1.36.4"'),
    ],
)
def test_what_is_no_version(text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([f"--version={text}"], "kubesched run") == 1
    assert capsys.readouterr().err.startswith(f'Error: invalid argument "{text}" for "--version" flag: {message}')


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("raw", 'version.Info{Major:"1", Minor:"36", EmulationMajor:"", EmulationMinor:"", MinCompatibilityMajor:"", '),
        ("T", "Kubernetes v1.36.4\n"),
    ],
)
def test_forms_of_the_version(text: str, printed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([f"--version={text}"], "kubesched run") == 0
    assert capsys.readouterr().out.startswith(printed)


@pytest.mark.parametrize("text", ["false", "v1.36.4", "v1.36.4-of.somebody+1"])
def test_a_version_to_be_reported_does_not_keep_it_from_running(text: str, kubeconfig: str) -> None:
    with pytest.raises(AssertionError, match="it runs"):
        main([f"--version={text}", "--kubeconfig", kubeconfig, "--secure-port=0"], "kubesched run")


def test_both_programs_are_the_same() -> None:
    answers = [
        subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        for command in (
            [sys.executable, "-m", "kubesched", "run", "--secure-port=x"],
            [sys.executable, "-c", "from kubesched.console import kube_scheduler; kube_scheduler()", "--secure-port=x"],
        )
    ]
    assert [answer.returncode for answer in answers] == [1, 1]
    first, second = (answer.stderr.splitlines() for answer in answers)
    assert first[0] == second[0]
    assert (first[1], second[1]) == ("See 'kubesched run --help' for usage.", "See 'kube-scheduler --help' for usage.")


# -- --kubeconfig beside --config


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a configuration file that names no kubeconfig; this is no pod."""
    for name in ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "scheduler.yaml"
    file.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    return file


def test_a_kubeconfig_that_is_ignored_is_named_with_the_fix(
    kubeconfig: str, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--kubeconfig", kubeconfig, "--config", str(config)], "kubesched run") == 1
    error = capsys.readouterr().err
    fix = f"write clientConnection.kubeconfig: {kubeconfig} into {config}"
    assert f"Error: --kubeconfig is ignored with --config, as in kube-scheduler: {fix}" in error
    assert "Neither --kubeconfig nor --master" not in error


def test_without_any_kubeconfig_none_was_ignored(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--config", str(config)], "kubesched run") == 1
    error = capsys.readouterr().err
    assert "Neither --kubeconfig nor --master was specified" in error
    assert "Error: there is no API server to speak to" in error
    assert "ignored" not in error


def test_the_kubeconfig_of_the_file_counts(kubeconfig: str, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(f"{config.read_text()}clientConnection: {{kubeconfig: {kubeconfig}}}\n")
    with pytest.raises(AssertionError, match="it runs"):
        main(["--kubeconfig", "/none", "--config", str(config), "--secure-port=0"], "kubesched run")
    assert "ignored" not in capsys.readouterr().err


def test_in_a_pod_the_service_account_counts_and_the_kubeconfig_that_does_not_is_named(
    kubeconfig: str, config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    of_the_pod = load_rest_config(kubeconfig)
    monkeypatch.setattr("kubesched.run.clients.in_cluster_config", lambda *, note: of_the_pod)
    with pytest.raises(AssertionError, match="it runs"):
        main(["--kubeconfig", kubeconfig, "--config", str(config), "--secure-port=0"], "kubesched run")
    assert "--kubeconfig is ignored with --config" in capsys.readouterr().err


# -- --write-config-to


def test_the_completed_configuration_is_written_and_nobody_is_asked(
    kubeconfig: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "written.yaml"
    flags = ["--kubeconfig", kubeconfig, "--leader-elect-lease-duration=1m", "--secure-port=0"]
    assert main([*flags, "--write-config-to", str(file)], "kubesched run") == 0
    assert "Wrote configuration" in capsys.readouterr().err
    written = yaml.safe_load(file.read_text())
    assert (written["apiVersion"], written["kind"]) == ("kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration")
    assert written["clientConnection"]["kubeconfig"] == kubeconfig
    assert written["leaderElection"]["leaseDuration"] == "1m0s"
    assert len(written["profiles"][0]["plugins"]["multiPoint"]["enabled"]) == 20
    assert load(file.read_bytes()).config.leader_election.lease_duration.seconds == 60


@pytest.mark.parametrize(
    ("extender", "mode"),
    [
        pytest.param({"urlPrefix": "http://a/b"}, 0o644, id="nothing secret"),
        pytest.param({"urlPrefix": "http://me:s3cr3t@a/b"}, 0o600, id="a password"),
        pytest.param({"urlPrefix": "http://a/b", "tlsConfig": {"keyData": "a2V5"}}, 0o600, id="a private key"),
    ],
)
@pytest.mark.parametrize("before", [None, 0o644], ids=["a new file", "one that others can read"])
def test_a_configuration_with_secrets_is_written_for_its_owner_alone(
    extender: dict[str, Any], mode: int, before: int | None, tmp_path: Path
) -> None:
    file = tmp_path / "written.yaml"
    if before is not None:
        file.touch()
        file.chmod(before)
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "extenders": [{**extender, "filterVerb": "filter"}],
    }
    umask = os.umask(0o022)
    try:
        write_config(str(file), load(yaml.safe_dump(document).encode()).config)
    finally:
        os.umask(umask)
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert yaml.safe_load(file.read_text())["extenders"][0]["urlPrefix"] == extender["urlPrefix"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--kubeconfig", "/none"], "Error: kubeconfig /none: there is no such file"),
        (["--write-config-to", "/none/file"], "Error: --write-config-to /none/file: No such file or directory"),
    ],
)
def test_a_configuration_that_cannot_be_run_or_written_is_an_error(
    flags: list[str], message: str, kubeconfig: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "written.yaml"
    given = ["--kubeconfig", kubeconfig, "--write-config-to", str(file), "--secure-port=0"]
    assert main([*given, *flags], "kubesched run") == 1
    assert message in capsys.readouterr().err
    assert not file.exists()

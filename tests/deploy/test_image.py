"""The image: built from locks, for nobody, and a filesystem in which the scheduler works though it cannot write."""

import json
import re
import signal
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from tests.support import root_filesystem
from tests.support.api_client import ApiClient, document_of
from tests.support.clusters import bound
from tests.support.probes import free_port
from tests.support.programs import is_there
from tests.support.served_cluster import a_served_cluster

from kubesched import __version__
from kubesched.testing import a_node, a_pod

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "deploy" / "Dockerfile").read_text().replace("\\\n", " ")
INSTRUCTIONS = [line.split(maxsplit=1) for line in TEXT.splitlines() if line and not line.startswith("#")]


def arguments(name: str) -> list[str]:
    """Return what follows an instruction, each time."""
    return [rest for instruction, rest in INSTRUCTIONS if instruction == name]


def health_check(port: int) -> list[str]:
    """Return the words of the health check, with the Python of this machine and another port than the exposed one."""
    (text,) = arguments("HEALTHCHECK")
    (exposed,) = arguments("EXPOSE")
    python, *words = json.loads(text.partition("CMD ")[2])
    assert python == "/usr/bin/python3"
    assert sum(f":{exposed}/" in word for word in words) == 1
    return [f"{root_filesystem.PYTHON}/bin/python3", *(word.replace(f":{exposed}/", f":{port}/") for word in words)]


def test_it_is_built_from_the_locks() -> None:
    installs = [part for line in arguments("RUN") for part in line.split("&&") if "pip install" in part]
    assert len(installs) == 3
    assert all("--require-hashes" in each or ("--no-deps" in each and "--no-index" in each) for each in installs)


def test_a_build_whose_program_would_not_be_found_fails() -> None:
    scripts = tomllib.loads((ROOT / "packages/scheduler/pyproject.toml").read_text())["project"]["scripts"]
    started = arguments("RUN")[-1].split()
    variables = dict(word.split("=", 1) for word in arguments("ENV")[-1].split())
    program = Path(started[-2])
    assert started[-1] == "--version"
    assert program.name in scripts
    assert str(program.parent) in variables["PATH"].split(":")
    assert f"PYTHONPATH={variables['PYTHONPATH']}" in started


def test_bases_are_named_by_digest() -> None:
    stages = [line.split()[0] for line in arguments("FROM")]
    bases = dict(line.split("=", 1) for line in arguments("ARG") if "=" in line)
    assert stages == ["${BUILD}", "${RUNTIME}"]
    for stage in stages:
        assert re.fullmatch(r"[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}", bases[stage.strip("${}")])


def test_what_is_copied_is_not_ignored() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {word for line in arguments("COPY") if "--from" not in line for word in line.split()[:-1]}
    assert copied == kept
    assert all((ROOT / each).exists() for each in copied)


def test_it_runs_a_script_of_the_package_as_a_user_with_a_number() -> None:
    scripts = tomllib.loads((ROOT / "packages/scheduler/pyproject.toml").read_text())["project"]["scripts"]
    (entry,) = arguments("ENTRYPOINT")
    assert re.findall(r'"(.*?)"', entry)[0] in scripts
    assert arguments("USER") == ["65534:65534"]
    assert f"VERSION={__version__}" in arguments("ARG")


def test_the_last_stage_runs_nothing_so_that_it_needs_no_shell() -> None:
    last = max(number for number, (name, _) in enumerate(INSTRUCTIONS) if name == "FROM")
    assert "RUN" not in [name for name, _ in INSTRUCTIONS[last:]]
    assert all(text.startswith("[") for name in ("ENTRYPOINT",) for text in arguments(name))
    assert health_check(10259)


# -- the filesystem


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("image") / "root"
    folder.mkdir()
    root_filesystem.assemble(folder)
    return folder


needs_root = pytest.mark.skipif(
    not is_there("mount", root_filesystem.can_mount(), root_filesystem.WHY_NOT), reason=root_filesystem.WHY_NOT
)


@pytest.mark.slow
@needs_root
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["kubesched", "--version"], f"kubesched {__version__}"),
        (["kubesched", "version"], __version__),
        (["kube-scheduler", "--version"], "Kubernetes v1.36"),
        (["kubesched", "run", "--help"], "--secure-port"),
    ],
)
def test_nobody_runs_its_programs_on_a_read_only_root(root: Path, words: list[str], said: str) -> None:
    found = root_filesystem.run(root, *words)
    assert found.returncode == 0, found.stderr
    assert said in found.stdout


@pytest.mark.slow
@needs_root
def test_it_has_no_shell_and_nothing_can_be_written(root: Path) -> None:
    assert root_filesystem.run(root, "sh", "-c", "true").returncode == 127
    python = f"{root_filesystem.PYTHON}/bin/python3"
    assert "65534" in root_filesystem.run(root, python, "-c", "import os; print(os.getuid())").stdout
    for place in ("/x", "/opt/kubesched/x", f"{root_filesystem.SITE}/x"):
        assert "Read-only file system" in root_filesystem.run(root, python, "-c", f"open('{place}', 'w')").stderr


@pytest.mark.slow
@needs_root
def test_the_scheduler_binds_pods_from_there_and_its_health_is_seen(root: Path, tmp_path: Path) -> None:
    with a_served_cluster(tmp_path, document_of(a_node("n")), simulated=True) as cluster:
        admin = cluster.kubeconfig()
        files = root / "etc" / "kubesched"
        files.mkdir(parents=True)
        (files / "kubeconfig").write_text(Path(admin).read_text())
        (files / "config.yaml").write_text(
            yaml.safe_dump(
                {
                    "apiVersion": "kubescheduler.config.k8s.io/v1",
                    "kind": "KubeSchedulerConfiguration",
                    "clientConnection": {"kubeconfig": "/etc/kubesched/kubeconfig"},
                    "leaderElection": {"leaderElect": False},
                }
            )
        )
        log = tmp_path / "log"
        port = free_port()
        words = ["kube-scheduler", "--config=/etc/kubesched/config.yaml", f"--secure-port={port}", "-v=2"]
        with log.open("w") as output:
            process = subprocess.Popen(
                root_filesystem.command(root, *words),
                env=root_filesystem.environment(),
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
            )
        try:
            api = ApiClient(Path(admin))
            api.create(a_pod("p"))
            assert bound(api, "p") == "n", log.read_text()
            healthy = root_filesystem.run(root, *health_check(port))
            assert healthy.returncode == 0, healthy.stderr
            process.send_signal(signal.SIGSTOP)
            assert root_filesystem.run(root, *health_check(port)).returncode == 1, "it answers nothing"
            process.send_signal(signal.SIGCONT)
            assert root_filesystem.run(root, *health_check(port)).returncode == 0
        finally:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            process.wait(60)
        assert root_filesystem.run(root, *health_check(port)).returncode == 1, "it has ended"
        assert "Traceback" not in log.read_text()

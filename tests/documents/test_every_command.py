"""Every command of the documents is run as it is written: here, or by the tests that RUN_ELSEWHERE names.

A command finds a folder with files of the names that it uses, and a cluster behind KUBECONFIG. One that stays is ended
with Ctrl-C when it has said something.
"""

import gzip
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.test_documents import ROOT, blocks
from tests.support.control_plane import a_local_cluster

from tools.examples import commands_in

# documents, and the tests that run all of their commands
RUN_ELSEWHERE = {
    "docs/cookbook.md": "tests/cli/test_cookbook.py",
    "docs/evaluating.md": "tests/cli/test_cookbook.py",
    "docs/truth.md": "tests/cli/test_cookbook.py",
    "docs/tutorial.md": "tests/cli/test_cookbook.py",
    "docs/plugins.md": "tests/cli/test_documents.py",
    "docs/migrating.md": "tests/shadow/test_migrating.py",
    "docs/testing.md": "tests/testing/test_cluster_process.py",
}
# single commands that are not run as they are, and why
NOT_RUN = {
    "kubesched explain pod shop/web-0 --scheduler https://10.0.0.7:10259": "tests/asking have a scheduler of their own",
    "kubesched bench --label performance": "an hour; tests/bench/test_bench_docs.py reads its options",
    "kubesched bench performance-config.yaml --label performance": "as above",
    "kubesched bench SchedulingBasic/5000Nodes_10000Pods": "minutes; as above",
    "kubesched bench SchedulingBasic/500Nodes --on cluster": "needs kube-scheduler; tests/bench run ours",
    "kubesched up --replay nodes.yaml --replay trace.sktrace": "SimKube: tests/simulate/traces/test_foreign.py",
    "kubesched config show examples/plugins/custom-scores.yaml": "once the package is installed",
    "kubectl ": "kubectl gets a ConfigMap of an old cluster; tests/cli/test_config_migrate.py",
    "kubesched plugins rights --config config.yaml -o manifest": "tests/cli/test_plugin_rights.py applies it",
}
# how long a command may take, and how long one that stays may be silent
SECONDS, QUIET_SECONDS = 180.0, 60.0

PERFORMANCE = ROOT / "src/kubesched/bench/workloads/basic.yaml"
CLUSTER = """\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: worker-7, labels: {zone: a, topology.kubernetes.io/zone: a}},
   status: {allocatable: {cpu: "8", memory: 16Gi, pods: "110"}}}
- {apiVersion: v1, kind: Node, metadata: {name: worker-8, labels: {zone: b, topology.kubernetes.io/zone: b}},
   status: {allocatable: {cpu: "8", memory: 16Gi, pods: "110"}}}
"""
APPLICATION = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: my-app}
spec:
  replicas: 3
  selector: {matchLabels: {app: my-app}}
  template:
    metadata: {labels: {app: my-app}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 500m, memory: 256Mi}}}]}
"""
CONFIGURATION = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
POLICY = '{"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "PodFitsResources"}]}'


def documents() -> list[Path]:
    """Return the documents whose commands are run here; contrib/tests run the examples of docs/contrib."""
    found = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("examples/*/README.md"))]
    return [path for path in found if str(path.relative_to(ROOT)) not in RUN_ELSEWHERE]


def shown() -> list[str]:
    """Return the command lines that call kubesched, each once."""
    found = (
        command.line.replace("…", "")
        for path in documents()
        for block in blocks(path, "console")
        if block.startswith("$ ")
        for command in commands_in(block)
    )
    return list(dict.fromkeys(line for line in found if re.search(r"(^|[|&] )kubesched ", line)))


LINES = [line for line in shown() if not line.startswith(tuple(NOT_RUN))]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A cluster, and folders of its own for what is kept between commands."""
    state, home = tmp_path_factory.mktemp("state"), tmp_path_factory.mktemp("home")
    own = {"XDG_STATE_HOME": str(state), "HOME": str(home), "COLUMNS": "100", "BROWSER": "true"}
    (home / "cluster.yaml").write_text(CLUSTER)
    (home / "app.yaml").write_text(APPLICATION)
    with a_local_cluster("--name", "documents", str(home / "cluster.yaml"), str(home / "app.yaml"), **own) as cluster:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        found = {**os.environ, **own, "PATH": path, "KUBECONFIG": str(cluster.kubeconfig)}
        yield found
        # a cluster that was started in the background
        subprocess.run(["kubesched", "up", "down", "default"], env=found, capture_output=True, check=False)


@pytest.fixture
def folder(tmp_path: Path, environment: dict[str, str]) -> Path:
    """A folder with the files that commands name."""
    for name in ("examples", "contrib"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "contrib" / "crds", tmp_path / "crds")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_one.py").write_text(
        "import os\n\n\ndef test_one():\n    assert os.environ['KUBECONFIG']\n"
    )
    for name, text in {
        "cluster.yaml": CLUSTER,
        "nodes.yaml": CLUSTER,
        "my-app.yaml": APPLICATION,
        "more-pods.yaml": APPLICATION,
        "policy.json": POLICY,
        **dict.fromkeys(("my-scheduler.yaml", "new.yaml", "scheduler.yaml", "config.yaml"), CONFIGURATION),
    }.items():
        (tmp_path / name).write_text(text)
    shutil.copy(environment["KUBECONFIG"], tmp_path / "prod.yaml")
    shutil.copy(ROOT / "tests/simulate/traces/data/alibaba-2018-batch.csv", tmp_path / "batch_task.csv")
    shutil.copy(PERFORMANCE, tmp_path / "performance-config.yaml")
    shutil.copytree(PERFORMANCE.parent / "templates", tmp_path / "templates")
    shutil.copy(ROOT / "examples/plugins/custom-scores.yaml", tmp_path)
    for name in ("monday.jsonl.gz", "pods.jsonl.gz"):
        (tmp_path / name).write_bytes(gzip.compress((ROOT / "examples/simulate/small.jsonl").read_bytes(), mtime=0))
    for document in ("README.md", "docs/running.md"):
        for block in blocks(ROOT / document, "yaml") + blocks(ROOT / document, "python"):
            if block.startswith("# "):
                text = block.replace("/home/me/.kube/config", environment["KUBECONFIG"])
                (tmp_path / block.partition("\n")[0].removeprefix("# ")).write_text(text)
    return tmp_path


def stays(line: str) -> bool:
    """Return whether a command goes on until it is ended."""
    words = line.split()
    if words[1] == "up":
        return not {"--once", "--detach", "--", "status", "down"} & set(words)
    return words[1] in ("page", "run", "shadow", "record")


def started(line: str, folder: Path, environment: dict[str, str]) -> "subprocess.Popen[str]":
    # the shape of simulations is tested, not their length
    short = " --until 1m" if line.startswith("kubesched simulate ") and "--until" not in line else ""
    return subprocess.Popen(
        ["sh", "-c", f"exec {line}{short}" if line.startswith("kubesched ") else line],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(process: "subprocess.Popen[str]") -> str:
    """End a process with Ctrl-C when it has said something; return what it said."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], QUIET_SECONDS)
    first = process.stdout.readline() if ready else ""
    deadline = time.monotonic() + QUIET_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        process.send_signal(signal.SIGINT)
        try:
            return first + process.communicate(timeout=5.0)[0]
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    return first + process.communicate()[0]


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_a_command_works_as_it_is_written(line: str, folder: Path, environment: dict[str, str]) -> None:
    prepare(line, folder, environment)
    with started(line, folder, environment) as process:
        if stays(line):
            output = ended(process)
            assert output.strip(), "it says nothing"
            assert process.returncode in (0, 1, 3), output
        else:
            output = whole_output(process)
            # 3: something is left that fits nowhere, which is an answer
            assert process.returncode in (0, 3), output
    assert "Traceback" not in output
    assert "Error:" not in output


def whole_output(process: "subprocess.Popen[str]") -> str:
    try:
        return process.communicate(timeout=SECONDS)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def prepare(line: str, folder: Path, environment: dict[str, str]) -> None:
    """Run what a command follows on."""
    before = ""
    if " record " in line:
        (folder / "monday.jsonl.gz").unlink()
    if "--resume" in line:
        before = "kubesched record monday.jsonl.gz --for 1s"
    if "cluster.snapshot.gz pods.jsonl.gz" in line:
        before = "kubesched snapshot -o cluster.snapshot.gz"
    if line.startswith("kubesched sweep show"):
        before = "kubesched sweep examples/simulate/sweep.yaml --results sizes"
    if "tuned/best.yaml" in line:
        (folder / "tuned").mkdir()
        (folder / "tuned" / "best.yaml").write_text(CONFIGURATION)
    if line == "kubesched up down dev":
        before = "kubesched up --name dev --detach --nodes 3"
    if before:
        with started(before, folder, environment) as process:
            output = whole_output(process)
        assert process.returncode == 0, output


def test_what_is_run_elsewhere_exists() -> None:
    for document, tests in RUN_ELSEWHERE.items():
        assert (ROOT / document).exists()
        assert (ROOT / tests).exists()
    assert [begin for begin in NOT_RUN if not any(line.startswith(begin) for line in shown())] == []
    assert len(LINES) > 40

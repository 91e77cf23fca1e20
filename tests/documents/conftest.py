"""A cluster, and a folder with files of the names that the commands of documents use."""

import gzip
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.documents.test_documents import ROOT, blocks
from tests.support.control_plane import a_local_cluster
from tests.support.terminal import PROGRAMS

PERFORMANCE = ROOT / "packages/lab/src/kubesched_lab/bench/workloads/basic.yaml"
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


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A cluster, and folders of its own for what is kept between commands."""
    state, home = tmp_path_factory.mktemp("state"), tmp_path_factory.mktemp("home")
    own = {"XDG_STATE_HOME": str(state), "HOME": str(home), "COLUMNS": "100", "BROWSER": "true"}
    (home / "cluster.yaml").write_text(CLUSTER)
    (home / "app.yaml").write_text(APPLICATION)
    with a_local_cluster("--name", "documents", str(home / "cluster.yaml"), str(home / "app.yaml"), **own) as cluster:
        found = {**os.environ, **own, "PATH": PROGRAMS, "KUBECONFIG": str(cluster.kubeconfig)}
        yield found
        # a cluster that was started in the background
        subprocess.run(["kubesched", "up", "down", "default"], env=found, capture_output=True, check=False)


@pytest.fixture
def folder(tmp_path: Path, environment: dict[str, str]) -> Path:
    """A folder with the files that commands name."""
    for name in ("examples", "packages", "deploy"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "packages/contrib/crds", tmp_path / "crds")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_one.py").write_text(
        "import os\n\n\ndef test_one():\n    assert os.environ['KUBECONFIG']\n"
    )
    for name, text in {
        "cluster.yaml": CLUSTER,
        "nodes.yaml": CLUSTER,
        "my-app.yaml": APPLICATION,
        "more-pods.yaml": APPLICATION.replace("my-app", "more"),
        "policy.json": POLICY,
        **dict.fromkeys(("my-scheduler.yaml", "new.yaml", "scheduler.yaml", "config.yaml"), CONFIGURATION),
    }.items():
        (tmp_path / name).write_text(text)
    shutil.copy(environment["KUBECONFIG"], tmp_path / "prod.yaml")
    shutil.copy(ROOT / "packages/lab/tests/simulate/traces/data/alibaba-2018-batch.csv", tmp_path / "batch_task.csv")
    shutil.copy(PERFORMANCE, tmp_path / "performance-config.yaml")
    shutil.copytree(PERFORMANCE.parent / "templates", tmp_path / "templates")
    shutil.copy(ROOT / "examples/plugins/custom-scores.yaml", tmp_path)
    for name in ("monday.jsonl.gz", "pods.jsonl.gz"):
        (tmp_path / name).write_bytes(gzip.compress((ROOT / "examples/simulate/small.jsonl").read_bytes(), mtime=0))
    for document in ("README.md", "docs/guides/operator/running.md"):
        for block in blocks(ROOT / document, "yaml") + blocks(ROOT / document, "python"):
            if block.startswith("# "):
                text = block.replace("/home/me/.kube/config", environment["KUBECONFIG"])
                (tmp_path / block.partition("\n")[0].removeprefix("# ")).write_text(text)
    return tmp_path

"""The runbook docs/guides/operator/migrating.md: each command in order, on a cluster of `kubesched up`."""

import os
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.support.api_client import ApiClient
from tests.support.control_plane import a_local_cluster
from tests.support.kubectl import WHY_MISSING, is_missing
from tests.support.processes import eventually
from tests.support.terminal import PROGRAMS, Terminal

from kubesched.testing import a_pod
from tools.examples import ROOT, sections

RUNBOOK = sections((ROOT / "docs/guides/operator/migrating.md").read_text())
BEFORE = "apiVersion: v1\nkind: Pod\nmetadata: {name: kube-scheduler}\n"
OVERLAY = "resources: [RESOURCE]\nimages: [{name: kubesched, newName: registry.example.com/kubesched, newTag: v1}]\n"
# what is long on a real cluster
SHORTER = {"--duration 1h": "--duration 2s"}


def test_the_runbook_has_all_steps() -> None:
    steps = ["1. Check: doctor", "2. Compare: shadow", "3. Try: some pods", "4. Switch", "5. Watch", "Roll back"]
    assert [section.heading for section in RUNBOOK] == steps
    text = (ROOT / "docs/guides/operator/migrating.md").read_text()
    for command in ("doctor", "shadow", "run", "explain"):
        assert f"$ kubesched {command}" in text


@pytest.mark.slow
@pytest.mark.skipif(is_missing(), reason=WHY_MISSING)
def test_every_command_of_the_runbook_works(tmp_path: Path) -> None:
    manifests, home = tmp_path / "manifests", tmp_path / "home"
    replacement = tmp_path / "replacement"
    for folder in (manifests, home, replacement):
        folder.mkdir()
    (manifests / "kube-scheduler.yaml").write_text(BEFORE)
    shutil.copytree(ROOT / "deploy/kustomize/replacement", replacement / "base")
    (replacement / "kustomization.yaml").write_text(OVERLAY.replace("RESOURCE", "base"))
    with ExitStack() as stack:
        cluster = stack.enter_context(a_local_cluster("--nodes", "2", "--name", "migrating"))
        api = ApiClient(cluster.kubeconfig)
        for name in ("kube-scheduler", "kubesched"):
            api.create(_deployment(name))
        api.create(_lease())
        files = {"KUBECONFIG": str(cluster.kubeconfig), "MANIFESTS": str(manifests), "HOME": str(home)}
        terminal = stack.enter_context(Terminal(tmp_path, {**os.environ, **files, "PATH": PROGRAMS}, SHORTER))
        for section in RUNBOOK:
            terminal.follow(section)
            if section.heading == "4. Switch":
                assert "registry.example.com/kubesched:v1" in (manifests / "kube-scheduler.yaml").read_text()
        assert (manifests / "kube-scheduler.yaml").read_text() == BEFORE
        # the cluster's own scheduler goes on
        api.create(a_pod("after", image="i"))
        eventually(lambda: (api.get("Pod", "after") or {}).get("spec", {}).get("nodeName"), "it is bound")
        assert (tmp_path / "shadow.html").read_text().startswith("<!doctype html>")


def _deployment(name: str) -> dict[str, object]:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "kube-system"},
        "spec": spec,
    }


def _lease() -> dict[str, object]:
    meta = {"name": "kube-scheduler", "namespace": "kube-system"}
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": meta,
        "spec": {"holderIdentity": "a", "leaseDurationSeconds": 15},
    }

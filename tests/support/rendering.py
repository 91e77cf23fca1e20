"""Manifests as Helm and kustomize render them, for tests of `deploy/`.

From values to documents. Helm is a program of the lock where it has a wheel. The part of kustomize that our bases use
is done here, so that they are tested where there is no kubectl; a test compares with `kubectl kustomize`.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from tests.support.programs import path_of

Document = dict[str, Any]

DEPLOY = Path(__file__).parents[2] / "deploy"
CHART = DEPLOY / "charts" / "kubesched"
BASES = DEPLOY / "kustomize"
WHY_NO_HELM = "no helm in the environment or on PATH"
IMAGE = ("--set", "image.repository=registry.example.com/kubesched")
SECONDS = 60.0


def path_of_helm() -> str:
    """Return the path of helm, empty without one."""
    return path_of("helm", WHY_NO_HELM, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")


def run_helm(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run helm with folders of its own."""
    folders = {f"HELM_{name}_HOME": str(home) for name in ("CACHE", "CONFIG", "DATA")}
    return subprocess.run(
        [path_of_helm(), *arguments],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, **folders, "KUBECONFIG": ""},
    )


def chart(*options: str, home: Path, namespace: str = "kube-system", name: str = "kubesched") -> list[Document]:
    """Return what the chart makes of `--set` and other options."""
    found = run_helm("template", name, str(CHART), "--namespace", namespace, *options, home=home)
    assert found.returncode == 0, found.stderr
    return documents(found.stdout)


def documents(text: str) -> list[Document]:
    """Return the objects of a text."""
    return [each for each in yaml.safe_load_all(text) if each]


def kustomize(folder: Path) -> list[Document]:
    """Return the objects of a base: its resources and components, ConfigMaps of files, and patches of operations."""
    content = yaml.safe_load((folder / "kustomization.yaml").read_text())
    known = {"apiVersion", "kind", "resources", "components", "configMapGenerator", "patches"}
    assert content.keys() <= known, f"{folder.name}: {content.keys() - known}"
    found: list[Document] = []
    for name in [*content.get("resources", ()), *content.get("components", ())]:
        path = folder / name
        found += kustomize(path) if path.is_dir() else documents(path.read_text())
    for made in content.get("configMapGenerator", ()):
        meta = {"name": made["name"], "namespace": made["namespace"]}
        data = {file: (folder / file).read_text() for file in made["files"]}
        found.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data})
    for patch in content.get("patches", ()):
        target = patch["target"]
        (patched,) = (
            each for each in found if each["kind"] == target["kind"] and each["metadata"]["name"] == target["name"]
        )
        for operation in yaml.safe_load(patch["patch"]):
            _apply(patched, operation)
    return found


def _apply(document: Document, operation: Document) -> None:
    *parents, last = operation["path"].strip("/").split("/")
    for parent in parents:
        document = document[parent]
    assert operation["op"] in ("add", "replace"), operation
    assert operation["op"] == "add" or last in document, operation
    document[last] = operation["value"]


def of_kind(found: list[Document], kind: str) -> list[Document]:
    """Return the objects of a kind."""
    return [each for each in found if each["kind"] == kind]


def only(found: list[Document], kind: str) -> Document:
    """Return the one object of a kind."""
    (one,) = of_kind(found, kind)
    return one


def collection_of(document: Document) -> str:
    """Return the path that an object is posted to."""
    group = "/api/v1" if document["apiVersion"] == "v1" else f"/apis/{document['apiVersion']}"
    namespace = document["metadata"].get("namespace")
    plural = re.sub(r"y$", "ie", document["kind"].lower())
    plural += "es" if plural.endswith("s") else "s"
    return f"{group}/namespaces/{namespace}/{plural}" if namespace else f"{group}/{plural}"

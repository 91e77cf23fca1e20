"""Documents whose commands follow on each other are run from top to bottom, on clusters, with kubectl, helm and pip.

What a command needs that its document only speaks of (a pod, a folder of a control-plane node) is there before. What a
document says of the outcome is looked at.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml
from packages.contrib.tests.examples import installed
from tests.deploy.test_manifests import MONITORS
from tests.documents.exempt import NOT_RUN
from tests.documents.test_documents import ROOT, blocks
from tests.support.kubectl import WHY_MISSING, Kubectl, is_missing
from tests.support.probes import free_port
from tests.support.processes import eventually
from tests.support.rendering import WHY_NO_HELM, path_of_helm
from tests.support.terminal import Terminal

from tools.examples import DocumentSection, sections

pytestmark = [pytest.mark.slow, pytest.mark.skipif(is_missing(), reason=WHY_MISSING)]

OVERLAY = """\
resources: [../deploy/kustomize/replacement]
images: [{name: kubesched, newName: registry.example.com/kubesched, newTag: v1}]
"""
LEASE = """\
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: kube-scheduler, namespace: kube-system}
spec: {holderIdentity: a, leaseDurationSeconds: 15}
"""
WEB = """\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: shop}}
- {apiVersion: v1, kind: Pod, metadata: {name: web-0, namespace: shop}, spec: {containers: [{name: c, image: i}]}}
"""
TRIAL = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {{kubeconfig: {}}}
leaderElection: {{leaderElect: false}}
profiles: [{{schedulerName: pages}}]
"""
# a program that need not be here: whether its tests would find the cluster
GO = '#!/bin/sh\n[ "$1" = test ] && [ -s "$KUBECONFIG" ]\n'

Environment = dict[str, str]


def of(name: str) -> list[DocumentSection]:
    """Return the sections of a document."""
    return sections((ROOT / name).read_text())


def section_of(name: str, command: str) -> DocumentSection:
    """Return the section of a document that has a command."""
    (found,) = (each for each in of(name) if any(command in shown.line for shown in each.commands))
    return found


def kubectl(environment: Environment) -> Kubectl:
    return Kubectl(Path(environment["KUBECONFIG"]), Path(environment["HOME"]))


def programs_in(folder: Path, environment: Environment, **programs: str) -> Environment:
    """Write programs to a folder of their own; return an environment that finds them first."""
    (folder / "bin").mkdir(exist_ok=True)
    for name, text in programs.items():
        (folder / "bin" / name).write_text(text)
        (folder / "bin" / name).chmod(0o755)
    return {**environment, "PATH": f"{folder / 'bin'}{os.pathsep}{environment['PATH']}"}


# -- clusters on a laptop


def test_a_cluster_on_a_laptop(folder: Path, environment: Environment) -> None:
    for section in of("docs/guides/clusters/up.md"):
        with Terminal(folder, environment) as terminal:
            terminal.follow(section, NOT_RUN)


def test_the_quickstart(folder: Path, environment: Environment) -> None:
    (section,) = of("examples/quickstart/README.md")
    with Terminal(folder, environment) as terminal:

        def waiting(app: str) -> int:
            pods = terminal.run(f"kubectl get pods -l app={app} -o custom-columns=NODE:.spec.nodeName --no-headers")
            return pods.split().count("<none>")

        for command in section.commands:
            terminal.run(command.line)
            if command.line.startswith("kubectl describe pod giant"):
                eventually(lambda: waiting("web") + waiting("cache") == 0, "web servers and caches have nodes")
            if command.line == "kubectl scale deployment cache --replicas=7":
                eventually(lambda: terminal.run("kubectl get pods -l app=cache -o name").count("pod/") == 7, "7 caches")
                eventually(lambda: waiting("cache") == 1, "one cache has to wait")
        giant = "kubectl get pod giant -o jsonpath={.spec.nodeName}"
        eventually(lambda: terminal.run(giant) == "node-huge", "giant is on the node that is big enough")


def test_gangs_get_room(folder: Path, environment: Environment) -> None:
    with installed() as path, Terminal(folder, {**environment, "PYTHONPATH": path}) as terminal:
        terminal.follow(section_of("docs/guides/plugins/contrib/gang-defragmentation.md", "kubectl apply"))
        running = "kubectl get pods -o jsonpath='{.items[?(@.status.phase==\"Running\")].metadata.name}'"
        eventually(lambda: terminal.run(running).count("train") == 2, "the gang runs")


# -- documents of which other tests run the rest


def test_questions_to_a_live_cluster(folder: Path, environment: Environment) -> None:
    config = yaml.safe_load(Path(environment["KUBECONFIG"]).read_text())
    config["contexts"].append({**config["contexts"][0], "name": "production"})
    (folder / "kubeconfig").write_text(yaml.safe_dump(config))
    (folder / "deployment.yaml").write_text((folder / "my-app.yaml").read_text())
    kubectl(environment)("apply", "-f", "-", text=WEB)
    with Terminal(folder, {**environment, "KUBECONFIG": str(folder / "kubeconfig")}) as terminal:
        terminal.follow(section_of("docs/guides/questions/cookbook.md", "--context production"), NOT_RUN)


def test_the_parts_of_the_tutorial_that_stay_or_need_a_cluster(folder: Path, environment: Environment) -> None:
    steps = of("docs/get-started/tutorial.md")
    with Terminal(folder, environment) as terminal:
        for step in steps:
            terminal.write_files(step)
        printed = [terminal.follow(step, NOT_RUN) for step in steps if not step.is_run]
    (hello,) = (line for line in printed[-1].splitlines() if line.startswith("hello "))
    assert "node-b" in hello


def test_a_first_plugin_in_a_file_and_on_a_cluster(folder: Path, environment: Environment) -> None:
    shutil.copy(environment["KUBECONFIG"], folder / "cluster.kubeconfig")
    with Terminal(folder, environment) as terminal:
        printed = "".join(terminal.follow(section) for section in of("docs/guides/plugins/first-plugin.md"))
        nodes = [line for line in printed.splitlines() if line.startswith("default ") and "web-" in line]
        assert len(nodes) == 12
        assert all("node-2" in line or "node-4" in line for line in nodes), "as the page says"
        for section in of("docs/guides/plugins/testing-plugins.md"):
            terminal.follow(section)


# -- packages


@pytest.fixture(scope="module")
def pip(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Variables of an environment of its own, in which pip finds what is installed here, and asks no index."""
    venv = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True, timeout=120)
    (packages,) = venv.glob("lib/python*/site-packages")
    (packages / "here.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    for name in ("pytest", "kubesched"):
        program = venv / "bin" / name
        program.write_text(f'#!/bin/sh\nexec {venv}/bin/python -m {name} "$@"\n')
        program.chmod(0o755)
    return {
        "PATH": f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}",
        # 0: no isolation, which would fetch what builds the package
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


def test_a_package_in_a_minute(tmp_path: Path, pip: Environment) -> None:
    with Terminal(tmp_path, {**os.environ, **pip}) as terminal:
        terminal.follow(section_of("docs/guides/plugins/packaging.md", "pip install"))
        assert "QuietNodes" in terminal.run("kubesched plugins list -o json"), "it is found without an option"


def test_the_examples_of_plugins(tmp_path: Path, pip: Environment) -> None:
    name = "examples/plugins/README.md"
    shutil.copytree(ROOT / "examples/plugins", tmp_path / "examples/plugins")
    with Terminal(tmp_path, {**os.environ, **pip}) as terminal:
        for section in of(name):
            terminal.follow(section)
        (text,) = blocks(ROOT / name, "python")
        (tmp_path / "examples/plugins/shown.py").write_text(text)
        terminal.run("cd examples/plugins && python shown.py")


# -- tests of others


def test_tests_against_a_cluster(tmp_path: Path, environment: Environment) -> None:
    shutil.copytree(ROOT / "packages/contrib/crds", tmp_path / "crds")
    with Terminal(tmp_path, programs_in(tmp_path, environment, go=GO)) as terminal:
        for section in of("docs/guides/clusters/testing.md"):
            terminal.follow(section)
        (container,) = map(json.loads, blocks(ROOT / "docs/guides/clusters/testing.md", "json"))
        assert container["postCreateCommand"] == "pip install kubesched"
        terminal.run(container["postStartCommand"])
        config = Path(environment["HOME"]) / ".kube" / "config"
        assert len(Kubectl(config, tmp_path)("get", "nodes", "-o", "name").split()) == 3


# -- deploying


@pytest.mark.skipif(not path_of_helm(), reason=WHY_NO_HELM)
def test_deploying(tmp_path: Path, environment: Environment) -> None:
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
    shutil.copy(ROOT / "packages/contrib/examples/coscheduling/config.yaml", tmp_path)
    ours = kubectl(environment)
    ours("apply", "-f", "-", text=f"{LEASE}---\n{yaml.safe_dump(MONITORS)}")
    ours("wait", "--for=condition=Established", "crd/podmonitors.monitoring.coreos.com", "--timeout=60s")
    instead = {"github.com/kubesched/kubesched/": ""}
    with installed() as path, Terminal(tmp_path, {**environment, "PYTHONPATH": path}, instead) as terminal:
        for section in of("docs/guides/operator/deploying.md"):
            if section.heading == "Replace kube-scheduler":
                (tmp_path / "replacement").mkdir()
                (tmp_path / "replacement" / "kustomization.yaml").write_text(OVERLAY)
            terminal.follow(section, NOT_RUN)
    assert "registry.example.com/kubesched:v1" in (tmp_path / "kube-scheduler.yaml").read_text()
    ours("get", "podmonitor", "-n", "kube-system", "kubesched")
    assert "registry.example.com/kubesched:0.1.0" in ours("get", "deployment", "-n", "kube-system", "-o", "yaml")


def test_the_pages_of_a_scheduler(tmp_path: Path, environment: Environment) -> None:
    guide = "docs/guides/operator/running.md"
    port = free_port()
    kubectl(environment)("apply", "-f", "-", text=WEB)
    with Terminal(tmp_path, environment, {"127.0.0.1:10259": f"127.0.0.1:{port}"}) as terminal:
        lookups = "--authentication-kubeconfig=$KUBECONFIG --authorization-kubeconfig=$KUBECONFIG"
        (tmp_path / "config.yaml").write_text(TRIAL.format(environment["KUBECONFIG"]))
        terminal.run(
            f"kubesched run --config config.yaml --secure-port={port} {lookups} --decision-record-memory=1Mi -v 2"
        )
        (account,) = (each for each in of(guide) if each.heading == "Observe it")
        *before, page = (each.line for each in account.commands if "port-forward" not in each.line)
        for line in before:
            terminal.run(line)
        eventually(lambda: '"counts"' in terminal.run(page), "the queue is shown")
        terminal.follow(section_of(guide, "--scheduler-token-file"))

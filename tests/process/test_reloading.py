"""`kubesched run --reload`: a hundred changes of its configuration while pods are created, and none is lost."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
import yaml
from tests.support.api_client import document_of
from tests.support.clusters import ClusterState, a_cluster_process, all_bound, bound, replace
from tests.support.control_plane import a_local_cluster
from tests.support.extender_service import Service, configuration, serving
from tests.support.probes import fetch, free_port
from tests.support.processes import SchedulerProcess, a_scheduler, eventually

from kubesched.testing import a_node, a_pod

pytestmark = pytest.mark.slow

Document = dict[str, Any]
CHANGES = 100
NAMES = ("default-scheduler", "batch", "night")
# what is wrong with a file, and words of the reason
BAD = {
    "profiles: [": "--config",
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: Nothing\n": "Nothing",
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 0\n": "parallelism",
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- plugins:\n"
    "    filter: {enabled: [{name: Missing}]}\n": "Missing",
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nextenders:\n"
    "- {urlPrefix: 'https://127.0.0.1:1', filterVerb: f, weight: 1, enableHTTPS: true, "
    "tlsConfig: {caFile: /nowhere/ca.crt}}\n": "TLS settings",
}
SAID = ("Configuration reloaded", "Configuration refused", "Configuration unchanged")


class Mount:
    """A folder as the kubelet mounts a ConfigMap: the file is a link through `..data`, which is swapped."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        folder.mkdir()
        self.file = folder / "scheduler.yaml"
        self.file.symlink_to("..data/scheduler.yaml")

    def swap(self, content: str) -> None:
        """Show other contents, in one step."""
        self._count += 1
        version = self._folder / f"..{self._count}"
        version.mkdir()
        (version / "scheduler.yaml").write_text(content)
        draft = self._folder / "..data_tmp"
        draft.symlink_to(version.name)
        os.replace(draft, self._folder / "..data")


def a_config(kubeconfig: Path, random: Random, names: tuple[str, ...] = NAMES) -> Document:
    """Return a configuration that differs from others in weights, plugins, profiles and backoff."""

    def profile(name: str) -> Document:
        weights = [{"name": each, "weight": random.randint(1, 9)} for each in ("NodeResourcesFit", "ImageLocality")]
        without = random.choice(("ImageLocality", "NodeVolumeLimits", "VolumeZone"))
        score = {"enabled": [each for each in weights if each["name"] != without]}
        strategy = {"type": random.choice(("LeastAllocated", "MostAllocated"))}
        args = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "NodeResourcesFitArgs",
            "scoringStrategy": {**strategy, "resources": [{"name": "cpu", "weight": random.randint(1, 9)}]},
        }
        return {
            "schedulerName": name,
            "plugins": {"multiPoint": {"disabled": [{"name": without}]}, "score": score},
            "pluginConfig": [{"name": "NodeResourcesFit", "args": args}],
        }

    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig)},
        "podMaxBackoffSeconds": random.randint(1, 3),
        "percentageOfNodesToScore": random.choice((0, 50, 100)),
        "profiles": [profile(name) for name in names],
    }


@contextmanager
def reloading(cluster: ClusterState, file: Path, *flags: str) -> Iterator[SchedulerProcess]:
    flags = ("--config", str(file), "--reload", "--leader-elect=false", *flags)
    with a_scheduler(cluster.folder, *flags, secrets=cluster.secrets) as scheduler:
        yield scheduler


def said(scheduler: SchedulerProcess, after: int = 0) -> list[str]:
    """Return the lines about reloads, after so many others."""
    return [line for line in scheduler.log.splitlines() if any(words in line for words in SAID)][after:]


def test_a_hundred_changes_under_load_lose_no_pod_and_bind_none_twice(tmp_path: Path) -> None:
    random = Random(18)
    nodes = [a_node(f"n{number}", cpu="32") for number in range(8)]
    with a_cluster_process(tmp_path, nodes) as cluster:
        mount = Mount(tmp_path / "mount")
        mount.swap(yaml.safe_dump(a_config(cluster.kubeconfig, random)))
        with reloading(cluster, mount.file, "--secure-port=0") as scheduler:
            cluster.api.create(a_pod("first", cpu="100m"))
            bound(cluster.api, "first")
            for number in range(1, CHANGES + 1):
                for each in range(2):
                    cluster.api.create(a_pod(f"p{number}-{each}", cpu="500m", scheduler=random.choice(NAMES)))
                bad = random.random() < 0.25
                names = tuple(random.sample(NAMES, random.randint(1, 3)))
                good = yaml.safe_dump(a_config(cluster.kubeconfig, random, names))
                content = random.choice(list(BAD)) if bad else good
                if number == CHANGES:
                    bad, content = False, yaml.safe_dump(a_config(cluster.kubeconfig, random))
                before = len(said(scheduler))
                mount.swap(content)
                if number % 10:
                    scheduler.process.send_signal(signal.SIGHUP)
                (line,) = eventually(partial(said, scheduler, before), f"change {number} is told of")
                assert ("refused" if bad else "reloaded") in line, line
                assert not bad or BAD[content] in line, line
            all_bound(cluster.api, 2 * CHANGES + 1)


def test_the_pages_tell_what_is_in_force_and_since_when(tmp_path: Path) -> None:
    random = Random(1)
    port = free_port()
    with a_cluster_process(tmp_path, [a_node("n")]) as cluster:
        token = yaml.safe_load((tmp_path / "admin.kubeconfig").read_text())["users"][0]["user"]["token"]
        file = tmp_path / "scheduler.yaml"
        first = a_config(cluster.kubeconfig, random)
        file.write_text(yaml.safe_dump(first))
        flags = [f"--{name}-kubeconfig={cluster.kubeconfig}" for name in ("authentication", "authorization")]
        with reloading(cluster, file, f"--secure-port={port}", "--bind-address=127.0.0.1", *flags) as scheduler:

            def shown() -> Document:
                code, text = fetch(port, "/configz", token)
                assert code == 200, text
                found: Document = json.loads(text)
                return found

            scheduler.says("Serving securely")
            assert shown()["reload"]["generation"] == 1
            changed = a_config(cluster.kubeconfig, random, ("default-scheduler",)) | {"parallelism": 3}
            changed["clientConnection"]["qps"] = 7
            file.write_text(yaml.safe_dump(changed))
            line = scheduler.says("Configuration reloaded")
            assert 'generation=2 needsRestart="clientConnection.qps,parallelism"' in line
            config, reload = shown()["componentconfig"], shown()["reload"]
            assert [profile["schedulerName"] for profile in config["profiles"]] == ["default-scheduler"]
            assert (config["parallelism"], config["clientConnection"]["qps"]) == (16, 50)
            assert (reload["generation"], reload["lastReload"]["result"]) == (2, "applied")
            file.write_text("profiles: [")
            scheduler.says("Configuration refused")
            refused = shown()
            assert refused["componentconfig"] == config
            assert refused["reload"]["inForceSince"] == reload["inForceSince"]
            assert "--config" in refused["reload"]["lastReload"]["message"]
            metrics = fetch(port, "/metrics", token)[1]
            for sample in ('reloads_total{result="applied"} 1', 'reloads_total{result="refused"} 1', "generation 2"):
                assert f"kubesched_config_{sample}\n" in metrics
            assert "kubesched_config_last_reload_successful 0\n" in metrics


def test_a_named_pipe_in_the_place_of_the_file_is_refused_and_a_later_file_is_taken(tmp_path: Path) -> None:
    random, file = Random(2), tmp_path / "scheduler.yaml"
    with a_cluster_process(tmp_path, [a_node("n")]) as cluster:
        replace(file, yaml.safe_dump(a_config(cluster.kubeconfig, random)))
        with reloading(cluster, file, "--secure-port=0") as scheduler:
            cluster.api.create(a_pod("first"))
            bound(cluster.api, "first")
            pipe = tmp_path / "pipe"
            os.mkfifo(pipe)
            os.replace(pipe, file)
            assert "is a named pipe, which cannot be read again" in scheduler.says("Configuration refused")
            replace(file, yaml.safe_dump(a_config(cluster.kubeconfig, random)))
            scheduler.says("Configuration reloaded")


def test_an_extender_comes_with_a_reload_and_goes_with_another(tmp_path: Path) -> None:
    service = Service(
        {"filter": lambda body: {"NodeNames": ["n2"]}, "prioritize": lambda body: [{"Host": "n2", "Score": 10}]}
    )
    with serving(service), a_cluster_process(tmp_path, [a_node("n1", cpu="32"), a_node("n2")]) as cluster:
        file = tmp_path / "scheduler.yaml"
        plain = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(cluster.kubeconfig)},
        }
        extended = plain | json.loads(configuration(service, {"httpTimeout": "10s"}))
        secure = {"urlPrefix": f"https://127.0.0.1:{service.port}", "enableHTTPS": True}
        broken = plain | json.loads(configuration(service, secure | {"tlsConfig": {"caFile": "/nowhere/ca.crt"}}))
        file.write_text(yaml.safe_dump(plain))
        with reloading(cluster, file, "--secure-port=0") as scheduler:

            def takes(config: Document, words: str) -> str:
                before = len(said(scheduler))
                replace(file, yaml.safe_dump(config))
                (line,) = eventually(partial(said, scheduler, before), words)
                assert words in line, line
                return line

            def placed(name: str) -> tuple[str, list[str]]:
                service.asked.clear()
                cluster.api.create(a_pod(name, cpu="100m"))
                return bound(cluster.api, name), service.verbs

            assert placed("before") == ("n1", [])
            takes(extended, "Configuration reloaded")
            assert placed("with") == ("n2", ["filter"])
            assert service.asked[0][1]["NodeNames"] == ["n1", "n2"]
            # a CA that cannot be read: the last good one stays in force, with its extender
            assert "TLS settings cannot be used" in takes(broken, "Configuration refused")
            assert placed("still") == ("n2", ["filter"])
            takes(plain, "Configuration reloaded")
            assert placed("after") == ("n1", [])


def test_up_takes_changes_of_its_configuration(tmp_path: Path) -> None:
    file, pod = tmp_path / "scheduler.yaml", tmp_path / "pod.yaml"
    head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    file.write_text(head)
    pod.write_bytes(msgspec.json.encode(document_of(a_pod("p", scheduler="night"))))
    flags = ("--nodes", "1", "--reload", "--config", str(file), "--name", f"reload-{os.getpid()}", str(pod))
    with a_local_cluster(*flags) as cluster:

        def node() -> str:
            return str(cluster.ask("GET", "/api/v1/namespaces/default/pods/p")["spec"].get("nodeName", ""))

        assert node() == ""
        replace(file, head + "profiles: [{schedulerName: night}]\n")
        assert eventually(node, "the pod of the new profile is bound")

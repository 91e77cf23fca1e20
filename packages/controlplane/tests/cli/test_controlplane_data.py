"""`kubesched controlplane --data DIR`: started again it is the same for the same clients, or a line says why not."""

import asyncio
import resource
import signal
import ssl
import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from click.testing import CliRunner, Result
from tests.support.control_plane import Process, a_control_plane

from kubesched.cli import main
from kubesched_controlplane.data_folder import opened
from kubesched_controlplane.storage import journal

MAPS = "/api/v1/namespaces/default/configmaps"
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-file}\ndata: {text: first}\n"


def asked(config: str, method: str, path: str, document: Any = None) -> tuple[int, Any]:
    """Return code and document of an answer, asked for with the text of a kubeconfig."""
    content = yaml.safe_load(config)
    cluster, user = content["clusters"][0]["cluster"], content["users"][0]["user"]
    authority = cluster.get("certificate-authority-data")
    trusting = ssl.create_default_context(cadata=b64decode(authority).decode()) if authority else True

    async def ask() -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {user['token']}"}
        async with (
            aiohttp.ClientSession(cluster["server"], headers=headers) as session,
            session.request(method, path, json=document, ssl=trusting) as response,
        ):
            return response.status, await response.json()

    return asyncio.run(ask())


def refused(folder: Path, *arguments: str) -> Result:
    """Return what a command line that cannot work says."""
    return CliRunner().invoke(main, ["controlplane", "--no-tls", "--data", str(folder), *arguments])


def test_started_again_it_is_the_same_for_the_same_clients(tmp_path: Path) -> None:
    folder, copy = tmp_path / "data", tmp_path / "copy"
    with a_control_plane("--data", str(folder), "--kubeconfig", str(copy)) as process:
        assert process.kubeconfig == copy
        config, scheduler = copy.read_text(), (folder / "scheduler-kubeconfig").read_text()
        assert (folder / "kubeconfig").read_text() == config
        created = asked(config, "POST", MAPS, {"metadata": {"name": "m"}})[1]
        process.process.kill()
        assert process.process.wait() == -signal.SIGKILL
    with a_control_plane("--data", str(folder)) as process:
        assert process.kubeconfig == folder / "kubeconfig"
        assert process.kubeconfig.read_text() == config, "address, authority and token are what they were"
        assert asked(config, "GET", f"{MAPS}/m") == (200, created)
        assert asked(scheduler, "GET", "/api/v1/pods")[0] == 200
        assert asked(scheduler, "GET", "/api/v1/secrets")[0] == 403
        assert process.end()[::2] == (0, "")
    assert sorted(file.name for file in folder.iterdir()) == [
        "authority.pem",
        "kubeconfig",
        "scheduler-kubeconfig",
        "state.db",
    ]


def test_objects_that_are_there_stay_and_those_that_are_missing_are_loaded(tmp_path: Path) -> None:
    folder, file = tmp_path / "data", tmp_path / "maps.yaml"
    other = MAP.replace("from-file", "other")
    file.write_text(f"{MAP}---\n{other}")
    arguments = ("--no-tls", "--data", str(folder), str(file))
    with a_control_plane(*arguments) as process:
        assert "objects loaded: 2." in process.lines[0]
        config = process.kubeconfig.read_text()
        change = {"metadata": {"name": "from-file"}, "data": {"text": "second"}}
        asked(config, "PUT", f"{MAPS}/from-file", change)
        asked(config, "DELETE", f"{MAPS}/other")
        assert process.end()[::2] == (0, "")
    with a_control_plane(*arguments) as process:
        assert "objects loaded: 1." in process.lines[0]
        assert asked(config, "GET", f"{MAPS}/from-file")[1]["data"] == {"text": "second"}
        assert asked(config, "GET", f"{MAPS}/other")[0] == 200
        assert process.end()[::2] == (0, "1 object was there already and stays unchanged.\n")


def test_a_start_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    folder, file = tmp_path / "data", tmp_path / "maps.yaml"
    file.write_text(f"{MAP}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: UPPER}}\n")
    result = refused(folder, str(file))
    assert (result.exit_code, "1 object could be loaded, 1 problem" in result.stderr) == (1, True)
    with opened(folder, 10) as kept:
        assert kept.store.version == 1


def test_a_folder_has_one_server_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "PATIENCE", 0.0)
    with opened(tmp_path, 10):
        result = refused(tmp_path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"{tmp_path}/state.db: is in use by another process\n"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("state.db", b"this is no database" * 100, "is damaged: file is not a database"),
        ("kubeconfig", b"users: []", "there is no token in it; remove it for a new one"),
    ],
)
def test_a_folder_that_cannot_be_used_is_said_in_a_line(name: str, content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    result = refused(tmp_path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"{tmp_path / name}: {words}\n"


def test_a_kubeconfig_does_not_replace_that_of_another(tmp_path: Path) -> None:
    result = refused(tmp_path, "--scheduler-kubeconfig", str(tmp_path / "kubeconfig"))
    assert (result.exit_code, "is already used for another kubeconfig" in result.stderr) == (2, True)


# -- no room


def limit(process: Process, size: int) -> None:
    """Let no file of a process grow beyond a size."""
    resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of other processes are Linux'")
def test_without_room_writes_are_refused_and_reads_are_not(tmp_path: Path) -> None:
    with a_control_plane("--no-tls", "--no-simulate", "--data", str(tmp_path)) as process:
        config = process.kubeconfig.read_text()
        small, large = (
            {"metadata": {"name": name}, "data": {"x": "y" * size}} for name, size in (("s", 9), ("l", 9**6))
        )
        limit(process, (tmp_path / "state.db-wal").stat().st_size + 2**16)
        code, status = asked(config, "POST", MAPS, large)
        assert (code, status["reason"]) == (500, "InternalError")
        assert status["message"].startswith("Internal error occurred: the change could not be kept: ")
        assert asked(config, "GET", f"{MAPS}/l")[0] == 404
        assert asked(config, "POST", MAPS, small)[0] == 201
        limit(process, resource.RLIM_INFINITY)
        assert asked(config, "POST", MAPS, large)[0] == 201
        process.process.kill()
    with a_control_plane("--no-tls", "--data", str(tmp_path)):
        assert [asked(config, "GET", f"{MAPS}/{name}")[0] for name in "sl"] == [200, 200]


def test_without_room_it_does_not_start(tmp_path: Path) -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000));"
        "from kubesched.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "controlplane", "--data", str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (found.returncode, found.stdout, found.stderr.count("\n")) == (1, "", 1), found.stderr
    assert found.stderr.startswith(f"{tmp_path}/state.db: ")

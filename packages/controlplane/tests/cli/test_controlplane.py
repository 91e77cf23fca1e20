"""`kubesched controlplane`: a process that serves, says how to reach it, keeps its token to itself, and ends well."""

import asyncio
import signal
import socket
import ssl
import stat
import time
from base64 import b64decode
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from click.testing import CliRunner, Result
from tests.support.control_plane import a_control_plane

from kubesched.cli import main
from kubesched.errors import KubeconfigError
from kubesched_controlplane.transport.kubeconfig import MARK, kubeconfig, new_token, write_kubeconfig

NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"


def refused(*arguments: str) -> Result:
    """Return what a command line that cannot work says."""
    return CliRunner().invoke(main, ["controlplane", *arguments])


def asked(config: Path, path: str, **headers: str) -> tuple[int, Any]:
    """Return code and document of an answer, asked for with a kubeconfig."""
    content = yaml.safe_load(config.read_text())
    cluster, user = content["clusters"][0]["cluster"], content["users"][0]["user"]
    authority = cluster.get("certificate-authority-data")
    trusting = ssl.create_default_context(cadata=b64decode(authority).decode()) if authority else None

    async def ask() -> tuple[int, Any]:
        with_token = {"Authorization": f"Bearer {user['token']}", **headers}
        async with (
            aiohttp.ClientSession(cluster["server"], headers=with_token) as session,
            session.get(path, ssl=trusting or True) as response,
        ):
            return response.status, await response.json()

    return asyncio.run(ask())


@pytest.mark.parametrize("tls", ["--tls", "--no-tls"])
def test_it_serves_what_it_loaded_to_who_has_the_kubeconfig_and_ends_with_zero(tls: str, tmp_path: Path) -> None:
    (tmp_path / "nodes.yaml").write_text(NODE)
    config = tmp_path / "new" / "config"
    with a_control_plane(tls, "--kubeconfig", str(config), str(tmp_path / "nodes.yaml")) as process:
        assert "objects loaded: 1" in process.lines[0]
        assert process.url.startswith("https://127.0.0.1:" if tls == "--tls" else "http://127.0.0.1:")
        assert process.lines[1] == f"export KUBECONFIG={config}"
        assert stat.S_IMODE(config.stat().st_mode) == 0o600
        assert stat.S_IMODE(config.parent.stat().st_mode) == 0o700
        assert asked(config, "/api/v1/nodes/n1")[1]["metadata"]["name"] == "n1"
        assert asked(config, "/api/v1/nodes", Authorization="Bearer other")[0] == 401
        assert asked(config, "/api/v1/nodes", Authorization="")[0] == 403
        code, out, err = process.end(signal.SIGINT if tls == "--tls" else signal.SIGTERM)
    assert (code, out, err) == (0, "", "")
    assert config.exists(), "a file that was asked for stays"
    token = yaml.safe_load(config.read_text())["users"][0]["user"]["token"]
    assert len(token) >= 40
    assert token not in "".join(process.lines)


def test_without_a_wish_the_kubeconfig_is_among_the_users_state_while_it_runs(tmp_path: Path) -> None:
    with a_control_plane("--no-tls", XDG_STATE_HOME=str(tmp_path)) as process:
        port = process.url.rpartition(":")[2]
        assert process.kubeconfig == tmp_path / "kubesched" / f"kubeconfig-{port}"
        assert asked(process.kubeconfig, "/version")[0] == 200
        assert process.end()[0] == 0
    assert not process.kubeconfig.exists()


def test_a_scheduler_gets_a_kubeconfig_of_its_own_that_allows_less(tmp_path: Path) -> None:
    admin, scheduler = tmp_path / "admin", tmp_path / "scheduler"
    with a_control_plane("--kubeconfig", str(admin), "--scheduler-kubeconfig", str(scheduler)) as process:
        assert process.lines[1] == f"export KUBECONFIG={admin}"
        assert stat.S_IMODE(scheduler.stat().st_mode) == 0o600
        assert asked(scheduler, "/api/v1/pods")[0] == 200
        assert asked(scheduler, "/api/v1/secrets")[0] == 403
        assert asked(admin, "/api/v1/secrets")[0] == 200
        assert process.end()[0] == 0
    result = refused("--kubeconfig", str(tmp_path / "one"), "--scheduler-kubeconfig", str(tmp_path / "one"))
    assert (result.exit_code, "--scheduler-kubeconfig" in result.stderr) == (2, True)


@pytest.mark.parametrize(("flag", "phase"), [("--simulate", "Running"), ("--no-simulate", "Pending")])
def test_pods_on_nodes_run_unless_nothing_is_simulated(flag: str, phase: str, tmp_path: Path) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: n1, containers: [{name: c, image: i}]}\n"
    (tmp_path / "all.yaml").write_text(f"{NODE}---\n{pod}")
    with a_control_plane(flag, "--kubeconfig", str(tmp_path / "config"), str(tmp_path / "all.yaml")) as process:
        path = "/api/v1/namespaces/default/pods/p"
        soon = time.monotonic() + 10
        while (found := asked(process.kubeconfig, path)[1]["status"]["phase"]) != phase:
            assert time.monotonic() < soon, found


def test_an_open_watch_does_not_hold_up_the_end(tmp_path: Path) -> None:
    config = tmp_path / "config"
    with a_control_plane("--no-tls", "--kubeconfig", str(config)) as process:
        host, port = process.url.removeprefix("http://").split(":")
        token = yaml.safe_load(config.read_text())["users"][0]["user"]["token"]
        with socket.create_connection((host, int(port)), timeout=10) as client:
            headers = f"Host: {host}\r\nAuthorization: Bearer {token}\r\n"
            client.sendall(f"GET /api/v1/nodes?watch=1 HTTP/1.1\r\n{headers}\r\n".encode())
            assert client.recv(1000).startswith(b"HTTP/1.1 200")
            assert process.end()[0] == 0
            assert client.recv(1000) == b"0\r\n\r\n"


def test_faults_go_by_the_flag_and_are_counted(tmp_path: Path) -> None:
    flags = ["--no-tls", "--fault", "unavailable=1 on list nodes", "--fault", "slow=1:1ms", "--fault-seed", "5"]
    with a_control_plane(*flags, "--kubeconfig", str(tmp_path / "config")) as process:
        assert asked(process.kubeconfig, "/api/v1/nodes")[0] == 503
        assert asked(process.kubeconfig, "/api/v1/pods")[0] == 200
        code, _, err = process.end()
    assert code == 0
    assert err.splitlines() == ["The faults depend on --fault-seed 5.", "Faults: slow 2, unavailable 1"]


def test_everything_that_cannot_be_loaded_is_told_and_nothing_is_served(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(NODE + "---\nkind: [\n---\n" + NODE.replace("Node", "Nod"))
    (tmp_path / "b.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: nowhere}\n")
    result = refused(str(tmp_path), "missing.yaml")
    assert result.exit_code == 1
    assert result.stdout == ""
    lines = result.stderr.replace(f"{tmp_path}/", "").splitlines()
    assert [line.partition(": yaml")[0] for line in lines] == [
        "a.yaml: document 2",
        "missing.yaml: No such file or directory",
        'a.yaml: document 3: Nod "n1": no matches for kind "Nod" in version "v1"',
        'b.yaml: document 1: Pod "p": namespaces "nowhere" not found',
        "1 object could be loaded, 4 problems",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--fault", "conflict=0.1,slwo=1"], 2, "Invalid value for '--fault': 'slwo=1': there is no fault 'slwo'"),
        (["--port", "70000"], 2, "70000 is not in the range"),
        (["--history", "0"], 2, "0 is not in the range"),
        (["--data", ""], 2, "'--data': is empty; give the path of a folder"),
        (["--bind-address", "ü"], 2, "expected an address"),
        (["--bind-address", "203.0.113.7"], 1, "cannot listen on 203.0.113.7 port 0: "),
    ],
)
def test_what_cannot_be_is_said_in_a_line(arguments: list[str], code: int, words: str) -> None:
    result = refused("--no-tls", *arguments)
    assert (result.exit_code, words in result.stderr) == (code, True), result.stderr
    assert "Traceback" not in result.stderr


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = refused("--no-tls", "--port", str(port))
    assert result.exit_code == 1
    assert f"cannot listen on 127.0.0.1 port {port}: " in result.stderr


def test_help_shows_an_example_and_every_fault() -> None:
    text = refused("--help").stdout
    assert "kubesched controlplane nodes.yaml" in text
    assert "lost-response=RATE" in text


# -- the file


def test_a_kubeconfig_of_somebody_else_is_not_replaced(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("apiVersion: v1\nkind: Config\n")
    result = refused("--no-tls", "--kubeconfig", str(config))
    assert result.exit_code == 1
    assert result.stderr == f"{config}: exists and was not written by kubesched; choose another file\n"
    assert config.read_text() == "apiVersion: v1\nkind: Config\n"


def test_its_own_kubeconfig_is_replaced_whole_and_private(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(MARK)
    config.chmod(0o644)
    write_kubeconfig(config, kubeconfig("https://x:1", new_token(), b"PEM"))
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert yaml.safe_load(config.read_text())["current-context"] == "kubesched"
    assert [file.name for file in tmp_path.iterdir()] == ["config"], "no draft is left"


def test_a_kubeconfig_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, reason in ((tmp_path / "file" / "config", "File exists"), (tmp_path, "Is a directory")):
        with pytest.raises(KubeconfigError, match=f"^{path}: .*{reason}"):
            write_kubeconfig(path, kubeconfig("https://x:1", "t"))


def test_tokens_differ() -> None:
    assert new_token() != new_token()

"""A folder that keeps a control plane: who may read it, who is trusted, and what is said if it cannot be used."""

import os
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kubesched_controlplane.data_folder import (
    AUTHORITY,
    DATABASE,
    KUBECONFIG,
    SCHEDULER_KUBECONFIG,
    DataFolder,
    opened,
)
from kubesched_controlplane.storage.errors import DataError
from kubesched_controlplane.transport.certificates import AUTHORITY_VALID_FOR, new_authority
from kubesched_controlplane.transport.kubeconfig import kubeconfig, write_kubeconfig

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NOBODY = 65534
FOLDER_FIX = "who could let anybody in: name a folder of your own, or make it yours (chown nobody)"
FILE_FIX = "who could let anybody in: remove it, or make it yours"
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of others")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[DataFolder]:
    with opened(tmp_path / "new" / "data", 10) as found:
        yield found


@contextmanager
def nobody_special() -> Iterator[None]:
    """Be somebody for whom modes of files count."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_its_owners_alone(folder: DataFolder) -> None:
    folder.authority()
    folder.store.put("configmaps", {"metadata": {"name": "m"}}, {})
    files = sorted(folder.file("").iterdir())
    assert [file.name for file in files] == [AUTHORITY, DATABASE, f"{DATABASE}-wal"]
    assert {mode(file) for file in files} == {0o600}
    assert mode(folder.file("")) == 0o700


def test_a_closed_one_is_one_file(folder: DataFolder) -> None:
    folder.store.put("configmaps", {"metadata": {"name": "m"}}, {})
    folder.close()
    assert [file.name for file in folder.file("").iterdir()] == [DATABASE]


# -- who is trusted


def test_the_authority_stays_while_it_lasts(folder: DataFolder) -> None:
    first = folder.authority(NOW)
    assert folder.authority(NOW + AUTHORITY_VALID_FOR / 2).certificate == first.certificate
    late = folder.authority(NOW + AUTHORITY_VALID_FOR - timedelta(days=30))
    assert late.certificate != first.certificate, "a certificate that it signs would outlive it"
    assert folder.authority(NOW + AUTHORITY_VALID_FOR).certificate == late.certificate


def test_a_token_stays_with_its_kubeconfig(folder: DataFolder) -> None:
    assert folder.token(KUBECONFIG) != folder.token(KUBECONFIG), "there is none yet"
    for name in (KUBECONFIG, SCHEDULER_KUBECONFIG):
        write_kubeconfig(folder.file(name), kubeconfig("https://127.0.0.1:1", f"token-of-{name}"))
    assert folder.token(KUBECONFIG) == "token-of-kubeconfig"
    assert folder.token(SCHEDULER_KUBECONFIG) == "token-of-scheduler-kubeconfig"
    folder.file(KUBECONFIG).unlink()
    assert folder.token(KUBECONFIG) != "token-of-kubeconfig"


def test_the_port_stays_if_it_is_free(folder: DataFolder) -> None:
    assert folder.port("127.0.0.1") == 0
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        write_kubeconfig(folder.file(KUBECONFIG), kubeconfig(f"https://127.0.0.1:{port}", "t"))
        assert folder.port("127.0.0.1") == 0
    assert folder.port("127.0.0.1") == port
    assert folder.port("no.such.host.invalid") == 0


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (KUBECONFIG, b"\xff", "is damaged: not valid UTF-8: byte 0; remove it for a new one"),
        (KUBECONFIG, b"kind: [", "is damaged: yaml: "),
        (KUBECONFIG, b"", "there is no token in it; remove it for a new one"),
        (KUBECONFIG, b"users: []", "there is no token in it; remove it for a new one"),
        (KUBECONFIG, b"users: [{user: {token: 5}}]", "there is no token in it; remove it for a new one"),
        (KUBECONFIG, b"users: [{user: {token: 'a b'}}]", "there is no token in it; remove it for a new one"),
        (AUTHORITY, b"", "is damaged: "),
        (AUTHORITY, b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "is damaged: "),
        (AUTHORITY, new_authority(NOW).text().partition(b"-----BEGIN CERT")[0], "is damaged: "),
        (
            AUTHORITY,
            new_authority(NOW).text().partition(b"-----BEGIN CERT")[0]
            + b"".join(new_authority(NOW).text().partition(b"-----BEGIN CERT")[1:]),
            "is damaged: key and certificate do not belong together; remove it for a new one",
        ),
    ],
)
def test_a_file_in_it_that_cannot_be_used_is_named(folder: DataFolder, name: str, content: bytes, words: str) -> None:
    folder.file(name).write_bytes(content)
    with pytest.raises(DataError) as raised:
        folder.authority(NOW) if name == AUTHORITY else folder.token(name)
    assert str(raised.value).startswith(f"{folder.file(name)}: {words}")
    assert "\n" not in str(raised.value)


# -- folders that cannot be used


def _a_file(path: Path) -> Path:
    path.write_text("text")
    return path


def _below_a_file(path: Path) -> Path:
    return _a_file(path) / "data"


def _read_only(path: Path) -> Path:
    with nobody_special():
        path.mkdir(mode=0o555)
    return path


def _below_read_only(path: Path) -> Path:
    return _read_only(path) / "data"


def _kept_read_only(path: Path) -> Path:
    """Return a folder that was used, and then made read-only, with what is in it."""
    with nobody_special():
        path.mkdir()
        with opened(path, 10):
            pass
        (path / DATABASE).chmod(0o400)
        path.chmod(0o500)
    return path


def _database_is_a_folder(path: Path) -> Path:
    with nobody_special():
        (path / DATABASE).mkdir(parents=True)
    return path


def _of_another(path: Path) -> Path:
    """Return a folder of somebody else, with a kubeconfig that looks like one of ours."""
    write_kubeconfig(path / KUBECONFIG, kubeconfig("https://127.0.0.1:1", "planted"))
    path.chmod(0o777)
    return path


def _open_to_all(path: Path) -> Path:
    with nobody_special():
        path.mkdir()
        path.chmod(0o777)
    return path


def _with_a_link(path: Path) -> Path:
    with nobody_special():
        path.mkdir()
        (path / DATABASE).symlink_to(path.parent / "elsewhere")
    return path


def _with_a_file_of_another(path: Path) -> Path:
    with nobody_special():
        path.mkdir()
    (path / KUBECONFIG).write_text("planted")
    return path


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (_a_file, "/data: is a file, and no folder"),
        (_below_a_file, "/data/data: Not a directory"),
        (_read_only, "/data/state.db: Permission denied"),
        (_below_read_only, "/data/data: Permission denied"),
        (_kept_read_only, "/data/state.db: Permission denied"),
        (_database_is_a_folder, "/data/state.db: is no file: remove it"),
        pytest.param(_of_another, f"/data: belongs to root, {FOLDER_FIX}", marks=AS_ROOT),
        (
            _open_to_all,
            "/data: others can write in it (mode 0777), and could let anybody in: chmod 700 makes it yours alone",
        ),
        (_with_a_link, "/data/state.db: is a symbolic link: put the file itself there, or remove it"),
        pytest.param(_with_a_file_of_another, f"/data/kubeconfig: belongs to root, {FILE_FIX}", marks=AS_ROOT),
    ],
)
def test_a_folder_that_cannot_be_used_is_named(make: Callable[[Path], Path], words: str) -> None:
    # not among those of pytest, which nobody else may enter
    with TemporaryDirectory() as place:
        os.chmod(place, 0o777)
        path = make(Path(place, "data"))
        with nobody_special(), pytest.raises(DataError) as raised:
            DataFolder(path, 10)
        assert str(raised.value) == f"{place}{words}"


def test_what_others_can_read_is_made_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "data"
    with opened(path, 10) as found:
        found.authority()
    for file in (path / DATABASE, path / AUTHORITY):
        file.chmod(0o644)
    path.chmod(0o755)
    with opened(path, 10):
        assert {mode(file) for file in path.iterdir()} == {0o600}


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_folders_above_it_are_made_for_their_owner_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with opened(tmp_path / "a" / "b" / "data", 10):
            pass
        write_kubeconfig(tmp_path / "c" / "d" / "kubeconfig", kubeconfig("https://127.0.0.1:1", "t"))
    finally:
        os.umask(before)
    assert {mode(tmp_path / name) for name in ("a", "a/b", "a/b/data", "c", "c/d")} == {0o700}


# -- a write-ahead log that is damaged

WRITER = """
import os, sys
from pathlib import Path
from kubesched_controlplane.data_folder import DataFolder
store = DataFolder(Path(sys.argv[1]), 100).store
for number in range(20):
    store.put("configmaps", {"metadata": {"name": f"m{number}"}, "data": {"text": "x" * 2000}}, {})
os._exit(0)
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder whose server ended without a word."""
    path = tmp_path_factory.mktemp("killed")
    subprocess.run([sys.executable, "-c", WRITER, str(path)], check=True)
    return path


def _flipped(at: Callable[[int], int]) -> Callable[[bytes], bytes]:
    def flip(log: bytes) -> bytes:
        changed = bytearray(log)
        changed[at(len(log))] ^= 0xFF
        return bytes(changed)

    return flip


@pytest.mark.parametrize(
    ("case", "damage", "left"),
    [
        ("nothing", lambda log: log, 20),
        ("the last page was not written to its end", lambda log: log[:-100], 19),
        ("a bit in the middle", _flipped(lambda size: size // 2), None),
        ("the beginning", _flipped(lambda size: 20), None),
        ("nothing is left", lambda log: b"", 0),
    ],
)
def test_changes_that_a_damaged_log_has_lost_are_told_once(
    killed: Path, tmp_path: Path, case: str, damage: Callable[[bytes], bytes], left: int | None
) -> None:
    path = Path(shutil.copytree(killed, tmp_path / "data"))
    path.chmod(0o700)
    log = path / f"{DATABASE}-wal"
    log.write_bytes(damage(log.read_bytes()))
    if left is None:
        with pytest.raises(
            DataError, match=r"state\.db-wal: is damaged: .* cannot be read, so the latest changes are lost"
        ):
            DataFolder(path, 100)
    with opened(path, 100) as found:
        count = len(found.store.set_of("configmaps"))
    assert count < 20 if left is None else count == left, case

"""The filesystem of the image, made of what the test environment has, and programs in it as nobody who cannot write.

From a folder to a prefix as `deploy/Dockerfile` makes it (the runtime lock and our wheel), below the Python and the C
library of this machine. Needs root, who may mount.
"""

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = 120.0
PREFIX = "/opt/kubesched"
SITE = f"{PREFIX}/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
PYTHON = Path(sys.base_prefix)
LIBRARIES = ("/usr/lib", "/usr/lib64", "/lib", "/lib64")
WHY_NOT = "only root on Linux, who may mount, can run the image's filesystem"


@cache
def can_mount() -> bool:
    """Return whether a mount namespace can be made."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    tried = subprocess.run(["unshare", "--mount", "mount", "--bind", "/usr", "/usr"], capture_output=True)
    return tried.returncode == 0


def assemble(root: Path) -> None:
    """Write the prefix with what the runtime lock names, and our wheel."""
    site = root / SITE.lstrip("/")
    for name in re.findall(r"^([A-Za-z0-9._-]+)==", (ROOT / "requirements-runtime.lock").read_text(), re.MULTILINE):
        _copy(name, site)
    wheels = root.parent / "wheels"
    _pip(
        "wheel",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
        "--wheel-dir",
        str(wheels),
        str(ROOT / "packages/scheduler"),
    )
    (wheel,) = wheels.glob("kubesched_scheduler-*.whl")
    _pip("install", "--no-deps", "--no-index", "--ignore-installed", "--prefix", str(root) + PREFIX, str(wheel))
    for script in (root / PREFIX.lstrip("/") / "bin").iterdir():
        lines = script.read_text().splitlines(keepends=True)
        script.write_text("".join([f"#!{PYTHON}/bin/python3\n", *lines[1:]]))
    for folder in (str(PYTHON), *LIBRARIES):
        place = root / folder.lstrip("/")
        if Path(folder).is_symlink():
            place.symlink_to(os.readlink(folder))
        elif Path(folder).exists():
            place.mkdir(parents=True, exist_ok=True)


def command(root: Path, *words: str) -> list[str]:
    """Return the command that runs a program there as nobody; nothing can be written."""
    mounts = [folder for folder in (str(PYTHON), *LIBRARIES) if Path(folder).is_dir() and not Path(folder).is_symlink()]
    binds = "".join(
        f"mount --bind {folder} {root}{folder} && mount -o remount,ro,bind {root}{folder} && " for folder in mounts
    )
    lock = f"mount --bind {root} {root} && mount -o remount,ro,bind {root} && "
    # the root first: what is bound below it comes later, and is seen
    script = f'{lock}{binds}exec chroot --userspec=65534:65534 {root} "$@"'
    return ["unshare", "--mount", "sh", "-c", script, "sh", *words]


def environment() -> dict[str, str]:
    """Return the variables that the Dockerfile sets, and those that find programs outside."""
    return {
        "PATH": f"{PREFIX}/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "PYTHONPATH": SITE,
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Return what has become of a program there."""
    return subprocess.run(
        command(root, *words), capture_output=True, text=True, env=environment(), timeout=SECONDS, cwd="/"
    )


def _copy(name: str, site: Path) -> None:
    """Copy a distribution of this environment; a package that this platform does not need is not there."""
    found = distribution(name)
    for file in found.files or ():
        if ".." not in file.parts and "__pycache__" not in file.parts:
            place = site / file
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(str(found.locate_file(file)), place)


def _pip(*words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", *words], capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 0, done.stderr

"""`kubesched version`: the installed version, for people, programs and bug reports.

From the package's metadata to a few lines, JSON or YAML.
"""

import json
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import click

import kubesched
from kubesched.api.release import GIT_VERSION
from kubesched.common.platform_name import platform_name

# the packages whose versions matter in a bug report
PACKAGES = ("aiohttp", "msgspec", "numpy", "uvloop")
GIT_SECONDS = 5.0
HELP = """Print the versions of kubesched, Kubernetes, Python and the main packages.

The output has the commit in a checkout, and after pip has installed from a repository.

\b
Example:
  kubesched version
  kubesched version -o yaml          # for a bug report
  kubesched version -o json | jq -r .kubernetesVersion
"""


@click.command(
    "version", help=HELP, short_help="Print the versions of kubesched, Kubernetes, Python and the main packages."
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(("text", "json", "yaml")),
    default="text",
    show_default=True,
    help="Output format.",
)
def version(output: str) -> None:
    """Print the version."""
    found = versions()
    if output == "json":
        click.echo(json.dumps(found, indent=2))
    elif output == "yaml":
        import yaml

        click.echo(yaml.safe_dump(found, sort_keys=False), nl=False)
    else:
        click.echo(_text(found))


def versions() -> dict[str, Any]:
    """Return the versions by name; gitCommit is missing where it is unknown."""
    commit = git_commit()
    return {
        "version": kubesched.__version__,
        **({"gitCommit": commit} if commit else {}),
        "kubernetesVersion": GIT_VERSION,
        "pythonVersion": platform.python_version(),
        "pythonImplementation": platform.python_implementation(),
        "platform": platform_name(),
        "packages": {name: found for name in PACKAGES if (found := _installed(name))},
    }


def _text(found: dict[str, Any]) -> str:
    commit = f" ({found['gitCommit'][:12]})" if "gitCommit" in found else ""
    packages = ", ".join(f"{name} {each}" for name, each in found["packages"].items())
    return (
        f"kubesched {found['version']}{commit}\n"
        f"Kubernetes {found['kubernetesVersion']}\n"
        f"{found['pythonImplementation']} {found['pythonVersion']} on {found['platform']}\n"
        f"{packages}"
    )


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def git_commit() -> str:
    """Return the commit that the package was installed from, or its checkout's commit; empty if unknown."""
    return _installed_commit() or next(map(_checked_out_commit, Path(kubesched.__file__).parents[4:5]), "")


def _installed_commit() -> str:
    """Return the commit that pip installed from (PEP 610)."""
    try:
        origin = json.loads(metadata.distribution("kubesched-scheduler").read_text("direct_url.json") or "{}")
        return str(origin.get("vcs_info", {}).get("commit_id", ""))
    except (metadata.PackageNotFoundError, ValueError, AttributeError):
        return ""


def _checked_out_commit(folder: Path) -> str:
    """Return the commit of a checkout of this repository; empty if the folder is not one."""
    if not (folder / ".git").exists() or not (folder / "packages" / "scheduler" / "src" / "kubesched").is_dir():
        return ""
    try:
        asked = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.strip() if asked.returncode == 0 else ""

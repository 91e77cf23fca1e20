"""What tests need and a machine may lack: programs, and the right to mount.

Without it they are skipped; where the variable KUBESCHED_REQUIRE names it, they fail.
"""

import os
import shutil

import pytest

NAMES = frozenset({"bash", "chromium", "fish", "groff", "helm", "kubectl", "man", "mandoc", "mount", "promtool", "zsh"})


def is_there(name: str, found: bool, why_not: str) -> bool:
    """Return whether something was found; an error where it is required and was not."""
    assert name in NAMES, name
    if not found and name in os.environ.get("KUBESCHED_REQUIRE", "").split():
        raise RuntimeError(f"{why_not}, though KUBESCHED_REQUIRE says that tests need it")
    return found


def path_of(name: str, why_not: str, *, names: tuple[str, ...] = (), path: str | None = None) -> str:
    """Return the path of a program, which may have other names; empty without one."""
    found = next(filter(None, (shutil.which(each, path=path) for each in names or (name,))), "")
    return found if is_there(name, bool(found), why_not) else ""


def needs(name: str, package: str = "") -> pytest.MarkDecorator:
    """Return the mark of a test that needs a program on PATH."""
    why_not = f"no {name} on PATH: apt-get install {package or name}"
    return pytest.mark.skipif(not path_of(name, why_not), reason=why_not)

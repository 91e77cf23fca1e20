"""The public Python API: what people may rely on, pinned."""

import subprocess
import sys
from types import ModuleType

import pytest

import kubesched
import kubesched.testing

both = pytest.mark.parametrize("package", [kubesched, kubesched.testing], ids=lambda package: package.__name__)


@both
def test_every_public_name_can_be_imported(package: ModuleType) -> None:
    for name in package.__all__:
        assert getattr(package, name) is not None, name


@both
def test_nothing_is_public_without_being_listed(package: ModuleType) -> None:
    homes: dict[str, str] = package._HOMES | getattr(package, "_ELSEWHERE", {})
    assert {name for names in homes.values() for name in names.split()} == set(package.__all__) - {"__version__"}


@both
def test_importing_the_package_imports_nothing_heavy(package: ModuleType) -> None:
    code = f"import sys, {package.__name__}; sys.exit('numpy' in sys.modules or 'msgspec' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@both
def test_an_unknown_name_is_an_attribute_error(package: ModuleType) -> None:
    assert not hasattr(package, "no_such_name")

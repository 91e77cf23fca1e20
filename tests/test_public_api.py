"""The public Python API: what people may rely on, pinned."""

import subprocess
import sys

import kubesched
from kubesched import _HOME_OF


def test_every_public_name_can_be_imported() -> None:
    for name in kubesched.__all__:
        assert getattr(kubesched, name) is not None, name


def test_nothing_is_public_without_being_listed() -> None:
    assert {*_HOME_OF, "__version__"} == set(kubesched.__all__)


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, kubesched; sys.exit('numpy' in sys.modules or 'msgspec' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(kubesched, "no_such_name")

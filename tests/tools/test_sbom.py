"""The bill of materials: all packages of the lock, with their hashes; the same each time."""

import json
import re
from pathlib import Path

import pytest

from tools.sbom import LockedPackage, bill_of_materials, packages

LOCK = Path(__file__).parents[2] / "requirements-runtime.lock"
A, B = "a" * 64, "b" * 64
SMALL = f"""\
Some_Package==1.2.3 ; sys_platform == 'linux' \\
    --hash=sha256:{A} \\
    --hash=sha256:{B}
zlib-ng==2.0 \\
    --hash=sha256:{B}
"""


def test_packages_come_with_marker_and_hashes() -> None:
    assert packages(SMALL) == [
        LockedPackage("Some_Package", "1.2.3", "sys_platform == 'linux'", (A, B)),
        LockedPackage("zlib-ng", "2.0", "", (B,)),
    ]


def test_a_line_that_pins_nothing_is_told() -> None:
    with pytest.raises(ValueError, match="no package is pinned with ==: numpy>=2"):
        packages("numpy>=2\n")


def test_every_package_of_the_lock_is_a_component() -> None:
    text = LOCK.read_text()
    bill = bill_of_materials(text, "0.1.0")
    pinned = dict(re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE))
    assert {each["name"]: each["version"] for each in bill["components"]} == pinned
    assert len(bill["dependencies"][0]["dependsOn"]) == len(pinned)
    assert all(each["externalReferences"][0]["hashes"] for each in bill["components"])


def test_names_are_those_of_package_urls_and_references_are_unique() -> None:
    bill = bill_of_materials(SMALL, "0.1.0")
    assert [each["purl"] for each in bill["components"]] == ["pkg:pypi/some-package@1.2.3", "pkg:pypi/zlib-ng@2.0"]
    assert bill["metadata"]["component"]["purl"] == "pkg:pypi/kubesched@0.1.0"
    assert bill["components"][0]["properties"] == [{"name": "python:marker", "value": "sys_platform == 'linux'"}]


def test_the_same_lock_gives_the_same_text() -> None:
    assert json.dumps(bill_of_materials(SMALL, "1")) == json.dumps(bill_of_materials(SMALL, "1"))
    assert bill_of_materials(SMALL, "1")["serialNumber"] != bill_of_materials(SMALL, "2")["serialNumber"]

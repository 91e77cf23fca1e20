"""What PyPI gets: wheels whose metadata it takes, and a page on which every link and picture leads somewhere."""

import re
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from tests.support.new_environment import build_wheel
from tests.support.packages import DISTRIBUTIONS, FOLDERS

from kubesched import __version__

ROOT = Path(__file__).parents[2]
REPOSITORY = "https://github.com/kubesched/kubesched/blob/main/"
PICTURES = "https://raw.githubusercontent.com/kubesched/kubesched/main/"
SOURCES = {"kubesched": ROOT, **FOLDERS}
each_distribution = pytest.mark.parametrize("name", SOURCES)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: build_wheel(tmp_path_factory.mktemp(name), source) for name, source in SOURCES.items()}


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def pythons(found: Message) -> list[str]:
    return [each for each in found.get_all("Classifier", []) if ":: Python ::" in each]


def links(text: str) -> list[tuple[bool, str]]:
    """Return whether each link is a picture, and where it leads."""
    found = re.findall(r"(!?)\[[^\]]*\]\(([^)\s]+)\)", text)
    return [(bool(sign), target) for sign, target in found]


@each_distribution
def test_the_program_that_publishes_has_no_complaints(name: str, wheels: dict[str, Path]) -> None:
    command = [sys.executable, "-m", "twine", "check", "--strict", str(wheels[name])]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_all_are_for_the_same_pythons(wheels: dict[str, Path]) -> None:
    ours, *others = (metadata(wheel) for wheel in wheels.values())
    for other in others:
        assert pythons(ours) == pythons(other)
        assert ours["Requires-Python"] == other["Requires-Python"]


def test_all_have_one_version_and_one_licence(wheels: dict[str, Path]) -> None:
    assert {str(metadata(wheel)["Version"]) for wheel in wheels.values()} == {__version__}
    assert {(folder / "LICENSE").read_text() for folder in SOURCES.values()} == {(ROOT / "LICENSE").read_text()}


def test_the_distribution_of_all_installs_the_others_at_its_version_and_has_no_module(wheels: dict[str, Path]) -> None:
    needed = [each for each in metadata(wheels["kubesched"]).get_all("Requires-Dist", []) if "extra" not in each]
    assert sorted(needed) == sorted(f"kubesched-{name}=={__version__}" for name in DISTRIBUTIONS)
    with zipfile.ZipFile(wheels["kubesched"]) as archive:
        assert all(".dist-info/" in name for name in archive.namelist())


@each_distribution
def test_the_page_has_no_relative_link(name: str, wheels: dict[str, Path]) -> None:
    found = links(str(metadata(wheels[name]).get_payload()))
    assert found
    assert [target for _, target in found if not target.startswith(("https://", "#"))] == []


@each_distribution
def test_links_and_pictures_lead_to_files_of_the_repository(name: str, wheels: dict[str, Path]) -> None:
    found = links(str(metadata(wheels[name]).get_payload()))
    written = links((SOURCES[name] / "README.md").read_text())
    for (is_picture, target), (_, page_target) in zip(written, found, strict=True):
        if not target.startswith(("https://", "#")):
            path, *anchor = target.split("#")
            file = (SOURCES[name] / path).resolve()
            assert file.exists(), target
            place = PICTURES if is_picture else REPOSITORY
            assert page_target == "#".join([place + file.relative_to(ROOT).as_posix(), *anchor])

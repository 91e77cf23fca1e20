"""The numbers that tests and comments quote, and the files of these tests, are those of docs/verification/faults.md."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.support.packages import modules

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| (\d+) \| .+ \| (.+) \| (.+) \|$", re.MULTILINE)
ROWS = ROW.findall((ROOT / "docs/verification/faults.md").read_text())
LISTED = [int(number) for number, _, _ in ROWS]
FILES = {int(number): re.findall(r"`([^`]+)`", files) for number, _, files in ROWS}
QUOTED = re.compile(r"fault[_ ](\d+)(?:_and_(\d+))?")
TESTS = re.compile(r"^(?:async )?def test_fault_(\d+)(?:_and_(\d+))?", re.MULTILINE)
# not tested under their numbers; the page says where
ELSEWHERE = {43, 44, 46, 56}


def modules_with_tests() -> Iterator[Path]:
    """Yield the files of all modules with tests."""
    for folder in (*ROOT.glob("packages/*/tests"), ROOT / "tests"):
        yield from folder.rglob("test_*.py")


def quoted() -> set[int]:
    """Return the numbers that tests and sources quote."""
    files = [*modules(), *modules_with_tests()]
    return {int(number) for path in files for found in QUOTED.findall(path.read_text()) for number in found if number}


def files_of_tests() -> dict[int, list[str]]:
    """Return the files with tests of each number."""
    found: dict[int, set[str]] = defaultdict(set)
    for path in modules_with_tests():
        for numbers in TESTS.findall(path.read_text()):
            for number in filter(None, numbers):
                found[int(number)].add(path.relative_to(ROOT).as_posix())
    return {number: sorted(files) for number, files in found.items()}


def test_the_list_counts_from_one_on() -> None:
    assert list(range(1, len(LISTED) + 1)) == LISTED


def test_every_fault_has_a_test_and_every_number_is_explained() -> None:
    assert quoted() == set(LISTED) - ELSEWHERE


def test_the_page_names_the_files_of_the_tests() -> None:
    assert files_of_tests() == {number: files for number, files in FILES.items() if number not in ELSEWHERE}
    for number in ELSEWHERE:
        assert FILES[number] == ["make bench"] or all((ROOT / file).exists() for file in FILES[number])


def test_every_fault_names_its_issues() -> None:
    link = re.compile(r"\[(\d+)\]\(https://github\.com/kubernetes/kubernetes/issues/\1\)")
    assert all(link.fullmatch(issue) for _, issues, _ in ROWS for issue in issues.split(", "))

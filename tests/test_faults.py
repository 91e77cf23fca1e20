"""The numbers that tests and comments quote are those of docs/verification/faults.md."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
LISTED = [
    int(number)
    for number in re.findall(r"^\| (\d+) \|", (ROOT / "docs/verification/faults.md").read_text(), re.MULTILINE)
]
QUOTED = re.compile(r"fault[_ ](\d+)(?:_and_(\d+))?")
# not tested under their numbers; the page says where
ELSEWHERE = {43, 44, 46, 56}


def quoted() -> set[int]:
    """Return the numbers that tests and sources quote."""
    files = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "src").rglob("*.py")]
    return {int(number) for path in files for found in QUOTED.findall(path.read_text()) for number in found if number}


def test_the_list_counts_from_one_on() -> None:
    assert list(range(1, len(LISTED) + 1)) == LISTED


def test_every_fault_has_a_test_and_every_number_is_explained() -> None:
    assert quoted() == set(LISTED) - ELSEWHERE

"""docs/reference/limits.md lists every limit of the code."""

from collections import Counter
from pathlib import Path

import pytest

from tools import limits

PAGE = Path(__file__).parents[2] / "docs/reference/limits.md"
LISTED, LEFT_OUT = limits.listed()


def test_the_page_is_the_one_that_the_code_makes() -> None:
    assert PAGE.read_text() == limits.page(), "run `make docs`"


def test_every_limit_is_listed_or_left_out() -> None:
    known = {(limit.module, limit.name) for limit in LISTED} | LEFT_OUT
    new = [f"{module} {name}" for module, name in limits.constants() if limits.searched(module, name)]
    assert not {*new} - {" ".join(each) for each in known}, "list them in tools/limits.txt, or at its end"


def test_what_is_listed_exists_once() -> None:
    listed = Counter([*((limit.module, limit.name) for limit in LISTED), *LEFT_OUT])
    assert not set(listed) - set(limits.constants()), "the constant was renamed or deleted: change tools/limits.txt"
    assert max(listed.values()) == 1


def test_folders_that_are_not_searched_exist() -> None:
    assert all(any((each / folder).is_dir() for each in limits.FOLDERS) for folder in limits.OTHER_FOLDERS)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("MOST_TRIES = 12", [("MOST_TRIES", 12)]),
        ("LARGEST: Final = 16 << 20", [("LARGEST", 16 << 20)]),
        ("PERMIT_SECONDS = 5 * 60.0", [("PERMIT_SECONDS", 300.0)]),
        ("MOST = 2**10 - 1 + 4 // 2", [("MOST", 1025)]),
        ("MOST = -1\nMOST = other\nMOST: int\nLIMITED = True\nmost = 1\nA = B = 1\nNAME = 'x'", []),
    ],
)
def test_constants(text: str, found: list[tuple[str, float]], tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(text)
    assert list(limits.numbers(tmp_path / "module.py")) == found


def test_a_line_that_is_no_limit_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LISTED", tmp_path / "limits.txt")
    (tmp_path / "limits.txt").write_text("# Queue\n\nqueue.py MOST\n")
    with pytest.raises(ValueError, match=r"'queue\.py MOST' is no limit"):
        limits.listed()

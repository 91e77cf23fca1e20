"""Marks in the code and rows in docs/reference/differences.md belong together."""

import re
from pathlib import Path

import pytest
from tests.support.packages import modules

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reference/differences.md"
MARK = re.compile(r"# differs(?: \((.*?)\))?:(.*)")
ROW = re.compile(r'^\| <a id="(d-\d{3})"></a>(D-\d{3}) \| (.+?) \|')
ROWS = [found for line in PAGE.read_text().splitlines() if (found := ROW.match(line))]
# rows without a mark: most are about a part that does not exist here, or about a bound that a whole module keeps; the
# list only gets shorter
UNMARKED = set(
    re.findall(
        r"\S+",
        """
    D-003 D-004 D-005 D-007 D-017 D-018 D-020 D-023 D-026 D-034 D-036 D-037 D-038 D-041 D-044 D-048 D-051 D-054
    D-055 D-056 D-058 D-059 D-060 D-065 D-066 D-067 D-068 D-069 D-070 D-071 D-072 D-074 D-077 D-079 D-083 D-084
    D-088 D-089 D-090 D-091 D-092 D-093 D-094 D-095 D-097 D-098 D-099 D-100 D-102 D-106 D-107 D-108 D-109 D-112
    D-113 D-114 D-115 D-116 D-117 D-118 D-124 D-125 D-130 D-131 D-136 D-137 D-138 D-139 D-143 D-147 D-148 D-149
    D-150 D-151 D-152 D-153 D-154 D-155 D-156 D-158 D-159 D-160 D-162 D-164 D-165 D-166 D-167 D-168 D-169 D-170
    D-171 D-172 D-173 D-174 D-175 D-176 D-177 D-178 D-179 D-180 D-181 D-182 D-183 D-184 D-185 D-186 D-187 D-188
    D-189 D-190 D-191 D-192 D-193 D-194 D-195 D-196 D-197 D-198 D-199 D-201 D-203 D-205 D-206 D-207 D-208 D-209
    D-210 D-211 D-212 D-213 D-215 D-216
        """,
    )
)

# the numbers of deleted rows
RETIRED: set[int] = set()


def marks() -> list[tuple[str, str, str]]:
    """Return the place of each mark, the row that it names, and its sentence."""
    found = []
    for path in modules():
        # a mark may continue in the next line
        text = re.sub(r"\n *# (?!upstream|differs)", " ", path.read_text())
        found += [
            (str(path.relative_to(ROOT)), named or "", sentence.strip()) for named, sentence in MARK.findall(text)
        ]
    return found


@pytest.mark.parametrize(("path", "named", "sentence"), sorted(set(marks())))
def test_a_mark_names_one_row(path: str, named: str, sentence: str) -> None:
    assert re.fullmatch(r"D-\d{3}", named), f"{path}: write `# differs (D-017): ...`, with an id of {PAGE.name}"
    assert [row[2] for row in ROWS].count(named) == 1, f"{path}: {PAGE.name} has no row {named}"
    assert len(sentence.split()) > 3, f"{path}: write a sentence after {named}"


def test_every_row_has_a_mark() -> None:
    """A new row needs a mark; a row that gets one leaves the list of those without."""
    assert {row[2] for row in ROWS} - {named for _, named, _ in marks()} == UNMARKED


def test_every_row_of_a_table_has_an_id() -> None:
    lines = PAGE.read_text().splitlines()
    assert [line for line in lines if line.startswith("| ") and not line.startswith("| id |")] == [
        row.string for row in ROWS
    ]


def test_ids_count_from_one_on_and_are_anchors() -> None:
    """A deleted row leaves its id in RETIRED; no id is used again. New rows may stand in any table."""
    numbers = sorted(int(row[2].removeprefix("D-")) for row in ROWS)
    assert sorted([*numbers, *RETIRED]) == list(range(1, len(numbers) + len(RETIRED) + 1))
    assert all(row[1] == row[2].lower() for row in ROWS)


def test_no_row_is_there_twice() -> None:
    subjects = [row[3] for row in ROWS]
    assert sorted(set(subjects)) == sorted(subjects)

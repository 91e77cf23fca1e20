"""The lint of English: which words it finds where, and an allow-list that only shrinks."""

from pathlib import Path

import pytest

from tools.prose import Place, docstrings, places, problems

PAGE = """\
# What is a heading

You see `what is code` and one fact a sentence.

| what is a table | those that |
|---|---|

```console
$ echo what is run
```

Those that read it twice ask what is meant.
"""


def found_in(tmp_path: Path, page: str) -> list[Place]:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("Plain words.\n")
    (tmp_path / "docs" / "page.md").write_text(page)
    return list(places(tmp_path))


def test_prose_of_a_page_is_searched_and_its_code_tables_and_headings_are_not(tmp_path: Path) -> None:
    assert found_in(tmp_path, PAGE) == [
        Place("docs/page.md", 12, "Those that", "name the noun"),
        Place("docs/page.md", 12, "what is", "name the noun"),
    ]


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("whoever reads it", "name the noun"),
        ("nobody waits", "name the actor"),
        ("a thread of its own", "say custom, separate or alone"),
        ("the log tells it", "use the verb of the field"),
        ("the node is gone", "use the verb of the field"),
    ],
)
def test_a_pattern_has_its_advice(tmp_path: Path, words: str, advice: str) -> None:
    assert [place.advice for place in found_in(tmp_path, words)] == [advice]


def test_docstrings_are_found_with_their_lines_and_without_code() -> None:
    source = 'def a():\n    """Return it.\n\n    `what is` code.\n    """\n    return "what is no docstring"\n'
    assert list(docstrings(source)) == [(2, "Return it.\n\n     code.\n    ")]


def test_more_places_than_allowed_are_named() -> None:
    place = Place("a.md", 3, "what is", "name the noun")
    assert problems([place, place], {"a.md": 2}) == []
    assert problems([place], {}) == [
        "a.md:3: 'what is': name the noun",
        "a.md: 1 places, 0 allowed; see the style guide in CONTRIBUTING.md",
    ]


def test_the_allow_list_grants_no_more_than_is_left() -> None:
    (problem,) = problems([], {"a.md": 1})
    assert problem == "a.md: 0 places, 1 allowed; run `python -m tools.prose --write`"

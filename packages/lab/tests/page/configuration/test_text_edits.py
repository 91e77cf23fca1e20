"""Other values of YAML texts: what is read is the new value, and comments stay where lines can."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.config.document import dump, parse
from kubesched_lab.page.configuration.text_edits import rewritten

TEXT = """\
# above
a: 1   # one
list:
# the first
- name: x   # ex
  weight: 2
- name: u

# the map
map:
  inner: {flow: [1, 2]}   # flow
  text: |
    two
    lines
empty:
last: yes # the end
"""

CASES: dict[str, tuple[Any, dict[str, str]]] = {
    "a number": ({"a": 5}, {"a: 1   # one": "a: 5   # one"}),
    "a text where a number was": ({"a": "7"}, {"a: 1   # one": "a: '7'   # one"}),
    "a field that is null": ({"empty": 3}, {"empty:\n": "empty: 3\n"}),
    "a field at the end": ({"new": {"b": [1]}}, {"last: yes # the end\n": "last: yes # the end\nnew:\n  b:\n  - 1\n"}),
    "an entry of a list": (
        {"list": [{"name": "x", "weight": 2}, {"name": "u"}, {"name": "z"}]},
        {"- name: u\n": "- name: u\n- name: z\n"},
    ),
    "an entry less": ({"list": [{"name": "x", "weight": 2}]}, {"- name: u\n": ""}),
    "the first entry less": ({"list": [{"name": "u"}]}, {"- name: x   # ex\n  weight: 2\n": ""}),
    "a field of an entry": (
        {"list": [{"name": "x", "weight": 9}, {"name": "u", "weight": 1}]},
        {"  weight: 2\n- name: u\n": "  weight: 9\n- name: u\n  weight: 1\n"},
    ),
    "a flow": (
        {"map": {"inner": {"flow": [1, 2, 3]}, "text": "two\nlines\n"}},
        {"{flow: [1, 2]}   # flow": "{flow: [1, 2, 3]}   # flow"},
    ),
    "a field of a map less": ({"map": {"inner": {"flow": [1, 2]}}}, {"  text: |\n    two\n    lines\n": ""}),
    "a scalar becomes an object": ({"a": {"b": 1}}, {"a: 1   # one\n": "a:\n  b: 1\n"}),
}


@pytest.mark.parametrize("case", CASES)
def test_only_the_lines_of_a_change_differ(case: str) -> None:
    change, lines = CASES[case]
    expected = TEXT
    for old, new in lines.items():
        assert old in expected
        expected = expected.replace(old, new)
    found = rewritten(TEXT, {**parse(TEXT), **change})
    assert found.text == expected
    assert not found.anew


def test_what_cannot_be_done_in_place_is_written_anew() -> None:
    found = rewritten("a: &x [1]\nb: *x\n", {"a": [1], "b": [2]})
    assert found.anew
    assert parse(found.text) == {"a": [1], "b": [2]}


values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "x", "yes", "1", "# no", "a: b", "é\n"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=8,
)
documents = st.dictionaries(st.sampled_from("abcd"), values, max_size=4)


@given(documents, documents, st.booleans())
def test_a_text_reads_as_its_new_value(old: Any, new: Any, flow: bool) -> None:
    found = parse(rewritten(dump(old, flow=flow), new).text)
    assert found == new

"""Reading YAML and JSON as the reference reads them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.config import document
from kubesched.config.document import MAX_DEPTH, DocumentError, dump, parse, rough_values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: yes", {"a": True}),
        ("a: n", {"a": False}),
        ("on: 1", {"true": 1}),
        ("1: x", {"1": "x"}),
        ("a: ~", {"a": None}),
        ("a:", {"a": None}),
        ("a: 1_000", {"a": 1000}),
        ("a: 0x1F", {"a": 31}),
        ("a: 0o17", {"a": 15}),
        ("a: 017", {"a": 15}),
        ("a: 0b101", {"a": 5}),
        ("a: 4.0", {"a": 4}),
        ("a: 1e3", {"a": 1000}),
        ("a: 1.5", {"a": 1.5}),
        ("a: 08", {"a": 8}),
        ("a: 1:30", {"a": "1:30"}),
        ("a: 2024-01-01", {"a": "2024-01-01"}),
        ("a: '5'", {"a": "5"}),
        ("a: !!str 5", {"a": "5"}),
        ("a: !!int '5'", {"a": 5}),
        ("a: !!binary aGk=", {"a": "hi"}),
        ("a: !mine 5", {"a": "5"}),
        ("a: 1" + "0" * 400, {"a": "1" + "0" * 400}),
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ("a: &x {b: 1}\nc: {<<: *x, d: 2}", {"a": {"b": 1}, "c": {"b": 1, "d": 2}}),
        ("a: 1\n---\nb: [", {"a": 1}),
        ("", None),
        ("# nothing", None),
        ('{"a": 4.0, "b": "\\ud800"}', {"a": 4.0, "b": "\ufffd"}),
    ],
)
def test_values(text: str, value: Any) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2", 'yaml: line 2: key "a" already set in map'),
        ('{"a": 1,\n"a": 2}', 'yaml: line 2: key "a" already set in map'),
        ("a: &x {b: 1}\nc: {b: 2, <<: *x}", 'yaml: line 2: key "b" already set in map'),
        ("<<: 1", "yaml: line 1: map merge requires map or sequence of maps as the value"),
        ("a: &a [*a]", 'yaml: line 1: anchor "a" value contains itself'),
        ("a: *b", 'yaml: line 1: unknown anchor "b" referenced'),
        ("? [a]\n: 1", "yaml: line 1: unsupported map key of type list"),
        ("~: 1", "yaml: line 1: unsupported map key of type null"),
        ("a: .nan", "yaml: line 1: unsupported value: nan"),
        ("a: !!int x", 'yaml: line 1: cannot decode "x" as a !!int'),
        ("a: !!binary '*'", "yaml: line 1: !!binary value contains invalid base64 data"),
        ("a: b: c", "yaml: line 1: mapping values are not allowed in this context"),
        ("{a: 1}", "json: line 1: Expecting property name enclosed in double quotes"),
        ('{"a": NaN}', "json: invalid value NaN"),
        ('{"a": ' + "9" * 5000 + "}", "json: number of 5000 digits is out of range"),
        ('{"a":' * 10_000, f"json: nested deeper than {MAX_DEPTH} levels"),
        ('{"a":' * (MAX_DEPTH + 1), f"json: nested deeper than {MAX_DEPTH} levels"),
        ('{"a":' * MAX_DEPTH, "json: line 1: Expecting value"),
        ('{"' + "[" * 200 + '\\"": }', "json: line 1: Expecting value"),
        ("[" * 10_000, f"yaml: line 1: nested deeper than {MAX_DEPTH} levels"),
        ("\ud800", "yaml: the text is not valid Unicode"),
    ],
)
def test_errors_name_the_place(text: str, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse(text)
    assert str(caught.value) == message


def test_json_nested_within_the_readers_limit_but_past_ours_is_refused() -> None:
    with pytest.raises(DocumentError, match="nested deeper"):
        parse('{"a":' + "[" * 200 + "]" * 200 + "}")


def test_a_bomb_of_aliases_is_refused_whether_it_grows_wide_or_deep() -> None:
    wide = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 40))
    with pytest.raises(DocumentError, match="excessive aliasing"):
        parse(wide)
    deep = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 200))
    with pytest.raises(DocumentError, match="nested deeper"):
        parse(deep)


_PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn", "Co")), max_size=8)
    | st.sampled_from(["y", "no", "on", "<<", "~", "", "0x1", "1_0", "1:30", "2024-01-01", ".inf", "5", "- a", "a: b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "y", "5", "<<"]), inner),
    max_leaves=8,
)


@given(_PLAIN)
def test_what_is_dumped_reads_back(value: Any) -> None:
    assert parse("# yaml\n" + dump(value)) == value


def _count(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_count, inner))


@given(_PLAIN, st.booleans())
def test_the_rough_number_of_values_is_at_least_half_of_them(value: Any, flow: bool) -> None:
    assert 2 * rough_values(dump(value, flow=flow).encode()) + 2 >= _count(value)


@given(st.text(max_size=40))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        parse(text)
    except DocumentError as error:
        assert str(error)  # noqa: PT017 - most texts parse; of the rest only this error may come


LONG_TEXTS = {
    "a list": "- 1\n- two\n- {three: [4, 5]}\n",
    "a text over several lines": "a: 'one\n  two\n\n  three'\nb: |\n  x\n  y\n",
    "letters beyond ASCII": "a: \u00e4\u4e16\u754c\U0001f600\nb: '\u00e4'\n",
    "a text without end": "a: 1\nb: 'no end\n",
    "a duplicate key": "a: 1\nb: 2\na: 3\n",
    "a control character": "a: 1\nb: \x07\n",
}


@pytest.mark.parametrize("case", LONG_TEXTS)
def test_a_long_text_is_read_in_pieces_and_means_the_same(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def read() -> object:
        try:
            return parse(LONG_TEXTS[case])
        except DocumentError as error:
            return str(error)

    expected = read()
    monkeypatch.setattr(document, "_LONG", 1)
    assert read() == expected

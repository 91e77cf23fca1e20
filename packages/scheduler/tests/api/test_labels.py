"""Label selectors: structs and text, matching, equality, messages."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.api.field_errors import aggregate, invalid
from kubesched.api.go_text import quote
from kubesched.api.label_syntax import parse_selector
from kubesched.api.labels import (
    EVERYTHING,
    EXISTS,
    IN,
    NOTHING,
    InvalidSelectorError,
    Requirement,
    from_label_selector,
    label_key_problems,
    label_value_problems,
    new_requirement,
    parse_int64,
    selector_from_set,
    selector_of,
)
from kubesched.api.meta import LabelSelector, LabelSelectorRequirement

KEYS = st.sampled_from(["a", "b", "example.com/c", "in"])
VALUES = st.sampled_from(["", "x", "y", "10", "notin"])
LABELS = st.dictionaries(KEYS, VALUES)


@st.composite
def selector_texts(draw: st.DrawFn) -> str:
    """Well-formed selector text with every operator."""

    def requirement() -> str:
        key = draw(KEYS)
        values = draw(st.lists(VALUES, min_size=1, max_size=3))
        return draw(
            st.sampled_from(
                [
                    key,
                    f"!{key}",
                    f"{key}={values[0]}",
                    f"{key} == {values[0]}",
                    f"{key}!={values[0]}",
                    f"{key} in ({','.join(values)})",
                    f"{key} notin ({', '.join(values)})",
                    f"{key}>{draw(st.integers(0, 20))}",
                    f"{key}<{draw(st.integers(0, 20))}",
                ]
            )
        )

    return ",".join(requirement() for _ in range(draw(st.integers(0, 4))))


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        pytest.param("", {"a": "1"}, True, id="no requirement matches everything"),
        pytest.param("a=1", {"a": "1", "b": "2"}, True, id="other labels do not matter"),
        pytest.param("a!=1", {}, True, id="an absent label is not equal"),
        pytest.param("a notin (1,2)", {}, True, id="an absent label is in no set"),
        pytest.param("a in (1,2)", {}, False, id="nor in one that is asked for"),
        pytest.param("a", {"a": ""}, True, id="an empty value exists"),
        pytest.param("!a", {"a": ""}, False, id="and is not absent"),
        pytest.param("a>5", {"a": "6"}, True, id="numbers compare as numbers"),
        pytest.param("a>5", {"a": "+6"}, True, id="a plus is part of a number"),
        pytest.param("a>5", {"a": "six"}, False, id="a word is no number"),
        pytest.param("a<5", {"a": "99999999999999999999"}, False, id="nor is what leaves 64 bits"),
        pytest.param("a<5", {}, False, id="nor is nothing"),
        pytest.param("in in (notin)", {"in": "notin"}, True, id="keywords are names where a name stands"),
        pytest.param("a=,b", {"a": "", "b": "1"}, True, id="nothing after = is the empty value"),
    ],
)
def test_matching(text: str, labels: dict[str, str], expected: bool) -> None:
    assert parse_selector(text).matches(labels) is expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a in (1", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("a in (1,", "unable to parse requirement: found '', expected: ',', or identifier"),
        ("a in ((", "unable to parse requirement: found '(', expected: ',', ')' or identifier"),
        ("a in (,(", "unable to parse requirement: found '(', expected: ',', or identifier"),
        ("a,", "found '', expected: identifier after ','"),
        ("=a", "found '=', expected: !, identifier, or 'end of string'"),
        ("!a=1", "found '=', expected: ',' or 'end of string'"),
        ("a=!", "unable to parse requirement: found '!', expected: identifier"),
        ("a ~ 1", "unable to parse requirement: found '~', expected: in, notin, =, ==, !=, gt, lt"),
        ("/a", 'unable to parse requirement: <nil>: Invalid value: "/a": prefix part must be non-empty'),
    ],
)
def test_malformed_text(text: str, message: str) -> None:
    with pytest.raises(InvalidSelectorError) as caught:
        parse_selector(text)
    assert str(caught.value) == message


def test_a_nul_character_ends_the_text_as_it_does_for_the_reference() -> None:
    assert str(parse_selector("a,b\0")) == "a,b"
    assert str(parse_selector("a=\0b")) == "a=b"
    assert parse_selector("\0a").empty


@pytest.mark.parametrize("wrong", [None, 5, ["a"]])
def test_text_of_another_type_is_an_error_of_ours(wrong: Any) -> None:
    with pytest.raises(InvalidSelectorError, match="a selector is a text"):
        parse_selector(wrong)


@given(st.text(alphabet="ab1=!<>(), \0in-./", max_size=20))
def test_any_text_gives_a_selector_or_an_error_of_ours(text: str) -> None:
    try:
        selector = parse_selector(text)
    except InvalidSelectorError:
        return
    assert str(parse_selector(str(selector))) == str(selector)


@given(selector_texts(), LABELS)
def test_the_canonical_text_asks_the_same(text: str, labels: dict[str, str]) -> None:
    selector = parse_selector(text)
    again = parse_selector(str(selector))
    assert again == selector
    assert hash(again) == hash(selector)
    assert again.matches(labels) == selector.matches(labels)


@given(selector_texts(), selector_texts(), LABELS)
def test_adding_requirements_is_conjunction_and_equal_selectors_agree(
    one: str, other: str, labels: dict[str, str]
) -> None:
    a, b = parse_selector(one), parse_selector(other)
    assert a.adding(*b.requirements).matches(labels) == (a.matches(labels) and b.matches(labels))
    assert a.adding(*b.requirements) == b.adding(*a.requirements)
    assert a.adding(*a.requirements) == a
    if a == b:
        assert a.matches(labels) == b.matches(labels)


@given(selector_texts(), LABELS)
def test_the_answer_depends_on_the_named_keys_only(text: str, labels: dict[str, str]) -> None:
    selector = parse_selector(text)
    assert selector.matches(labels) == selector.matches({k: v for k, v in labels.items() if k in selector.keys})


def test_selectors_are_equal_by_what_they_ask() -> None:
    assert parse_selector("a=1") == parse_selector("a==1") == parse_selector("a in (1,1)")
    assert parse_selector("a in (2,1),b") == parse_selector("b,a in (1,2)")
    assert parse_selector("a=1") != parse_selector("a!=1")
    assert parse_selector("a") != "a"
    assert NOTHING != EVERYTHING
    assert len({parse_selector("a=1"), parse_selector("a in (1)"), NOTHING, EVERYTHING}) == 3


def test_no_selector_matches_nothing_and_an_empty_one_everything() -> None:
    assert from_label_selector(None) is NOTHING
    assert from_label_selector(LabelSelector()) is EVERYTHING
    assert not NOTHING.matches({})
    assert not NOTHING.empty
    assert NOTHING.adding(Requirement("a", EXISTS)) is NOTHING
    assert EVERYTHING.empty
    assert EVERYTHING.matches({})


def test_struct_with_labels_and_expressions() -> None:
    selector = from_label_selector(
        LabelSelector(
            match_labels={"b": "2", "a": "1"},
            match_expressions=(LabelSelectorRequirement(key="c", operator="NotIn", values=("z", "y")),),
        )
    )
    assert str(selector) == "a=1,b=2,c notin (y,z)"
    assert selector.keys == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("operator", "values", "message"),
    [
        ("In", (), "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"),
        ("Exists", ("x",), 'values: Invalid value: ["x"]: values set must be empty for exists and does not exist'),
        ("Gt", ("1",), '"Gt" is not a valid label selector operator'),
        ('b"\n', (), '"b\\"\\n" is not a valid label selector operator'),
    ],
)
def test_malformed_struct(operator: str, values: tuple[str, ...], message: str) -> None:
    expression = LabelSelectorRequirement(key="a", operator=operator, values=values)
    with pytest.raises(InvalidSelectorError) as caught:
        from_label_selector(LabelSelector(match_expressions=(expression,)))
    assert str(caught.value) == message


def test_all_problems_of_a_requirement_are_told_at_once_and_once() -> None:
    with pytest.raises(InvalidSelectorError) as caught:
        new_requirement("a", "~", ("<", "<"), path="here")
    text = str(caught.value)
    assert text.startswith('[here.operator: Unsupported value: "~": supported values: "in", "notin", "=", ')
    assert 'here.values[0][a]: Invalid value: "<": a valid label must be an empty string' in text
    assert aggregate(["one", "one"]) == "one"
    assert aggregate(["one", "two", "one"]) == "[one, two]"
    assert aggregate([]) == ""


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("a", None),
        ("example.com/a", None),
        ("A_b.c-9", None),
        ("", "name part must be non-empty"),
        ("/a", "prefix part must be non-empty"),
        ("Example.com/a", "prefix part a lowercase RFC 1123 subdomain must consist of"),
        ("a" * 64, "name part must be no more than 63 bytes"),
        ("é" * 32, "name part must be no more than 63 bytes"),
        (f"{'a' * 254}/a", "prefix part must be no more than 253 bytes"),
        ("a/b/c", "a valid label key must consist of"),
        ("a\n", "name part must consist of"),
    ],
)
def test_label_keys(key: str, problem: str | None) -> None:
    problems = label_key_problems(key)
    if problem is None:
        assert problems == ()
    else:
        assert problems[0].startswith(problem)


@pytest.mark.parametrize("value", ["-5", "a ", "ä", "v" * 64])
def test_label_values_that_are_none(value: str) -> None:
    assert label_value_problems(value)


def test_unvalidated_sets_may_hold_anything() -> None:
    assert selector_from_set({"bad key": "bad value!"}).matches({"bad key": "bad value!"})
    assert selector_from_set({}) == EVERYTHING
    assert selector_of([Requirement("b", EXISTS), Requirement("a", IN, ("x",))]).requirements[0].key == "a"


@pytest.mark.parametrize(
    ("text", "number"),
    [("5", 5), ("-5", -5), ("+007", 7), ("", None), ("1_0", None), ("9" * 19, None), ("9" * 9999, None), ("٣", None)],
)
def test_integers_as_go_reads_them(text: str, number: int | None) -> None:
    assert parse_int64(text) == number


def test_values_in_messages_are_written_as_go_writes_them() -> None:
    assert quote('a"\\\t\x00\u200bé\U000e0001') == r'"a\"\\\t\x00\u200bé\U000e0001"'
    assert invalid("", ["<&>", "\u2028"], "x") == r'<nil>: Invalid value: ["\u003c\u0026\u003e","\u2028"]: x'

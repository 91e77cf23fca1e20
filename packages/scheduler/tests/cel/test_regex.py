"""Regular expressions: RE2's syntax and meaning, in time that grows with the text alone."""

import pytest

from kubesched.cel.functions.regex import RegexError, compile_regex


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        pytest.param("a+", "baac", ["aa"], id="as many as possible"),
        pytest.param("a+?", "baac", ["a", "a"], id="as few as possible"),
        pytest.param("a*", "baac", ["", "aa", ""], id="nothing right behind something is nothing"),
        pytest.param("a|ab", "ab", ["a"], id="the first choice wins"),
        pytest.param("(?:ab|a)(c|bcd)", "abcd", ["abc"], id="groups"),
        pytest.param("a{2,3}", "aaaaa", ["aaa", "aa"], id="counted"),
        pytest.param("a{,2}", "a{,2}", ["a{,2}"], id="no count"),
        pytest.param("x{0}y", "xy", ["y"], id="not at all"),
        pytest.param("^a$", "a\n", [], id="the end is the end"),
        pytest.param("(?m)^a$", "b\na\n", ["a"], id="lines"),
        pytest.param(r"\bfoo\b", "foo food", ["foo"], id="edges of words"),
        pytest.param(r"\Boo", "foo oo", ["oo"], id="no edges"),
        pytest.param(".", "a\nb", ["a", "b"], id="any but a new line"),
        pytest.param("(?s).", "a\nb", ["a", "\n", "b"], id="any"),
        pytest.param("(?i)straße|K", "STRAßE k", ["STRAßE", "k"], id="either case"),
        pytest.param("(?i:a)b", "Ab AB", ["Ab"], id="flags for a group"),
        pytest.param("(?U)a+", "aa", ["a", "a"], id="lazy by default"),
        pytest.param(r"[\d-]+", "1-2", ["1-2"], id="a dash at the end"),
        pytest.param("[^a-c]+", "abxyc\n", ["xy", "\n"], id="none of these"),
        pytest.param("[]a]+", "a]", ["a]"], id="a bracket first"),
        pytest.param("[[:alpha:][:^digit:]]+", "a-1", ["a-"], id="named classes"),
        pytest.param(r"\pL+\P{L}", "aé1", ["aé1"], id="letters"),
        pytest.param(r"\p{Greek}+", "aβγb", ["βγ"], id="scripts"),
        pytest.param("^a", "aaa", ["a"], id="the beginning is there once"),
        pytest.param(r"\Ba", "aaa", ["a", "a"], id="what stands before counts"),
        pytest.param("x*", "é", ["", ""], id="nothing, between characters of several bytes"),
        pytest.param(r"\s\w\D\S\W", " a-b-", [" a-b-"], id="classes of Perl"),
        pytest.param(r"\x41\x{42}\103\t\.", "ABC\t.", ["ABC\t."], id="escapes"),
        pytest.param(r"\Qa.b\E+", "a.bb", ["a.bb"], id="quoted"),
        pytest.param("(?P<n>a)(?<m>b)", "ab", ["ab"], id="named groups"),
        pytest.param("(a*)*b", "aab", ["aab"], id="repetitions of repetitions"),
        pytest.param("", "ab", ["", "", ""], id="nothing is everywhere"),
    ],
)
def test_occurrences(pattern: str, text: str, found: list[str]) -> None:
    regex = compile_regex(pattern)
    assert regex.find_all(text) == found
    assert regex.matches(text) == bool(found)
    assert regex.find(text) == (found[0] if found else "")


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("[", "missing closing ]: `[`"),
        ("(", "missing closing ): `(`"),
        ("a)", "unexpected ): `a)`"),
        ("*", "missing argument to repetition operator: `*`"),
        ("a|*", "missing argument to repetition operator: `*`"),
        ("{2}", "missing argument to repetition operator: `{2}`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("(a{100}){100}", "invalid repeat count: `{100}`"),
        ("a{2,1}", "invalid repeat count: `{2,1}`"),
        ("[b-a]", "invalid character class range: `b-a`"),
        ("[[:nope:]]", "invalid character class range: `[:nope:]`"),
        (r"\1", r"invalid escape sequence: `\1`"),
        (r"\q", r"invalid escape sequence: `\q`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(?P<a", "invalid named capture: `(?P<a`"),
        ("\\", "trailing backslash at end of expression: ``"),
        (r"\p{Klingon}", r"invalid character class range: `\p{Klingon}`"),
        (r"\pX", r"invalid character class range: `\pX`"),
        ("(" * 500 + ")" * 500, "expression nests too deeply: `" + "(" * 500 + ")" * 500 + "`"),
        ("((a{100}){10}(b{100}){10}){1}" * 90, "expression too large: ``"),
    ],
)
def test_what_is_no_pattern(pattern: str, problem: str) -> None:
    with pytest.raises(RegexError) as caught:
        compile_regex(pattern)
    assert str(caught.value) == f"error parsing regexp: {problem}"


def test_time_grows_with_the_text_alone() -> None:
    assert not compile_regex("(a+)+$").matches("a" * 2000 + "b")
    assert not compile_regex("(a|a)*(a|a)*b").matches("a" * 2000)

"""What an expression may cost is bounded by the work that it is, whatever the reference charges for it."""

import pytest

from kubesched.api.devices import Device
from kubesched.cel.errors import CelRuntimeError
from kubesched.cel.functions import regex, strings
from kubesched.cel.functions.regex import compile_regex
from kubesched.cel.limits import LIMIT, LIMIT_EXCEEDED
from kubesched.cel.selectors import CompiledSelector, compile_selector
from kubesched.cel.sized_cache import SizedCache

DEVICE = Device(name="gpu-0")
TEN = "'aaaaaaaaaa'"
LONG = TEN + ".replace('a', 'aaaaaaaaaa')" * 4
"""A text of 100 000 characters."""


def nested(first: str, step: str, last: str, times: int = 40) -> str:
    """Return an expression whose value is doubled so many times; `#` stands for the one before."""
    expression = last.replace("#", f"v{times}")
    for number in range(times, 0, -1):
        expression = f"cel.bind(v{number}, {step.replace('#', f'v{number - 1}')}, {expression})"
    return f"cel.bind(v0, {first}, {expression})"


def in_a_loop(value: str, body: str) -> str:
    return f"cel.bind(b, {value}, lists.range(100000).all(i, {body}))"


TOO_MUCH = {
    "a text that is made larger and larger": LONG + ".replace('a', 'aaaaaaaaaa')" * 4 + ".size() > 0",
    "a text with much between its characters": f"{LONG}.replace('', '{'a' * 5000}').size() > 0",
    "a text that is doubled": nested("'ab'", "# + #", "#.size() > 0"),
    "a text that is doubled, of a type nobody knows": nested("dyn('ab')", "# + #", "#.size() > 0"),
    "a list that is doubled": nested("[1]", "# + #", "#.size() > 0"),
    "a long text joined to itself": f"cel.bind(b, {LONG}, lists.range(20000).map(i, b).join().size() > 0)",
    "lists of the same lists, compared": nested("[1]", "[#, #]", "# == #"),
    "lists of the same lists, compared for difference": nested("[1]", "[#, #]", "# != #"),
    "maps of the same maps, compared": nested("{'a': 1}", "{'a': #, 'b': #}", "# == #"),
    "optional values of the same, compared": nested("optional.of(1)", "optional.of([#, #])", "# == #"),
    "a list of lists, looked for": nested("[1]", "[#, #]", "# in [#]"),
    "a list of lists, looked for from behind": nested("[1]", "[#, #]", "[#, #].lastIndexOf(#) == 0"),
    "lists of lists as sets": nested("[1]", "[#, #]", "sets.contains([#, #], [#])"),
    "lists of lists, each once": nested("[1]", "[#, #]", "[#, #].distinct().size() > 0"),
    "lists of lists, made flat": nested("[dyn(1)]", "[dyn(#), dyn(#)]", "#.flatten(40).size() > 0"),
    "lists of lists, written": nested("[1]", "[#, #]", "'%s'.format([#]).size() > 0"),
    "a pattern that goes to the end for each occurrence": f"{LONG}.findAll('a.*b|a').size() == 0",
    "a pattern with many steps, again and again": in_a_loop(LONG, "!b.matches('(a|b)*a(a|b){1000}c')"),
    "patterns that are made on the way": r"lists.range(1000).all(i, 'x'.matches('(\\pL|\\pN){9}' + string(i)) || true)",
    "patterns that are too large": r"lists.range(1000).all(i, 'x'.matches('(\\pL|\\pN){99}' + string(i)) || true)",
    "a loop of constants": f"lists.range(99999).all(i, {' && '.join(['true'] * 1000)})",
    "a loop that makes lists": f"lists.range(99999).all(i, [i{', 0' * 1000}].size() > 0)",
    "errors that are absorbed": in_a_loop(f"{LONG}.replace('a', '9')", "int(b) == 1 || true"),
    "long texts among long texts": in_a_loop(LONG, "!((b + 'x') in [b + 'y', b + 'z'])"),
    "what comes last, looked for": in_a_loop(LONG, "b.lastIndexOf('b' + b.substring(0, 50000)) == -1"),
    "durations of many parts": in_a_loop(f"{LONG}.replace('a', '0h')", "duration(b) == duration('0h')"),
    "the query of a URL": in_a_loop(f"url('http://a/?' + {LONG})", "b.getQuery().size() > 0"),
    "optional values, unwrapped": in_a_loop(
        "lists.range(1000).map(i, optional.of(i))", "optional.unwrap(b).size() > 0"
    ),
}


@pytest.mark.parametrize("expression", [pytest.param(each, id=name) for name, each in TOO_MUCH.items()])
def test_what_is_too_much_work_is_cut_off(expression: str) -> None:
    selector = CompiledSelector(expression, list_attributes=True)
    assert selector.error == ""
    spent: list[int] = []
    with pytest.raises(CelRuntimeError, match=LIMIT_EXCEEDED):
        selector.matches("gpu.example.com", DEVICE, spent.append)
    assert spent == [LIMIT]


BEARABLE = {
    "the first of 100 000 characters": (f"{LONG}.find('a*b') == ''", 25_000),
    "all of 100 000 characters": (f"{LONG}.findAll('a').size() == 100000", 120_000),
    "none of 100 000 characters": (f"{LONG}.findAll('a*b').size() == 0", 25_000),
    "a pattern with many steps": (f"!{LONG}.matches('(a|b)*a(a|b){{100}}c')", 150_000),
    "numbers with a thousand places": ("'%.1000f'.format([1.5]).size() == 1002", 200),
    "100 000 characters one by one": (f"{LONG}.split('').size() == 100000", 120_000),
}


@pytest.mark.parametrize(("expression", "most"), [pytest.param(*each, id=name) for name, each in BEARABLE.items()])
def test_what_is_bearable_is_done(expression: str, most: int) -> None:
    spent: list[int] = []
    assert CompiledSelector(expression, list_attributes=True).matches("gpu.example.com", DEVICE, spent.append)
    assert spent[0] <= most


def test_patterns_of_an_expression_are_not_too_large_together() -> None:
    expression = " || ".join(rf"'x'.matches('(\\pL|\\pN){{9}}{number}')" for number in range(100))
    assert (
        "regular expressions of more than 100000 steps together"
        in CompiledSelector(expression, list_attributes=True).error
    )


def test_compiled_patterns_are_kept_within_bounds() -> None:
    for number in range(300):
        compile_regex(f"(a|b){{30}}{number}")
    assert regex._kept.weight <= 64 << 20
    assert len(regex._kept) <= 64


def test_compiled_selectors_are_kept_within_bounds() -> None:
    from kubesched.cel import selectors

    for number in range(60):
        compile_selector(f"device.driver == '{'x' * 9000}{number}'", list_attributes=False)
    assert selectors._kept.weight <= 256 << 10
    assert len(selectors._kept) < 30


def test_a_cache_forgets_what_was_asked_for_longest_ago() -> None:
    cache: SizedCache[str, int] = SizedCache(10)
    cache.put("a", 1, 4)
    cache.put("b", 2, 4)
    assert cache.get("a") == 1
    cache.put("c", 3, 4)
    assert (cache.get("a"), cache.get("b"), cache.get("c"), cache.weight) == (1, None, 3, 8)
    cache.put("d", 4, 11)
    assert (len(cache), cache.weight) == (0, 0)


def test_a_value_is_shown_only_if_that_is_short() -> None:
    expression = nested("[1]", "[#, #]", "dyn([#]).join() == ''")
    with pytest.raises(CelRuntimeError) as caught:
        CompiledSelector(expression, list_attributes=True).matches("gpu.example.com", DEVICE)
    assert len(str(caught.value)) < 200


def test_finding_stops_when_it_costs_too_much() -> None:
    with pytest.raises(CelRuntimeError, match=LIMIT_EXCEEDED):
        strings.find_all("a" * 100_000, "a.*b|a")

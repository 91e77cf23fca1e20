"""Go's texts: durations, quoting, float32."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.api.go_text import quote, to_json
from kubesched.config.golang import Duration, float32, parse_duration


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("0", "0s"),
        ("0s", "0s"),
        ("15s", "15s"),
        ("1h", "1h0m0s"),
        ("90s", "1m30s"),
        ("1.5h", "1h30m0s"),
        ("-1.5s", "-1.5s"),
        ("+5m", "5m0s"),
        ("500ms", "500ms"),
        ("1us", "1µs"),
        ("1.5µs", "1.5µs"),
        ("100ns", "100ns"),
        (".5s", "500ms"),
        ("1.s", "1s"),
        ("1h2m3.004s", "1h2m3.004s"),
        ("9223372036854775807ns", "2562047h47m16.854775807s"),
        ("-9223372036854775808ns", "-2562047h47m16.854775808s"),
    ],
)
def test_durations_print_as_go_prints_them(text: str, printed: str) -> None:
    assert str(parse_duration(text)) == printed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("soon", 'time: invalid duration "soon"'),
        ("10", 'time: missing unit in duration "10"'),
        ("1d", 'time: unknown unit "d" in duration "1d"'),
        (".s", 'time: invalid duration ".s"'),
        ("1s 2s", 'time: unknown unit "s " in duration "1s 2s"'),
        ("9223372036854775808ns", 'time: invalid duration "9223372036854775808ns"'),
        ("9" * 5000 + "s", f'time: invalid duration "{"9" * 5000}s"'),
    ],
)
def test_bad_durations_have_gos_message(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="time: ") as caught:
        parse_duration(text)
    assert str(caught.value) == message


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_duration_reads_back_what_it_prints(nanoseconds: int) -> None:
    duration = Duration(nanoseconds)
    assert parse_duration(str(duration)) == duration


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('a"b\\', r'"a\"b\\"'),
        ("tab\tnew\n", r'"tab\tnew\n"'),
        ("\x01\x7f", r'"\x01\x7f"'),
        ("é\u200b\U000e0001", r'"é\u200b\U000e0001"'),
    ],
)
def test_quoting_is_gos(text: str, quoted: str) -> None:
    assert quote(text) == quoted


def test_json_is_gos() -> None:
    assert to_json({"b": "<&>", "a": [1, None]}) == r'{"a":[1,null],"b":"\u003c\u0026\u003e"}'


def test_float32_keeps_the_shortest_text() -> None:
    assert float32(0.1) == 0.1
    assert float32(0.123456789) == 0.12345679
    with pytest.raises(OverflowError):
        float32(1e39)

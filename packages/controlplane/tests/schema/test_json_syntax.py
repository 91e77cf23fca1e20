"""Why a text is not JSON, as Go says it."""

import pytest

from kubesched_controlplane.schema.json_syntax import UNEXPECTED_END, syntax_error


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", UNEXPECTED_END),
        ("  ", UNEXPECTED_END),
        ("{", UNEXPECTED_END),
        ('{"a":[1,{"b"', UNEXPECTED_END),
        ('"abc', UNEXPECTED_END),
        ("x", "invalid character 'x' looking for beginning of value"),
        ('{"a":}', "invalid character '}' looking for beginning of value"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ("[}", "invalid character '}' looking for beginning of value"),
        ("{'a':1}", r"invalid character '\'' looking for beginning of object key string"),
        ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        ("{]", "invalid character ']' looking for beginning of object key string"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        ('{"a":[]]', "invalid character ']' after object key:value pair"),
        ("[1 2]", "invalid character '2' after array element"),
        ("{}}", "invalid character '}' after top-level value"),
        ("01", "invalid character '1' after top-level value"),
        ('"\x01"', r"invalid character '\x01' in string literal"),
        ('"\n"', r"invalid character '\n' in string literal"),
        (r'"\x"', "invalid character 'x' in string escape code"),
        (r'"\u12g4"', r"invalid character 'g' in \u hexadecimal character escape"),
        ("-", "invalid character ' ' in numeric literal"),
        ("[-]", "invalid character ']' in numeric literal"),
        ("1.", "invalid character ' ' after decimal point in numeric literal"),
        ("1e", "invalid character ' ' in exponent of numeric literal"),
        ("1e+]", "invalid character ']' in exponent of numeric literal"),
        ("nul", "invalid character ' ' in literal null (expecting 'l')"),
        ("[trve]", "invalid character 'v' in literal true (expecting 'u')"),
        ("fa1se", "invalid character '1' in literal false (expecting 'l')"),
        ("[" * 10_001, "invalid character '[' exceeded max depth"),
        ("é", "invalid character 'Ã' looking for beginning of value"),
    ],
)
def test_what_is_wrong_with_a_text(text: str, error: str) -> None:
    assert syntax_error(text.encode()) == error

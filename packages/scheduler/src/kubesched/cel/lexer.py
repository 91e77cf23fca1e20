"""The lexer: the text of an expression in, tokens out.

The longest token wins, as in the reference's generated lexer; if no token can begin at a character, the message names
the characters that the lexer looked at before it gave up. Whitespace and comments are dropped.
"""

# upstream: cel-go parser/gen/CEL.g4 (v0.26)

import re
from typing import Final, NamedTuple

from kubesched.cel.source import Problems

END: Final = "<EOF>"
IDENTIFIER: Final = "IDENTIFIER"
ESCAPED_IDENTIFIER: Final = "ESC_IDENTIFIER"
FLOAT: Final = "NUM_FLOAT"
INT: Final = "NUM_INT"
UINT: Final = "NUM_UINT"
STRING: Final = "STRING"
BYTES: Final = "BYTES"
# A keyword's or a symbol's kind is its own text.
KEYWORDS: Final = frozenset({"in", "true", "false", "null"})

_ESCAPE = r"""\\(?:[abfnrtv"'\\?`]|[0-3][0-7]{2}|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"""
_STRING = (
    r'[rR]"""[\s\S]*?"""|[rR]\'\'\'[\s\S]*?\'\'\'|[rR]"[^"\n\r]*"|[rR]\'[^\'\n\r]*\''
    rf'|"""(?:{_ESCAPE}|[^\\])*?"""|\'\'\'(?:{_ESCAPE}|[^\\])*?\'\'\''
    rf'|"(?:{_ESCAPE}|[^\\"\n\r])*"|\'(?:{_ESCAPE}|[^\\\'\n\r])*\''
)
_EXPONENT = r"[eE][+-]?[0-9]+"
_WORD = re.compile(
    r"(?P<skip>[\t \r\n\f]+|//[^\n]*)"
    rf"|(?P<NUM_FLOAT>[0-9]+\.[0-9]+(?:{_EXPONENT})?|[0-9]+{_EXPONENT}|\.[0-9]+(?:{_EXPONENT})?)"
    r"|(?P<NUM_UINT>0x[0-9a-fA-F]+[uU]|[0-9]+[uU])"
    r"|(?P<NUM_INT>0x[0-9a-fA-F]+|[0-9]+)"
    rf"|(?P<BYTES>[bB](?:{_STRING}))"
    rf"|(?P<STRING>{_STRING})"
    r"|(?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<ESC_IDENTIFIER>`[A-Za-z0-9_.\-/ ]+`)"
    r"|(?P<symbol>==|!=|<=|>=|&&|\|\||[<>\[\]{}().,\-!?:+*/%])"
)
# How far the lexer reads a token that turns out to be invalid.
_BROKEN = {
    '"': re.compile(rf'"(?:{_ESCAPE}|[^\\"\n\r])*'),
    "'": re.compile(rf"'(?:{_ESCAPE}|[^\\'\n\r])*"),
    "`": re.compile(r"`[A-Za-z0-9_.\-/ ]*"),
    "=": re.compile("="),
    "&": re.compile("&"),
    "|": re.compile(r"\|"),
}
_BROKEN_ESCAPE = re.compile(r"\\(?:[0-3][0-7]?|[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7})?")


class Token(NamedTuple):
    """A token: its kind, its text and its offset."""

    kind: str
    text: str
    start: int


def tokens_of(text: str, problems: Problems) -> list[Token]:
    """Return the tokens of the text, followed by an end token; invalid characters are reported and skipped."""
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        found = _WORD.match(text, position)
        if found is None:
            seen = _seen(text, position)
            problems.report_syntax(position, f"token recognition error at: '{text[position : seen + 1]}'")
            position = seen + 1
            continue
        kind, word = str(found.lastgroup), found[0]
        if kind != "skip":
            if kind == "symbol" or word in KEYWORDS:
                kind = word
            tokens.append(Token(kind, word, position))
        position = found.end()
    tokens.append(Token(END, END, len(text)))
    return tokens


def _seen(text: str, position: int) -> int:
    """Return the offset of the character at which no token is possible any more."""
    broken = _BROKEN.get(text[position])
    if broken is None:
        return position
    found = broken.match(text, position)
    assert found is not None
    end = found.end()
    escape = _BROKEN_ESCAPE.match(text, end)
    return escape.end() if escape is not None else end

"""The text syntax of label selectors: `a in (x,y),!b,c!=d`.

From text to a `labels.Selector`, or to InvalidSelectorError in the reference's words. Like the reference, the
parser takes keywords as identifiers wherever an identifier may stand (`in in (notin)`).
"""

# upstream: apimachinery/pkg/labels/selector.go (v1.36)

from typing import Final

from kubesched.api import labels
from kubesched.api.field_errors import invalid
from kubesched.api.labels import InvalidSelectorError, Requirement, Selector

_IDENTIFIER: Final = "identifier"
_END: Final = "end"
# Every other token's kind is its own text.
_SYMBOLS = frozenset("=!(),><")
_DOUBLE_SYMBOLS = ("==", "!=")
_KEYWORDS = (labels.IN, labels.NOT_IN)
_WHITESPACE = frozenset(" \t\r\n")
_OPERATOR_TOKENS = {
    "in": labels.IN,
    "notin": labels.NOT_IN,
    "=": labels.EQUALS,
    "==": labels.DOUBLE_EQUALS,
    "!=": labels.NOT_EQUALS,
    ">": labels.GREATER_THAN,
    "<": labels.LESS_THAN,
}

_Token = tuple[str, str]


def parse_selector(text: str) -> Selector:
    """Return the selector that the text stands for, or raise InvalidSelectorError."""
    if not isinstance(text, str):
        raise InvalidSelectorError(f"label selector {text!r}: a selector is a text")
    return labels.selector_of(_Parser(_tokens(text)).requirements())


def _tokens(text: str) -> list[_Token]:
    """Return the (kind, text) tokens, closed by an end token."""
    tokens: list[_Token] = []
    position = 0
    # A NUL character ends the input for the reference's lexer wherever a token could begin.
    while position < len(text) and text[position] != "\0":
        character = text[position]
        if character in _WHITESPACE:
            position += 1
        elif character in _SYMBOLS:
            symbol = text[position : position + 2]
            symbol = symbol if symbol in _DOUBLE_SYMBOLS else character
            tokens.append((symbol, symbol))
            position += len(symbol)
        else:
            start = position
            while position < len(text) and text[position] not in _SYMBOLS and text[position] not in _WHITESPACE:
                if text[position] == "\0":
                    break
                position += 1
            word = text[start:position]
            tokens.append((word if word in _KEYWORDS else _IDENTIFIER, word))
        # ... and is swallowed where it ends one.
        if character not in _WHITESPACE and text[position : position + 1] == "\0":
            position += 1
    return [*tokens, (_END, "")]


class _Parser:
    """Recursive descent over the tokens; every method consumes the tokens that it returns."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._position = 0

    def requirements(self) -> list[Requirement]:
        """Return all requirements, in the order of the text."""
        found: list[Requirement] = []
        while True:
            kind, text = self._peek()
            if kind == _END:
                return found
            if kind not in (_IDENTIFIER, "!"):
                raise InvalidSelectorError(f"found '{text}', expected: !, identifier, or 'end of string'")
            try:
                found.append(self._requirement())
            except InvalidSelectorError as problem:
                raise InvalidSelectorError(f"unable to parse requirement: {problem}") from None
            kind, text = self._take()
            if kind == _END:
                return found
            if kind != ",":
                raise InvalidSelectorError(f"found '{text}', expected: ',' or 'end of string'")
            kind, text = self._peek()
            if kind not in (_IDENTIFIER, "!"):
                raise InvalidSelectorError(f"found '{text}', expected: identifier after ','")

    def _requirement(self) -> Requirement:
        """Return one requirement."""
        kind, key = self._take()
        negated = kind == "!"
        if negated:
            kind, key = self._take()
        if kind != _IDENTIFIER:
            raise InvalidSelectorError(f"found '{key}', expected: identifier")
        if problems := labels.label_key_problems(key):
            raise InvalidSelectorError(invalid("", key, "; ".join(problems)))
        # A key after `!` ends the requirement; the caller checks the next token.
        if negated or self._peek()[0] in (_END, ","):
            return labels.new_requirement(key, labels.DOES_NOT_EXIST if negated else labels.EXISTS, ())
        operator = self._operator()
        values = self._values() if operator in _KEYWORDS else self._exact_value()
        return labels.new_requirement(key, operator, sorted(values))

    def _operator(self) -> str:
        """Return the operator between a key and its values."""
        kind, text = self._take(keywords=True)
        operator = _OPERATOR_TOKENS.get(kind)
        if operator is None:
            raise InvalidSelectorError(f"found '{text}', expected: {', '.join(labels.BINARY_OPERATORS)}")
        return operator

    def _values(self) -> set[str]:
        """Return the values of a bracketed list, in which a missing value is the empty text."""
        kind, text = self._take()
        if kind != "(":
            raise InvalidSelectorError(f"found '{text}' expected: '('")
        kind, text = self._peek()
        if kind == ")":
            self._take()
            return {""}
        if kind not in (_IDENTIFIER, ","):
            raise InvalidSelectorError(f"found '{text}', expected: ',', ')' or identifier")
        values: set[str] = set()
        while True:
            kind, text = self._take()
            after, after_text = self._peek()
            if kind == _IDENTIFIER:
                values.add(text)
                if after not in (",", ")"):
                    raise InvalidSelectorError(f"found '{after_text}', expected: ',' or ')'")
            elif kind == ",":
                if not values or after in (",", ")"):
                    values.add("")
            else:
                raise InvalidSelectorError(f"found '{text}', expected: ',', or identifier")
            if after == ")":
                self._take()
                return values

    def _exact_value(self) -> set[str]:
        """Return the one value after `=`, `!=`, `>` or `<`; a missing value is the empty text."""
        if self._peek()[0] in (_END, ","):
            return {""}
        kind, text = self._take()
        if kind != _IDENTIFIER:
            raise InvalidSelectorError(f"found '{text}', expected: identifier")
        return {text}

    def _peek(self) -> _Token:
        """Return the next token without consuming it, keywords as identifiers."""
        kind, text = self._tokens[self._position]
        return (_IDENTIFIER if kind in _KEYWORDS else kind), text

    def _take(self, keywords: bool = False) -> _Token:
        """Consume and return the next token; keywords count as identifiers unless `keywords` is set. The end stays."""
        token = self._tokens[self._position] if keywords else self._peek()
        if token[0] != _END:
            self._position += 1
        return token

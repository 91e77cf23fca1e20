"""The parser: tokens in, a tree out, with the reference's messages for syntax errors.

Recursive descent over the tokens. Error recovery follows the reference's generated parser: one extraneous token is
dropped, a missing closing bracket is assumed, anything else is reported and skipped up to a token at which an enclosing
rule can continue; nothing more is reported before the next valid token.
"""

# upstream: cel-go parser/{parser,helper}.go, parser/gen/CEL.g4 (v0.26)

from collections.abc import Callable
from typing import Final

from kubesched.cel import lexer
from kubesched.cel.lexer import END, Token, tokens_of
from kubesched.cel.literals import (
    LiteralError,
    bytes_literal,
    double_literal,
    int_literal,
    string_literal,
    uint_literal,
)
from kubesched.cel.macros import MacroError, expand
from kubesched.cel.source import Problems, TooManyErrorsError
from kubesched.cel.syntax import Broken, Call, Entry, Ident, ListNode, Literal, MapNode, Message, Node, Select

_DEEPEST: Final = 250
_LONGEST_TEXT: Final = 100_000
_MOST_ERRORS: Final = 30
RESERVED: Final = frozenset(
    {"as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop"}
    | {"package", "namespace", "null", "return", "true", "var", "void", "while"}
)
# operator -> its precedence, and its function
_BINARY: Final = {
    **{symbol: (1, f"_{symbol}_") for symbol in ("<", "<=", ">=", ">", "==", "!=")},
    "in": (1, "@in"),
    **{symbol: (2, f"_{symbol}_") for symbol in ("+", "-")},
    **{symbol: (3, f"_{symbol}_") for symbol in ("*", "/", "%")},
}
_OPERATORS: Final = frozenset({*_BINARY, "&&", "||", "?"})
_SUFFIXES: Final = frozenset({".", "["})
# In the order in which the reference lists expected tokens.
_ORDER: Final = (
    *("==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":"),
    *("+", "*", "/", "%", "true", "false", "null", lexer.FLOAT, lexer.INT, lexer.UINT, lexer.STRING, lexer.BYTES),
    *(lexer.IDENTIFIER, lexer.ESCAPED_IDENTIFIER),
)
_NAMED_KINDS: Final = frozenset(_ORDER[-7:])
_MEMBER_START: Final = frozenset({"[", "{", "(", ".", "-", "true", "false", "null", *_NAMED_KINDS - {_ORDER[-1]}})
_START: Final = _MEMBER_START | {"!"}


class _TooDeepError(Exception):
    pass


def parse(text: str, problems: Problems) -> Node:
    """Return the tree of a text; it is meaningful only if no problems were reported."""
    if len(text) > _LONGEST_TEXT:
        problems.report(None, f"expression code point size exceeds limit: size: {len(text)}, limit {_LONGEST_TEXT}")
        return Broken(0)
    try:
        return _Parser(text, problems).whole()
    except TooManyErrorsError:
        return Broken(0)
    except (_TooDeepError, RecursionError):
        # differs (D-027): Python's stack can end before the reference's limit; the message is the same
        problems.report(None, f"expression recursion limit exceeded: {_DEEPEST}")
        return Broken(0)


class _Parser:
    """Every method consumes the tokens that it returns."""

    def __init__(self, text: str, problems: Problems) -> None:
        self._text = text
        self._problems = problems
        self._tokens = tokens_of(text, problems)
        self._position = 0
        self._depths = {"expr": 0, "relation": 0, "calc": 0, "member": 0}
        # tokens that may follow the current expression, innermost last
        self._closers: list[frozenset[str]] = [frozenset({END})]
        self._recovering = False
        self._last_error = -1
        self._recoveries = 0

    def whole(self) -> Node:
        """Return the tree of the whole text."""
        node = self._expr()
        if self._kind() != END:
            self._wrong(frozenset({END}), droppable=self._kind(1) == END)
        return node

    # -- expressions, loosest first

    def _expr(self) -> Node:
        self._deepen("expr")
        node = self._logical_or()
        if self._kind() == "?":
            operator = self._take()
            self._closers.append(frozenset({":"}))
            chosen = self._logical_or()
            self._closers.pop()
            self._match(":", _START)
            node = self._called(operator.start, "_?_:_", None, [node, chosen, self._expr()])
        self._depths["expr"] -= 1
        return node

    def _logical_or(self) -> Node:
        terms, operators = [self._logical_and()], []
        while self._kind() == "||":
            operators.append(self._take().start)
            terms.append(self._logical_and())
        return _balanced("_||_", terms, operators)

    def _logical_and(self) -> Node:
        terms, operators = [self._binary(1)], []
        while self._kind() == "&&":
            operators.append(self._take().start)
            terms.append(self._binary(1))
        return _balanced("_&&_", terms, operators)

    def _binary(self, loosest: int) -> Node:
        """Return an operand with the following operators of at least this precedence."""
        depths = self._depths["relation"], self._depths["calc"]
        self._deepen("calc")
        # an operand of a sum or product cannot hold a relation
        if loosest <= 2:
            self._deepen("relation")
        node = self._unary()
        while (found := _BINARY.get(self._kind())) is not None and found[0] >= loosest:
            tightness, function = found
            operator = self._take()
            self._deepen("relation" if tightness == 1 else "calc")
            node = self._called(operator.start, function, None, [node, self._binary(tightness + 1)])
        self._depths["relation"], self._depths["calc"] = depths
        return node

    def _unary(self) -> Node:
        if self._kind() not in _START and not self._drop(_START):
            return Broken(self._here())
        sign = self._kind()
        if sign not in ("!", "-") or (sign == "-" and self._kind(1) in (lexer.INT, lexer.FLOAT)):
            return self._member()
        first = self._take()
        count = 1
        while self._kind() == sign and not (sign == "-" and self._kind(1) in (lexer.INT, lexer.FLOAT)):
            self._take()
            count += 1
        # `--1` is the operator twice, then 1
        if sign == "-" and self._kind() == "-":
            self._take()
            count += 1
        if self._kind() not in _MEMBER_START and not self._drop(_MEMBER_START):
            return Broken(self._here())
        node = self._member()
        return node if count % 2 == 0 else self._called(first.start, "!_" if sign == "!" else "-_", None, [node])

    def _member(self) -> Node:
        depth = self._deepen("member")
        node = self._primary()
        while self._kind() in _SUFFIXES:
            self._deepen("member")
            node = self._selected(node) if self._kind() == "." else self._indexed(node)
        self._depths["member"] = depth
        return node

    def _selected(self, operand: Node) -> Node:
        following = self._kind(1)
        if following not in (lexer.IDENTIFIER, lexer.ESCAPED_IDENTIFIER, "?"):
            return self._no_alternative()
        dot = self._take()
        optional = self._kind() == "?"
        if optional:
            self._take()
            if self._kind() not in (lexer.IDENTIFIER, lexer.ESCAPED_IDENTIFIER):
                self._wrong(frozenset({lexer.IDENTIFIER, lexer.ESCAPED_IDENTIFIER}), droppable=False)
                return Broken(dot.start)
        name = self._take()
        if name.kind == lexer.ESCAPED_IDENTIFIER:
            self._problems.report(name.start, "unsupported syntax: '`'")
        if optional:
            return Call(dot.start, "_?._", None, [operand, Literal(name.start, name.text)])
        if self._kind() == "(" and name.kind == lexer.IDENTIFIER:
            bracket = self._take()
            return self._called(bracket.start, name.text, operand, self._arguments())
        return Select(dot.start, operand, name.text)

    def _no_alternative(self) -> Node:
        """Report two tokens with which no expression begins."""
        first, wrong = self._tokens[self._position], self._tokens[self._position + 1]
        end = wrong.start if wrong.kind == END else wrong.start + len(wrong.text)
        seen = _escaped(self._text[first.start : end])
        message = f"no viable alternative at input '{seen}'"
        if first.kind == "." and seen[1:] in ("true", "false", "null"):
            message = f"mismatched input '{seen[1:]}' expecting IDENTIFIER"
        self._position += 1
        self._report(wrong, message)
        self._recover()
        return Broken(first.start)

    def _indexed(self, operand: Node) -> Node:
        bracket = self._take()
        optional = self._kind() == "?"
        if optional:
            self._take()
        self._closers.append(frozenset({"]"}))
        index = self._expr()
        self._closers.pop()
        self._match("]", self._after_primary())
        return self._called(bracket.start, "_[?_]" if optional else "_[_]", None, [operand, index])

    # -- primaries

    def _primary(self) -> Node:
        kind = self._kind()
        if kind in (".", lexer.IDENTIFIER):
            return self._named()
        if kind == "(":
            self._take()
            self._closers.append(frozenset({")"}))
            node = self._expr()
            self._closers.pop()
            self._match(")", self._after_primary())
            return node
        if kind == "[":
            return self._list()
        if kind == "{":
            bracket = self._take()
            return MapNode(bracket.start, self._entries(self._optional_expr))
        return self._literal()

    def _named(self) -> Node:
        start = self._here()
        dot = ""
        if self._kind() == ".":
            dot = self._take().text
            if self._kind() != lexer.IDENTIFIER:
                self._wrong(frozenset({lexer.IDENTIFIER}), droppable=self._kind(1) == lexer.IDENTIFIER)
                return Broken(start)
        if self._begins_message():
            return self._message(dot)
        name = self._take()
        if name.text in RESERVED:
            self._problems.report(start, f"reserved identifier: {name.text}")
        if self._kind() == "(":
            bracket = self._take()
            return self._called(bracket.start, dot + name.text, None, self._arguments())
        return Ident(name.start, dot + name.text)

    def _begins_message(self) -> bool:
        ahead = 1
        while self._kind(ahead) == "." and self._kind(ahead + 1) == lexer.IDENTIFIER:
            ahead += 2
        return self._kind(ahead) == "{"

    def _message(self, dot: str) -> Node:
        names = [self._take().text]
        while self._kind() == ".":
            self._take()
            names.append(self._take().text)
        bracket = self._take()
        return Message(bracket.start, dot + ".".join(names), self._entries(self._field))

    def _field(self) -> tuple[bool, Node]:
        optional = self._kind() == "?"
        if optional:
            self._take()
        if self._kind() not in (lexer.IDENTIFIER, lexer.ESCAPED_IDENTIFIER):
            self._wrong(frozenset({lexer.IDENTIFIER, lexer.ESCAPED_IDENTIFIER}), droppable=False)
            return optional, Broken(self._here())
        name = self._take()
        return optional, Literal(name.start, name.text)

    def _optional_expr(self) -> tuple[bool, Node]:
        optional = self._kind() == "?"
        if optional:
            self._take()
        return optional, self._expr()

    def _arguments(self) -> list[Node]:
        found: list[Node] = []
        if self._kind() != ")":
            self._closers.append(frozenset({")", ","}))
            found.append(self._expr())
            while self._kind() == ",":
                self._take()
                found.append(self._expr())
            self._closers.pop()
        self._match(")", self._after_primary())
        return found

    def _list(self) -> Node:
        bracket = self._take()
        elements: list[Node] = []
        optional: set[int] = set()
        self._closers.append(frozenset({"]", ","}))
        while self._kind() not in ("]", END):
            is_optional, element = self._optional_expr()
            if is_optional:
                optional.add(len(elements))
            elements.append(element)
            if not self._separated("]"):
                break
        self._closers.pop()
        self._match("]", self._after_primary())
        return ListNode(bracket.start, elements, frozenset(optional))

    def _entries(self, key_of: Callable[[], tuple[bool, Node]]) -> list[Entry]:
        entries: list[Entry] = []
        self._closers.append(frozenset({"}", ",", ":"}))
        while self._kind() not in ("}", END):
            optional, key = key_of()
            colon = self._here()
            self._match(":", _START)
            entries.append(Entry(colon, key, self._expr(), optional))
            if not self._separated("}"):
                break
        self._closers.pop()
        self._match("}", self._after_primary())
        return entries

    def _separated(self, closer: str) -> bool:
        """Return whether another element may follow; a comma before the closing bracket is allowed."""
        expected = frozenset({closer, ","})
        if self._kind() not in expected and not self._drop(expected):
            return False
        if self._kind() != ",":
            return False
        self._take()
        return True

    def _literal(self) -> Node:
        start = self._here()
        negative = self._kind() == "-"
        if negative:
            if self._kind(1) not in (lexer.INT, lexer.FLOAT):
                return self._no_alternative()
            self._take()
        token = self._take()
        try:
            return Literal(start, _value_of(token, negative=negative))
        except LiteralError as error:
            self._problems.report(start, str(error))
            return Broken(start)

    def _called(self, offset: int, function: str, target: Node | None, args: list[Node]) -> Node:
        try:
            expanded = expand(offset, function, target, args)
        except MacroError as error:
            self._problems.report(error.offset, str(error))
            return Broken(offset)
        return Call(offset, function, target, args) if expanded is None else expanded

    # -- tokens

    def _kind(self, ahead: int = 0) -> str:
        position = min(self._position + ahead, len(self._tokens) - 1)
        return self._tokens[position].kind

    def _here(self) -> int:
        return self._tokens[self._position].start

    def _take(self) -> Token:
        token = self._tokens[self._position]
        if token.kind != END:
            self._position += 1
        self._recovering = False
        return token

    def _match(self, kind: str, following: frozenset[str]) -> None:
        """Consume a token of a kind; if it is missing before a token that may follow it, report that and go on."""
        if self._kind() == kind:
            self._take()
        elif self._kind(1) != kind and self._kind() in following:
            self._report(self._tokens[self._position], f"missing '{kind}' at {self._shown_token()}")
        else:
            self._wrong(frozenset({kind}), droppable=self._kind(1) == kind)
            if self._kind() == kind:
                self._take()

    def _drop(self, expected: frozenset[str]) -> bool:
        """Drop an extraneous token; return whether an expected one comes next."""
        self._wrong(expected, droppable=self._kind(1) in expected)
        return self._kind() in expected and not self._recovering

    def _wrong(self, expected: frozenset[str], *, droppable: bool) -> None:
        """Report the current token; drop it, or skip up to a token at which an enclosing rule can continue."""
        token = self._tokens[self._position]
        word = "extraneous" if droppable and not self._recovering else "mismatched"
        self._report(token, f"{word} input {self._shown_token()} expecting {_shown_kinds(expected)}")
        if word == "extraneous":
            self._take()
        else:
            self._recover()

    def _report(self, token: Token, message: str) -> None:
        if not self._recovering:
            self._problems.report_syntax(token.start, message)
        self._recovering = True

    def _recover(self) -> None:
        self._recoveries += 1
        if self._recoveries > _MOST_ERRORS:
            self._position = len(self._tokens) - 1
        if self._position == self._last_error and self._kind() != END:
            self._position += 1
        self._last_error = self._position
        goals = _OPERATORS.union(*self._closers)
        while self._kind() not in goals and self._kind() != END:
            self._position += 1

    def _after_primary(self) -> frozenset[str]:
        return self._closers[-1] | _OPERATORS | _SUFFIXES

    def _deepen(self, rule: str) -> int:
        """Enter a rule once more; return its depth before."""
        depth = self._depths[rule]
        if depth >= _DEEPEST:
            raise _TooDeepError
        self._depths[rule] = depth + 1
        return depth

    def _shown_token(self) -> str:
        token = self._tokens[self._position]
        return "'<EOF>'" if token.kind == END else f"'{_escaped(token.text)}'"


def _value_of(token: Token, *, negative: bool) -> object:
    match token.kind:
        case lexer.INT:
            return int_literal(token.text, negative=negative)
        case lexer.FLOAT:
            return double_literal(token.text, negative=negative)
        case lexer.UINT:
            return uint_literal(token.text)
        case lexer.STRING:
            return string_literal(token.text)
        case lexer.BYTES:
            return bytes_literal(token.text)
    return {"true": True, "false": False, "null": None}[token.kind]


def _balanced(function: str, terms: list[Node], operators: list[int]) -> Node:
    """Return a chain of logical operators as a tree of least depth."""

    def tree(low: int, high: int) -> Node:
        middle = (low + high + 1) // 2
        left = terms[middle] if middle == low else tree(low, middle - 1)
        right = terms[middle + 1] if middle == high else tree(middle + 1, high)
        return Call(operators[middle], function, None, [left, right])

    return terms[0] if not operators else tree(0, len(operators) - 1)


def _escaped(text: str) -> str:
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def _shown_kinds(kinds: frozenset[str]) -> str:
    if kinds == {END}:
        return END
    shown = [kind if kind in _NAMED_KINDS else f"'{kind}'" for kind in _ORDER if kind in kinds]
    return shown[0] if len(shown) == 1 else f"{{{', '.join(shown)}}}"

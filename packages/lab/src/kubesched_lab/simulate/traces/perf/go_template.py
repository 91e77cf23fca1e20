"""The part of Go text templates that scheduler_perf uses: fields, functions of numbers, parentheses.

    metadata:
      name: claim-{{ .Index }}
    memory: {{ DivideInt 30000 .Count }}Mi

From a text and values to a text. Other parts of Go's template language are errors that name the file and the line.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from math import fmod

from kubesched_lab.simulate.errors import TraceError

Number = int | float
Value = int | float | str

_ACTION = re.compile(r"\{\{(?P<trim>- )?(?P<inside>.*?)(?P<end> -)?\}\}", re.DOTALL)
_TOKEN = re.compile(
    r'\s*(?:(?P<word>[A-Za-z_]\w*|\.\w+|[-+]?\d+(?:\.\d+)?)|(?P<text>"[^"\\]*"|`[^`]*`)|(?P<sign>[()|]))'
)


def _product(*numbers: float) -> float:
    product = 1.0
    for number in numbers:
        product *= number
    return product


# upstream: test/integration/scheduler_perf/operations.go (v1.36): all count in float64
_FUNCTIONS: dict[str, tuple[Callable[..., float], type[int] | type[float]]] = {
    "AddFloat": (lambda *numbers: sum(numbers), float),
    "AddInt": (lambda *numbers: sum(numbers), int),
    "DivideFloat": (lambda a, b: a / b, float),
    "DivideInt": (lambda a, b: a / b, int),
    "Mod": (lambda a, b: fmod(int(a), int(b)), int),
    "MultiplyFloat": (_product, float),
    "MultiplyInt": (_product, int),
    "SubtractFloat": (lambda a, b: a - b, float),
    "SubtractInt": (lambda a, b: a - b, int),
}


class GoTemplate:
    """A template; `constant` if its text is the same for all values."""

    def __init__(self, text: str, name: str) -> None:
        self._name = name
        # texts, with an action and its line between two texts
        self._texts: list[str] = []
        self._actions: list[tuple[int, list[str]]] = []
        end = 0
        for action in _ACTION.finditer(text):
            before = text[end : action.start()]
            self._texts.append(before.rstrip() if action["trim"] else before)
            line = text.count("\n", 0, action.start()) + 1
            self._actions.append((line, list(self._tokens(action["inside"], line))))
            end = action.end()
            if action["end"]:
                end += len(text[end:]) - len(text[end:].lstrip())
        self._texts.append(text[end:])
        if "{{" in "".join(self._texts):
            line = text.count("\n", 0, text.rindex("{{")) + 1
            raise TraceError(f"{name}, line {line}: {{{{ without }}}}")

    @property
    def constant(self) -> bool:
        """Return whether the template has no actions."""
        return not self._actions

    def filled(self, **values: Value) -> str:
        """Return the text with values filled in; raises TraceError."""
        parts = [self._texts[0]]
        for (line, tokens), text in zip(self._actions, self._texts[1:], strict=True):
            value = _Reader(tokens, values, f"{self._name}, line {line}").pipeline()
            parts += [f"{value:g}" if isinstance(value, float) else str(value), text]
        return "".join(parts)

    def _tokens(self, inside: str, line: int) -> Iterator[str]:
        place = 0
        inside = inside.rstrip()
        while place < len(inside):
            token = _TOKEN.match(inside, place)
            if token is None:
                raise TraceError(
                    f"{self._name}, line {line}: {{{{{inside}}}}} is not understood; "
                    f"templates have .Index, .Count and {', '.join(_FUNCTIONS)}"
                )
            yield token[0].strip()
            place = token.end()


class _Reader:
    """Evaluates the tokens of one action."""

    def __init__(self, tokens: list[str], values: Mapping[str, Value], where: str) -> None:
        self._tokens = tokens
        self._values = values
        self._where = where
        self._place = 0

    def pipeline(self) -> Value:
        """Return the value of all tokens; the result of a command is the last argument of the next."""
        if not self._tokens:
            raise self._wrong("is empty")
        value = self._command(())
        while self._next() == "|":
            self._place += 1
            value = self._command((value,))
        if self._next():
            raise self._wrong(f"continues after its end with {self._next()}")
        return value

    def _command(self, last: tuple[Value, ...]) -> Value:
        operands: list[Value | str] = []
        function = ""
        if self._next() in _FUNCTIONS:
            function = self._taken()
        while self._next() not in ("", ")", "|"):
            operands.append(self._operand())
        if function:
            return self._call(function, [*operands, *last])
        if len(operands) != 1 or last:
            raise self._wrong(f"is not understood; functions are {', '.join(_FUNCTIONS)}")
        return operands[0]

    def _operand(self) -> Value:
        token = self._taken()
        if token == "(":
            value = self._command(())
            if self._next() != ")":
                raise self._wrong("has ( without )")
            self._place += 1
            return value
        if token[0] == ".":
            if token[1:] not in self._values:
                raise self._wrong(f"has {token}; fields are {', '.join('.' + name for name in self._values)}")
            return self._values[token[1:]]
        if token[0] in '"`':
            return token[1:-1]
        try:
            return float(token) if "." in token else int(token)
        except ValueError:
            raise self._wrong(f"has {token}; functions are {', '.join(_FUNCTIONS)}") from None

    def _call(self, function: str, operands: list[Value]) -> Number:
        call, kind = _FUNCTIONS[function]
        try:
            return kind(call(*(float(operand) for operand in operands)))
        except ZeroDivisionError:
            # the message differs between versions of Python
            raise self._wrong("cannot be computed: division by zero") from None
        except (TypeError, ValueError, ArithmeticError) as error:
            raise self._wrong(f"cannot be computed: {error}") from None

    def _next(self) -> str:
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def _taken(self) -> str:
        self._place += 1
        return self._tokens[self._place - 1]

    def _wrong(self, why: str) -> TraceError:
        return TraceError(f"{self._where}: {{{{{' '.join(self._tokens)}}}}} {why}")

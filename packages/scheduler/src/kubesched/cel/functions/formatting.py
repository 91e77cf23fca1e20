"""`'%s has %d'.format([name, count])`: a text with clauses and values in, a text out.

The same reader of clauses serves the compiler, which checks constant texts against the types of their arguments.
"""

# upstream: cel-go ext/formatting.go (v0.26)

from collections.abc import Callable
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Context, Decimal
from typing import Any, Final

from kubesched.api.go_text import quote
from kubesched.cel.errors import CelAbortError, CelValueError
from kubesched.cel.functions.conversions import to_string
from kubesched.cel.types import Type
from kubesched.cel.values import CelMap, Duration, Timestamp, Uint, type_of

_DEFAULT_PRECISION: Final = 6
_WIDEST: Final = 1000
# enough digits for any double before the point, and for the highest precision after it
_WIDE: Final = Context(prec=_WIDEST + 400)

_STRING_RULE: Final = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and"
    " timestamps, was given "
)
_RULES: Final = {
    "s": _STRING_RULE,
    "d": "decimal clause can only be used on integers, was given ",
    "f": "fixed-point clause can only be used on doubles, was given ",
    "e": "scientific clause can only be used on doubles, was given ",
    "b": "only integers and bools can be formatted as binary, was given ",
    "x": "only integers, byte buffers, and strings can be formatted as hex, was given ",
    "o": "octal clause can only be used on integers, was given ",
}
# Kinds of types that a clause accepts; types that are only known at run time are always accepted.
CLAUSE_KINDS: Final = {
    "s": ["list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null"],
    "d": ["int", "uint"],
    "f": ["double", "string"],
    "e": ["double", "string"],
    "b": ["int", "uint", "bool"],
    "x": ["int", "uint", "string", "bytes"],
    "o": ["int", "uint"],
}


class ClauseError(ValueError):
    """A clause that cannot be parsed or applied; `index` is the index of the invalid argument, if there is one."""

    def __init__(self, message: str, index: int | None = None) -> None:
        super().__init__(message)
        self.index = index


def clause_rule(clause: str, given: str) -> str:
    """Return the error text for an argument of the wrong type."""
    return f"error during formatting: {_RULES[clause.lower()]}{given}"


Write = Callable[[str, int | None, int], str]


def read_clauses(text: str, count: int, write: Write) -> str:
    """Return the text with clauses replaced; `write` gets letter, precision and index of the argument."""
    parts: list[str] = []
    position = index = 0
    while (start := text.find("%", position)) >= 0:
        parts.append(text[position:start])
        if text.startswith("%%", start):
            parts.append("%")
            position = start + 2
            continue
        if start + 1 >= len(text):
            raise ClauseError("unexpected end of string" if index < count else f"index {index} out of range")
        if index >= count:
            raise ClauseError(f"index {index} out of range")
        letter, precision, position = _clause(text, start + 1)
        parts.append(write(letter, precision, index))
        index += 1
    return "".join([*parts, text[position:]])


def _clause(text: str, position: int) -> tuple[str, int | None, int]:
    """Return letter and precision of a clause, and where it ends."""
    words = "could not parse formatting clause: "
    precision: int | None = None
    if text[position] == ".":
        start = position = position + 1
        while position < len(text) and text[position] in "0123456789":
            position += 1
        if position >= len(text):
            raise ClauseError(f"{words}error while parsing precision: could not find end of precision specifier")
        digits = text[start:position]
        if not digits or len(digits) > 18:
            reason = "invalid syntax" if not digits else "value out of range"
            problem = f"error while converting precision to integer: strconv.Atoi: parsing {quote(digits)}: {reason}"
            raise ClauseError(f"{words}error while parsing precision: {problem}")
        precision = int(digits)
    letter = text[position]
    if letter.lower() not in _RULES or (letter.isupper() and letter != "X"):
        raise ClauseError(f'{words}unrecognized formatting clause "{letter}"')
    return letter, precision, position + 1


def format_text(text: str, values: list[Any]) -> str:
    """Return the text with its clauses replaced by the values."""
    try:
        return read_clauses(text, len(values), lambda *clause: _written(values[clause[2]], clause[0], clause[1]))
    except ClauseError as error:
        raise CelValueError(str(error)) from None


def _written(value: Any, letter: str, precision: int | None) -> str:
    kind = type(value)
    known = type_of(value)
    if known.kind not in CLAUSE_KINDS[letter.lower()]:
        raise ClauseError(clause_rule(letter, known.name))
    match letter:
        case "s":
            return _string(value)
        case "f" | "e":
            return _real(value, letter, precision)
        case "d":
            return str(int(value))
        case "b":
            return format(int(value), "b")
        case "o":
            return format(int(value), "o")
    if kind is int or kind is Uint:
        return format(int(value), letter)
    octets: bytes = value if kind is bytes else value.encode()
    return octets.hex() if letter == "x" else octets.hex().upper()


def _real(value: Any, letter: str, precision: int | None) -> str:
    if type(value) is str and value not in ("NaN", "Infinity", "-Infinity"):
        raise ClauseError(clause_rule(letter, "string"))
    number = float(value)
    if number != number or number in (float("inf"), float("-inf")):
        return "NaN" if number != number else "\u221e" if number > 0 else "-\u221e"
    if letter == "e":
        # differs (D-029): the reference writes powers of ten in the form of a locale
        raise CelAbortError("kubesched does not write numbers in scientific notation: %e")
    places = _DEFAULT_PRECISION if precision is None else precision
    if places > _WIDEST:
        raise CelAbortError(f"kubesched does not write more than {_WIDEST} decimal places")
    exact = Decimal(repr(number))
    step = Decimal(1).scaleb(-places)
    up, down = exact.quantize(step, ROUND_HALF_UP, _WIDE), exact.quantize(step, ROUND_HALF_DOWN, _WIDE)
    if up != down:
        # differs (D-029): the reference rounds by digits that the shortest form does not contain
        raise CelAbortError(f"kubesched does not round a number half way between two: {exact}")
    return format(up, ",f")


def _string(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_nested, value))}]"
    if type(value) is CelMap:
        return f"{{{', '.join(sorted(f'{_key(key)}:{_nested(inner)}' for key, inner in value.items()))}}}"
    return "null" if value is None else to_string(value)


def _key(key: Any) -> str:
    if type(key) not in (str, bool, int, Uint):
        raise ClauseError(f"error during formatting: no formatting function for map key of type {type_of(key).name}")
    return quote(key) if type(key) is str else to_string(key)


def _nested(value: Any) -> str:
    """Return a value inside a list or map, written as in an expression."""
    match value:
        case str():
            return quote(value)
        case bytes():
            return f"b{quote(to_string(value))}"
        case bool() | int() | None | list() | CelMap() | Type():
            return _string(value)
        case float():
            return _nested_double(value)
        case Timestamp():
            return f"timestamp({quote(to_string(value))})"
        case Duration():
            return f"duration({quote(to_string(value))})"
    raise ClauseError(f"error during formatting: no formatting function for {type_of(value).name}")


def _nested_double(value: float) -> str:
    if value != value:
        return '"NaN"'
    if value in (float("inf"), float("-inf")):
        return '"+Inf"' if value > 0 else '"-Inf"'
    return f"{value:.{_DEFAULT_PRECISION}f}"

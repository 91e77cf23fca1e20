"""Write the JSON form of answers into a document: `python -m tools.answer_forms docs/reference/answers.md`.

Each dataclass of an answer becomes a section: the first sentence of its docstring, and a table of its fields in JSON.
The sections replace the text between two comments of the document.
"""

import dataclasses
import re
import sys
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from kubesched.reports.answers import Answer, camel
from kubesched_answers.reports.answer_reports import ANSWERS

BEGIN, END = "<!-- answers: make docs -->\n", "<!-- end of answers -->\n"
# answers, and the records of decisions in them
Value = type[Answer] | type[msgspec.Struct]
_PLAIN = {str: "text", int: "number", float: "number", bool: "true or false", datetime: "time", Any: "any"}


def answer_sections() -> str:
    """Return a section for each answer and each value in it."""
    return "\n" + "\n".join(map(section_of, _kinds())) + "\n"


def section_of(kind: Value) -> str:
    """Return the heading of a value, its sentence and the table of its fields."""
    rows = [f"| `{name}` | {_form(hint)} |" for name, hint in _hints(kind).items()]
    lines = [f"### {kind.__name__}", "", f"{_sentence(kind)}.", "", "| field | type |", "|---|---|", *rows]
    return "\n".join([*lines, ""])


def _kinds() -> list[Value]:
    """Return the answers, each before the values that occur in it first."""
    found: dict[Value, None] = {}

    def visit(kind: Value) -> None:
        if kind not in found:
            found[kind] = None
            for hint in _hints(kind).values():
                for part in _values_in(hint):
                    visit(part)

    for kind in ANSWERS:
        visit(kind)
    return list(found)


def _hints(kind: Value) -> dict[str, Any]:
    """Return the types of fields by their names in JSON; optional fields of records are left out if they are empty."""
    hints = typing.get_type_hints(kind)
    if issubclass(kind, msgspec.Struct):
        fields = msgspec.structs.fields(kind)
        return {each.encode_name: hints[each.name] if each.required else hints[each.name] | None for each in fields}
    return {camel(field.name): hints[field.name] for field in dataclasses.fields(kind)}


def _values_in(hint: Any) -> Iterator[Value]:
    if isinstance(hint, type) and issubclass(hint, Answer | msgspec.Struct):
        yield hint
    for part in typing.get_args(hint):
        yield from _values_in(part)


def _form(hint: Any) -> str:
    origin, parts = typing.get_origin(hint), [part for part in typing.get_args(hint) if part is not type(None)]
    if origin in (typing.Union, types.UnionType):
        optional = len(parts) < len(typing.get_args(hint))
        return " or ".join(map(_form, parts)) + (" (optional)" if optional else "")
    if origin in (tuple, list, Sequence):
        return f"list of {_form(parts[0])}"
    if origin in (dict, Mapping):
        return f"map of {_form(parts[0])} to {_form(parts[1])}"
    return _PLAIN.get(hint) or f"[{hint.__name__}](#{hint.__name__.lower()})"


def _sentence(kind: Value) -> str:
    """Return the first sentence of a docstring."""
    text = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
    return re.split(r"(?<=\.)\s", text)[0].rstrip(".").replace("|", "\\|")


def written(text: str) -> str:
    """Return a document with the current sections."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the document has no place for the answers: {BEGIN.strip()} ... {END.strip()}")
    return f"{before}{begin}{answer_sections()}{end}{after}"


if __name__ == "__main__":
    document = Path(sys.argv[1])
    document.write_text(written(document.read_text()))

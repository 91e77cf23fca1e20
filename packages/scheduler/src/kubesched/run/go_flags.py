"""Flags in the forms of Go programs: `--flag=value`, `--flag value`, bare booleans, `-v=2`, in groups with help.

From a command line to values by name. Errors are `FlagError`s with the messages of kube-scheduler.
"""

# upstream: github.com/spf13/pflag, component-base/cli/flag (v1.36)

import ipaddress
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from kubesched.api.go_text import quote
from kubesched.api.quantity import parse_quantity
from kubesched.config.golang import Duration, parse_bool, parse_duration
from kubesched.errors import KubeschedError
from kubesched.run.versions import parse_version

Value = Any


class FlagError(KubeschedError):
    """An invalid command line."""


class Flag(msgspec.Struct, frozen=True):
    """One flag; `kind` is the type of its value, `default` a text as on the command line."""

    name: str
    kind: str
    help: str
    default: str = ""
    short: str = ""
    deprecated: str = ""


class FlagGroup(msgspec.Struct, frozen=True):
    """Flags under one heading."""

    name: str
    flags: tuple[Flag, ...]


class ParsedFlags(msgspec.Struct):
    """The values of all flags, and which of them were on the command line."""

    values: dict[str, Value]
    named: set[str]

    def __getitem__(self, name: str) -> Value:
        return self.values[name]


def parse_flags(groups: Sequence[FlagGroup], arguments: Sequence[str], program: str) -> ParsedFlags:
    """Return the values of all flags for a command line."""
    flags = {flag.name: flag for group in groups for flag in group.flags}
    shorts = {flag.short: flag for flag in flags.values() if flag.short}
    given = ParsedFlags({name: _parsed(flag, flag.default) for name, flag in flags.items()}, set())
    stray: list[str] = []
    left = list(arguments)
    while left:
        argument = left.pop(0)
        if argument == "--":
            stray += left
            break
        if argument.startswith("--"):
            name, equals, text = argument[2:].partition("=")
            flag = flags.get(name.replace("_", "-"))
            if not name or flag is None:
                raise FlagError(f"unknown flag: --{name}" if name else f"bad flag syntax: {argument}")
            shown = f"--{flag.name}"
        elif argument.startswith("-") and len(argument) > 1:
            flag = shorts.get(argument[1])
            if flag is None:
                raise FlagError(f"unknown shorthand flag: {quote(argument[1])[1:-1]!r} in {argument}")
            text = argument[2:].removeprefix("=")
            equals, shown = ("=" if argument[2:] else ""), f"-{flag.short}, --{flag.name}"
        else:
            stray.append(argument)
            continue
        if not equals:
            if flag.kind in _BARE:
                text = _BARE[flag.kind]
            elif left:
                text = left.pop(0)
            else:
                raise FlagError(f"flag needs an argument: {argument}")
        _take(given, flag, text, shown)
    if any(stray):
        shown = " ".join(quote(argument) for argument in stray)
        raise FlagError(f"{quote(program)} does not take any arguments, got [{shown}]")
    return given


def _take(given: ParsedFlags, flag: Flag, text: str, shown: str) -> None:
    try:
        value = _parsed(flag, text)
    except ValueError as error:
        raise FlagError(f'invalid argument {quote(text)} for "{shown}" flag: {error}') from None
    known = given.values[flag.name]
    if flag.name in given.named and isinstance(known, list):
        value = known + value
    elif flag.name in given.named and isinstance(known, dict):
        value = {**known, **value}
    given.values[flag.name] = value
    given.named.add(flag.name)


# -- values

_BARE = {"bool": "true", "version": "true"}


def _bool(text: str) -> bool:
    return bool(text) and parse_bool(text)


def _whole(bits: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        try:
            value = int(text, 0) if text else 0
        except ValueError:
            raise ValueError(f"strconv.ParseInt: parsing {quote(text)}: invalid syntax") from None
        if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            raise ValueError(f"strconv.ParseInt: parsing {quote(text)}: value out of range")
        return value

    return parse


def _float(text: str) -> float:
    try:
        return float(text) if text else 0.0
    except ValueError:
        raise ValueError(f"strconv.ParseFloat: parsing {quote(text)}: invalid syntax") from None


def _duration(text: str) -> Duration:
    return parse_duration(text) if text else Duration()


def _texts(text: str) -> list[str]:
    inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    return inner.split(",") if inner else []


def _whole_texts(text: str) -> list[str]:
    """Return the text as a list of one, commas included; the flag may be given several times."""
    return [] if text in ("", "[]") else [text]


def _numbers(text: str) -> list[int]:
    return [_whole(32)(part) for part in _texts(text)]


def _pairs(text: str) -> dict[str, str]:
    pairs = {}
    # a single pair may have commas on both sides
    for part in [text] if text.count("=") == 1 else _texts(text):
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"{part} must be formatted as key=value")
        pairs[key.strip()] = value.strip()
    return pairs


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text)) if text else ""
    except ValueError:
        raise ValueError(f"failed to parse IP: {quote(text)}") from None


def _quantity(text: str) -> str:
    if text:
        parse_quantity(text)
    return text


_KINDS: Mapping[str, Callable[[str], Value]] = {
    "string": str,
    "bool": _bool,
    "int": _whole(64),
    "int32": _whole(32),
    "Level": _whole(32),
    "float32": _float,
    "duration": _duration,
    "strings": _texts,
    "int32Slice": _numbers,
    "namedCertKey": _whole_texts,
    "stringToString": _pairs,
    "colonSeparatedMultimapStringString": _pairs,
    "ip": _address,
    "quantity": _quantity,
    "version": parse_version,
    "pattern=N,...": str,
}


def _parsed(flag: Flag, text: str) -> Value:
    try:
        return _KINDS[flag.kind](text)
    except KubeschedError as error:
        raise ValueError(str(error)) from None


# -- help


def help_text(program: str, purpose: str, groups: Iterable[FlagGroup], width: int = 100) -> str:
    """Return the text of --help."""
    lines = [purpose, "", "Usage:", f"  {program} [flags]"]
    for group in groups:
        lines += ["", f"{group.name} flags:", ""]
        starts = [_start(flag) for flag in group.flags]
        column = max(map(len, starts)) + 3
        for start, flag in zip(starts, group.flags, strict=True):
            lines += _entry(start, column, flag, width)
    return "\n".join(lines) + "\n"


def _start(flag: Flag) -> str:
    short = f"-{flag.short}, " if flag.short else "    "
    kind = "" if flag.kind == "bool" else f" {'version[=true]' if flag.kind == 'version' else flag.kind}"
    return f"  {short}--{flag.name}{kind}"


def described_flag(flag: Flag) -> tuple[str, str]:
    """Return the notation of a flag, and its help."""
    text = f"DEPRECATED: {flag.help}" if flag.deprecated else flag.help
    if flag.default and flag.default not in ("false", "[]"):
        shown = f'"{flag.default}"' if flag.kind == "string" else flag.default
        text += f" (default {shown})"
    return _start(flag).strip(), text


def _entry(start: str, column: int, flag: Flag, width: int) -> list[str]:
    _, text = described_flag(flag)
    lines, line = [], start.ljust(column)
    for word in text.split():
        if len(line) + len(word) > max(width, column + 40) and line.strip() != start.strip():
            lines.append(line.rstrip())
            line = " " * column
        line += f"{word} "
    return [*lines, line.rstrip()]

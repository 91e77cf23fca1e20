"""Flags, from the help text of kube-scheduler (`kube-scheduler --help > FILE`, then `HELP=FILE`)."""

import re
from typing import Any

from kubesched.run.flags import GROUPS
from tools.upstream.report import Section, differences

_HEADING = re.compile(r"^(\S.*) flags:$")
_FLAG = re.compile(r"^ +(?:-(\w), )?--([\w-]+)(?: ([\w,=:]+|<[^>]*>))?(?:\[=\S+\])?(?:  +(.*)|$)")
_DEFAULT = re.compile(r"\(default (.*)\)$")
_GATE = re.compile(r"^ +(?:kube:)?(\w+)=true\|false", re.MULTILINE)
_OWN_GROUPS = ("Watchdog", "Records", "Legacy (v1.21 and earlier)")
_OWN = ("plugin",)


def compare(text: str) -> Section:
    """Compare the flags of a help text with ours: groups, types, defaults, short names."""
    theirs = flags_of(text)
    ours = {
        flag.name: {
            "group": group.name.lower(),
            "type": flag.kind,
            "short": flag.short,
            "default": _normal(flag.default, flag.kind),
        }
        for group in GROUPS
        if group.name not in _OWN_GROUPS
        for flag in group.flags
        if flag.name not in _OWN
    }
    return Section("flags", len(ours), list(differences(ours, theirs)))


def flags_of(text: str) -> dict[str, dict[str, Any]]:
    """Return the facts about every flag in a help text."""
    found: dict[str, dict[str, Any]] = {}
    group = name = ""
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            group = heading[1].lower()
        elif flag := _FLAG.match(line):
            short, name, kind, rest = flag.groups()
            default = _DEFAULT.search(rest or "")
            kind = (kind or "bool").strip("<>")
            found[name] = {
                "group": group,
                "type": kind,
                "short": short or "",
                "default": _normal(default[1] if default else "", kind),
            }
        elif name and (default := _DEFAULT.search(line)):
            # a description may take several lines
            found[name]["default"] = _normal(default[1], found[name]["type"])
    return found


def gates_of(text: str) -> set[str]:
    """Return the names of all feature gates in a help text."""
    return set(_GATE.findall(text))


def _normal(default: str, kind: str) -> str:
    """Return a default as it can be compared: a zero is not written."""
    text = default.strip('"[]')
    return "" if text in ("", "0", "0s", "false") else text

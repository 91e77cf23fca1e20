"""Write the dictionary of scheduler messages: `python -m tools.messages docs/reference/messages.md`.

From the tables in `core/plugins/messages` to a page with a heading for each message. A table is a YAML file with the
name of its plugin; `Scheduler` is the scheduler itself. An entry has these keys:

* `message`: the sentence, with words in braces for the parts that differ
* `parts`: other forms of the sentence
* `older`: the sentences of earlier releases of Kubernetes
* `since`: the release of Kubernetes with this wording, where it is known
* `at`: the extension point
* `code`: unschedulable, unresolvable, error, wait or info; `other_codes` are those of other plugins with the sentence
* `gate`: the feature gate without which the message does not appear
* `only`: kubesched, if kube-scheduler has no such message
* `when`, `helps`, `note`: the cause, advice, and a remark
"""

import json
import re
import sys
import textwrap
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

SOURCE = Path(__file__).parents[1] / "packages/scheduler/src/kubesched"
FOLDER = SOURCE / "core" / "plugins" / "messages"
SCHEDULER = "Scheduler"
# the order of the plugins: what most pending pods wait for comes first; the other plugins follow by name
FIRST = (
    "NodeResourcesFit",
    "TaintToleration",
    "NodeAffinity",
    "NodeUnschedulable",
    "PodTopologySpread",
    "InterPodAffinity",
    "VolumeBinding",
    "VolumeZone",
    "NodeVolumeLimits",
    "VolumeRestrictions",
    "NodePorts",
    "NodeName",
    "SchedulingGates",
    "DefaultPreemption",
)
LINE = 120
CODES = {
    "unschedulable": "Preemption may help.",
    "unresolvable": "Preemption cannot help.",
    "error": "This is an error. The scheduler tries the pod again after a backoff.",
    "wait": "The pod keeps its node while it waits.",
    "info": "",
}
# of PostFilter, Permit and later, whose rejections never lead to preemption
AFTER_FILTER = "Preemption does not follow."
GATED = "The scheduler does not try the pod meanwhile."
INTRODUCTION = """\
# Scheduler messages

A scheduler message is the sentence that kube-scheduler or kubesched writes into the condition `PodScheduled` of a pod
and into its events. This page lists each sentence with the plugin that reports it, its cause, and what helps. Both
schedulers write the same sentences, unless an entry says otherwise.

## How to read a message

`kubectl describe pod NAME` prints the message, in one line, as an event with the reason FailedScheduling:

```text
0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated taint(s).
no new claims to deallocate, preemption: 0/5 nodes are available:
2 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling.
```

* `0/5 nodes are available` means that none of five nodes fits.
* A number before a reason counts nodes. A node may have several reasons of one plugin, such as two missing resources.
* The text after the first period comes from PostFilter: released devices, and preemption.

`kubesched explain pod NAME -n NAMESPACE` prints the reason for each node, and tries out what would help. Words in
capital letters on this page, such as NAME, stand for names, numbers or other texts.
"""


class Message(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An entry of the dictionary."""

    message: str
    at: str
    code: str
    when: str
    helps: list[str]
    other_codes: list[str] = []
    parts: list[str] = []
    older: list[str] = []
    since: str = ""
    gate: str = ""
    only: str = ""
    note: str = ""

    @property
    def heading(self) -> str:
        """Return the message with capital letters for the parts that differ."""
        return _shown(self.message)

    @property
    def anchor(self) -> str:
        """Return the anchor of the heading."""
        return re.sub(r"[^\w -]", "", self.heading).lower().replace(" ", "-")

    @property
    def forms(self) -> list[str]:
        """Return all forms of the message."""
        return [self.message, *self.parts]

    @property
    def patterns(self) -> list[re.Pattern[str]]:
        """Return an expression for each form of the message."""
        escaped = (re.escape(form).replace(r"\{", "{").replace(r"\}", "}") for form in self.forms)
        return [re.compile(_PLACE.sub(".*", form), re.DOTALL) for form in escaped]


_PLACE = re.compile(r"\{(\w+)\}")
_CODE = re.compile(r"`[^`]*`")
_BLANK = "\0"


@cache
def dictionary() -> dict[str, list[Message]]:
    """Return the messages by plugin; those of the scheduler come last."""
    found = {path.stem: msgspec.convert(yaml.safe_load(path.read_text()), list[Message]) for path in FOLDER.iterdir()}
    others = sorted(found.keys() - {*FIRST, SCHEDULER})
    return {name: found[name] for name in (*FIRST, *others, SCHEDULER)}


def page() -> str:
    """Return the page."""
    gates: dict[str, list[dict[str, Any]]] = json.loads((SOURCE / "config" / "feature_gates.json").read_text())
    parts = [INTRODUCTION, *_common(), ""]
    for plugin, messages in dictionary().items():
        parts.append("## The scheduler itself\n" if plugin == SCHEDULER else f"## {plugin}\n")
        parts += [_entry(plugin, each, gates) for each in messages]
    return "\n".join(parts)


def _common() -> list[str]:
    """Return a table of the reasons for which a node is rejected, of plugins without a feature gate."""
    rows = [
        f"| [{message.heading}](#{message.anchor}) | {plugin} |"
        for plugin, messages in dictionary().items()
        for message in messages
        if message.at == "Filter" and message.code.startswith("un") and not (message.gate or message.only)
    ]
    return ["## Reasons for which nodes are rejected\n", "| reason | plugin |", "|---|---|", *rows]


def _entry(plugin: str, message: Message, gates: dict[str, list[dict[str, Any]]]) -> str:
    by = "the scheduler" if plugin == SCHEDULER else f"`{plugin}`"
    only = " Only kubesched writes this message." if message.only else ""
    lines = [f"### {message.heading}\n", *_wrapped(message.when), ""]
    lines += [*_wrapped(f"Reported by {by} ({message.at}). {_effect(message)}{only} {message.note}"), ""]
    lines += ["What helps:", "", *_list(message.helps), ""]
    for title, texts in (("Other forms", message.parts), ("Earlier releases of Kubernetes write", message.older)):
        if texts:
            lines += [f"{title}:", "", *_list(map(_shown, texts)), ""]
    if message.since:
        lines += [*_wrapped(f"This wording: since Kubernetes {message.since}"), ""]
    if message.gate:
        lines += [f"Feature gate: {_since(message.gate, gates[message.gate])}", ""]
    return "\n".join(lines)


def _list(items: Iterable[str]) -> list[str]:
    return [line for item in items for line in _wrapped(f"* {item}", "  ")]


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Return a paragraph in lines, without breaks in code."""
    text = _CODE.sub(lambda code: code[0].replace(" ", _BLANK), " ".join(text.split()))
    lines = textwrap.wrap(text, LINE, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [line.replace(_BLANK, " ") for line in lines]


def _effect(message: Message) -> str:
    if message.at == "PreEnqueue":
        return GATED
    if message.at == "PostFilter" and message.code != "error":
        return ""
    if message.code in ("unschedulable", "unresolvable") and "Filter" not in message.at.replace("PostFilter", ""):
        return AFTER_FILTER
    return CODES[message.code]


def _since(gate: str, stages: list[dict[str, Any]]) -> str:
    """Return a gate with the releases in which it came, and in which it was enabled by default."""
    enabled = next((f"on by default since v{each['version']}" for each in stages if each["default"]), "off by default")
    return f"`{gate}`, added in v{stages[0]['version']}, {enabled}."


def _shown(text: str) -> str:
    return _PLACE.sub(lambda match: match[1].upper(), text)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page())

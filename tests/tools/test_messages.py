"""docs/reference/messages.md: the dictionary of scheduler messages has every sentence that the scheduler writes."""

import ast
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.tools.test_reference import FOLDER

from kubesched.cli import COMMANDS
from kubesched.core.plugins.in_tree import IN_TREE_PLUGINS
from tools.messages import CODES, SCHEDULER, SOURCE, Message, dictionary, page

CORPUS = sorted((Path(__file__).parents[2] / "packages/scheduler/tests/conformance/data").glob("*.jsonl.gz"))
PLUGINS = SOURCE / "core" / "plugins"
# rooms besides the plugins whose statuses are messages of pods
ROOMS = ("core/scheduling", "core/evaluation", "core/binding", "core/framework/calling/hooks.py")
# they reject no pod
SILENT = {"ImageLocality", "NodeResourcesBalancedAllocation", "PrioritySort", "DefaultBinder"}
# texts of plugins that no pod gets to see
NOT_MESSAGES = {
    "DynamicResources of a pod group": "the name of a key",
    "what was written comes back": "an assertion",
    "what was created comes back": "an assertion",
    "only rows with a Node object are judged": "an assertion",
    "the pod is in a group": "an assertion",
    "a world is changed by pods that have a slot": "an assertion",
    "a rejected pod has no other worlds": "an assertion",
    "an event has an object": "an assertion",
    "without its class a claim does not wait for a node": "an assertion",
    "it was bound in Reserve": "an assertion",
    "it was there a moment ago": "an assertion",
    "requiredAffinityTerms: ": "a prefix of an error of InterPodAffinity",
    "requiredAntiAffinityTerms: ": "a prefix of an error of InterPodAffinity",
    "no attachable volumes": "the name of a key",
    "converting volume(…) from inline to csi: …": "an error of a hint, which is logged",
}
ALL = [message for messages in dictionary().values() for message in messages]
CALLS = {"unschedulable", "unresolvable", "error"}


def test_the_page_is_the_one_that_the_tables_make() -> None:
    assert (FOLDER / "messages.md").read_text() == page(), "run `make docs`"


def test_tables_are_those_of_plugins() -> None:
    names = {plugin.name for plugin in IN_TREE_PLUGINS}
    assert set(dictionary()) - {SCHEDULER} == names - SILENT
    assert {message.code for message in ALL} <= CODES.keys()


def test_every_message_has_an_anchor_of_its_own() -> None:
    anchors = [each.anchor for each in ALL]
    assert len(set(anchors)) == len(anchors)


def test_commands_of_advice_exist() -> None:
    text = " ".join(advice for message in ALL for advice in message.helps)
    assert set(re.findall(r"`kubesched (\w+)", text)) <= set(COMMANDS)


def literals(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the texts of a module but its docstrings, with `…` for values, each with the status that it is given to."""
    hidden: set[ast.AST] = set()
    given: dict[ast.AST, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            hidden.add(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
            given |= dict.fromkeys(node.args, node.func.id)
        if isinstance(node, ast.JoinedStr):
            hidden |= set(ast.walk(node)) - {node}
    for node in ast.walk(tree):
        if node in hidden:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
            yield "".join(str(part) for part in parts), given.get(node, "")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, given.get(node, "")


def explaining(text: str) -> list[Message]:
    """Return the messages of which a text of the source is a form or a part."""
    expression = re.compile(".+?".join(re.escape(part) for part in text.split("…")), re.DOTALL)
    return [
        each
        for each in ALL
        if any(expression.search(form) for form in each.forms)
        or any(pattern.fullmatch(text) for pattern in each.patterns)
    ]


MODULES = sorted(PLUGINS.rglob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=[str(path.relative_to(PLUGINS)) for path in MODULES])
def test_every_text_of_a_plugin_is_in_the_dictionary(module: Path) -> None:
    missing, wrong = [], []
    for text, status in literals(ast.parse(module.read_text())):
        if " " not in text.replace("…", "").strip() or text in NOT_MESSAGES:
            continue
        codes = {code for each in explaining(text) for code in (each.code, *each.other_codes)}
        if not codes:
            missing.append(text)
        elif status and status not in codes:
            wrong.append((text, status))
    assert missing == [], f"they need entries in {PLUGINS / 'messages'}"
    assert wrong == [], "their codes differ"


@pytest.mark.parametrize("room", ROOMS)
def test_every_status_of_the_scheduler_is_in_the_dictionary(room: str) -> None:
    path = SOURCE / room
    missing = [
        text
        for module in ([path] if path.suffix else sorted(path.rglob("*.py")))
        for text, status in literals(ast.parse(module.read_text()))
        if status and " " in text.replace("…", "").strip() and not explaining(text)
    ]
    assert missing == [], f"they need entries in {PLUGINS / 'messages'}"


def reasons(value: Any, key: str = "") -> Iterator[str]:
    """Yield the reasons in an answer of kube-scheduler."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from reasons(each, name)
    elif isinstance(value, list):
        for each in value:
            yield from reasons(each, key)
    elif isinstance(value, str) and key == "reasons":
        yield value


@pytest.mark.parametrize("corpus", CORPUS, ids=lambda path: path.name.partition(".")[0])
def test_every_reason_of_kube_scheduler_is_in_the_dictionary(corpus: Path) -> None:
    patterns = [pattern for message in ALL for pattern in message.patterns]
    with gzip.open(corpus, "rt") as lines:
        found = {reason for line in lines for reason in reasons(json.loads(line).get("expected"))}
    assert [each for each in sorted(found) if not any(pattern.fullmatch(each) for pattern in patterns)] == []

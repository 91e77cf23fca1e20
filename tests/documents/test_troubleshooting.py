"""The messages that docs/guides/operator/troubleshooting.md quotes are those that the code writes."""

import ast
import re
from functools import cache

import pytest
from tests.documents.test_documents import ROOT

from kubesched.shadow.judgements import WORDS

PAGE = ROOT / "docs/guides/operator/troubleshooting.md"
# names of fields, metrics and options, and messages that Kubernetes, Python or a user's file write
NOT_OURS = re.compile(
    r"[\w/.*-]+(\{.*\})?|-v \d|Insufficient …|is forbidden|Error: …|Timeout \(…\)!|needsRestart=\"…\""
    r"|leaderElect: false|PreFilterPlugin \"NAME\" does not exist"
)


@cache
def texts() -> tuple[str, ...]:
    """Return the strings of the code; a variable part is `…`."""
    found = []
    for path in ROOT.glob("packages/scheduler/src/kubesched/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.JoinedStr):
                found.append(
                    "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return tuple(found)


def quoted() -> list[str]:
    """Return the messages in the first column of the tables."""
    cells = re.findall(r"^\| (.*?) \|", PAGE.read_text(), re.MULTILINE)
    found = [each for cell in cells for each in re.findall(r"`([^`]+)`", cell)]
    return sorted({each for each in found if not NOT_OURS.fullmatch(each)})


def is_written(message: str) -> bool:
    """Return whether a string of the code has a message."""
    wanted = re.compile(".+?".join(map(re.escape, message.strip("…").rstrip(": ").split("…"))))
    return any(wanted.search(text) for text in texts())


@pytest.mark.parametrize("message", quoted())
def test_a_message_is_one_of_the_code(message: str) -> None:
    assert is_written(message)


def test_messages_are_looked_at() -> None:
    assert len(quoted()) > 25


def test_the_guide_for_a_move_has_all_verdicts() -> None:
    text = (ROOT / "docs/guides/operator/migrating.md").read_text()
    for words in WORDS.values():
        assert f"| {words} |" in text

"""Hooks of plugins are called in one module, which guards, times and checks them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import kubesched
from kubesched.core.framework import plugin as contract
from kubesched.core.framework.plugin import Plugin

CORE = Path(kubesched.__file__).parent / "core"
BASES = [each for each in vars(contract).values() if isinstance(each, type) and issubclass(each, Plugin)]
HOOKS = {name for base in BASES for name, hook in vars(base).items() if callable(hook) and not name.startswith("_")}
# one form of a plugin calls the other, and one plugin stands in for another; both are called as hooks themselves
INSIDE_A_HOOK = {
    "framework/calling/forms.py: filter_nodes",
    "framework/calling/forms.py: score_nodes",
    "evaluation/questioner.py: pre_filter",
    "evaluation/questioner.py: pre_score",
}
# all keys of a pod at once, and one of them together with the look-up, which hashes it
KEYS = {"evaluation/evaluator.py: key", "evaluation/evaluator.py: score_key"}


def calls(path: Path) -> Iterator[str]:
    """Return the hooks that a module calls on plugins."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in HOOKS:
            owner = ast.unparse(node.func.value)
            if "plugin" in owner.lower():
                yield f"{path.relative_to(CORE).as_posix()}: {node.func.attr}"


def test_hooks_are_called_in_one_module() -> None:
    assert {"pre_enqueue", "filter", "pod_group_post_filter", "unreserve", "post_bind", "filter_question"} <= HOOKS
    rooms = [path for path in CORE.rglob("*.py") if path.relative_to(CORE).parts[0] != "plugins"]
    found = {call for path in rooms for call in calls(path)}
    hooks = {call for call in found if call.startswith("framework/calling/hooks.py")}
    assert len(hooks) == 4
    assert found - hooks == INSIDE_A_HOOK | KEYS

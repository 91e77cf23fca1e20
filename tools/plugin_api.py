"""Write the reference of the public API: `python -m tools.plugin_api docs/reference/plugin-api.md`.

From the names that `kubesched` and `kubesched.testing` export to a page. Each name has its signature, its docstring,
and for classes the attributes and methods, including those of private base classes.
"""

import ast
import enum
import inspect
import sys
import textwrap
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import kubesched
import kubesched.testing

Function = ast.FunctionDef | ast.AsyncFunctionDef

INTRODUCTION = """\
# API for plugins

This page lists every name that `kubesched` and `kubesched.testing` export: its signature, its description, and the
attributes and methods of classes. These names are the public API, and they stay compatible within a major version. All
other names are private and may change.

[Write a plugin](../guides/plugins/plugins.md) is the guide. Start with the
[extension points](../guides/plugins/extension-points.md) to choose a base class.

`make docs` writes this page from the source.
"""
# the headings, with the modules whose names come under them
GROUPS: dict[str, dict[str, tuple[str, ...]]] = {
    "kubesched": {
        "Base classes of plugins": ("core.framework.plugin", "core.framework.building.functions"),
        "Return values of hooks": (
            "core.framework.values.status",
            "core.framework.values.verdict",
            "core.framework.results.outcomes",
            "core.framework.values.permission",
        ),
        "Parameters of hooks": (
            "core.cluster.pod_info",
            "core.framework.views.nodes",
            "core.framework.values.cycle",
            "core.framework.views.pod_matcher",
            "core.framework.views.node_trial",
        ),
        "Parameters of constructors": (
            "core.framework.views.cluster_view",
            "core.cluster.indexes",
            "core.framework.views.node_values",
            "core.framework.views.pod_sums",
            "core.cluster.pod_totals",
            "core.framework.services.background",
            "core.framework.services.http_client",
            "core.framework.services.plugin_metrics",
            "core.framework.services.waiting",
            "core.framework.services.waiting_pods",
            "core.framework.services.object_writer",
            "core.framework.services.placement_trial",
            "core.framework.values.preemption",
        ),
        "Keys, reads and events": (
            "core.cluster.changes",
            "core.cluster.kind_reads",
            "core.framework.values.events",
        ),
        "Engines, clusters and errors": (
            "core.framework.building.registry",
            "core.assembly",
            "core.scheduling.engine",
            "core.cluster.cluster",
            "core.scheduling.decision",
            "kubesched_answers.cluster",
            "api.resources",
            "errors",
        ),
    },
    "kubesched.testing": {
        "Fixtures": (
            "deciding",
            "virtual_scheduler",
            "kubesched_controlplane.testing.embedded_cluster",
            "kubesched_controlplane.testing.cluster_process",
            "pod_lookup",
            "fake_http",
            "real_http",
        ),
        "Checks of plugins": ("plugin_checks.checking", "plugin_checks.plugin_report"),
        "Builders of objects": ("builders", "storage"),
    },
}
OTHERS = "Other names"
LONGEST = 120
# endings of comments on attributes that only the framework uses
OURS = ("set by the framework", "set by the base class.")


class Member(NamedTuple):
    """An attribute or method: its signature and its description."""

    name: str
    signature: str
    text: str

    @property
    def line(self) -> str:
        """Return the text in one line."""
        return " ".join(self.text.split())


def page() -> str:
    """Return the page."""
    parts = [INTRODUCTION]
    for package in (kubesched, kubesched.testing):
        parts.append(f"## `{package.__name__}`\n")
        for title, names in _grouped(package).items():
            parts.append(f"### {title}\n")
            parts += [_entry(package, name) for name in names]
    return "\n".join(parts)


def _grouped(package: ModuleType) -> dict[str, list[str]]:
    """Return the public names of a package by heading. Names without a heading come last."""
    homes: dict[str, str] = package._HOMES | getattr(package, "_ELSEWHERE", {})
    of_home = {home: names.split() for home, names in homes.items()}
    groups = {
        title: [name for module in modules for name in sorted(of_home.pop(module, ()), key=partial(_line, package))]
        for title, modules in GROUPS[package.__name__].items()
    }
    groups[OTHERS] = sorted(name for names in of_home.values() for name in names)
    return {title: names for title, names in groups.items() if names}


def _line(package: ModuleType, name: str) -> int:
    """Return the line in which a name is defined; constants come last."""
    value = getattr(package, name)
    return inspect.getsourcelines(value)[1] if callable(value) else sys.maxsize


def _entry(package: ModuleType, name: str) -> str:
    value = getattr(package, name)
    if inspect.isclass(value):
        lines = [f"#### class `{name}`{_bases(value)}\n", _text(value.__doc__), ""]
        lines += [f"* `{each.signature}`{': ' if each.text else ''}{each.line}" for each in _members(value)]
    elif callable(value):
        definition = _tree(value).body[0]
        assert isinstance(definition, Function)
        lines = [f"#### `{name}`\n", "```python", _signature(definition, name, LONGEST), "```\n", _text(value.__doc__)]
    else:
        lines = [f"#### `{name}`\n", f"A `{type(value).__name__}`: `{value!r}`."]
    return "\n".join(lines).rstrip() + "\n"


def _bases(kind: type) -> str:
    names = [base.__name__ for base in kind.__bases__ if _is_public(base) or issubclass(base, enum.Enum)]
    return f" ({', '.join(f'`{name}`' for name in names)})" if names else ""


@cache
def _public() -> frozenset[int]:
    """Return what is exported, by identity."""
    return frozenset(
        id(getattr(package, name)) for package in (kubesched, kubesched.testing) for name in package.__all__
    )


def _is_public(kind: type) -> bool:
    return id(kind) in _public()


def _members(kind: type) -> list[Member]:
    """Return the public members of a class, with those of its private base classes."""
    found: dict[str, Member] = {}
    for each in reversed(kind.__mro__):
        if each is kind or (each.__module__.startswith("kubesched.") and not _is_public(each)):
            for member in _own_members(each):
                found[member.name] = member
    return [member for member in found.values() if not member.text.endswith(OURS)]


def _own_members(kind: type) -> Iterator[Member]:
    source = textwrap.dedent(inspect.getsource(kind))
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.ClassDef)
    lines = source.split("\n")
    for node in definition.body:
        if isinstance(node, Function) and node.name == "__init__":
            yield from _set_by_constructor(node, lines)
        elif isinstance(node, Function):
            if not node.name.startswith("_"):
                yield _method(node)
        else:
            yield from _attribute(node, lines, enum.Enum in kind.__mro__)


def _method(node: Function) -> Member:
    decorators = {ast.unparse(each) for each in node.decorator_list}
    text = _text(ast.get_docstring(node))
    if decorators & {"property", "cached_property"}:
        returned = f": {_annotation(node.returns)}" if node.returns is not None else ""
        return Member(node.name, f"{node.name}{returned}", text)
    return Member(node.name, _signature(node, node.name), text)


def _signature(node: Function, name: str, longest: int = sys.maxsize) -> str:
    """Return the signature of a function; one parameter a line if it is longer than `longest`."""
    parameters = list(_parameters(node.args))
    returned = f" -> {_annotation(node.returns)}" if node.returns is not None else ""
    awaited = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    whole = f"{awaited}{name}({', '.join(parameters)}){returned}"
    if len(whole) <= longest:
        return whole
    return "\n".join([f"{awaited}{name}(", *(f"    {each}," for each in parameters), f"){returned}"])


def _parameters(given: ast.arguments) -> Iterator[str]:
    """Yield the parameters of a function, without the object itself."""
    positional = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(positional) - len(given.defaults)), *given.defaults]
    for number, (each, default) in enumerate(zip(positional, defaults, strict=True)):
        if number or each.arg not in ("self", "cls"):
            yield _parameter(each, default)
    if given.vararg is not None:
        yield f"*{_parameter(given.vararg, None)}"
    elif given.kwonlyargs:
        yield "*"
    for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _parameter(each, default)
    if given.kwarg is not None:
        yield f"**{_parameter(given.kwarg, None)}"


def _parameter(given: ast.arg, default: ast.expr | None) -> str:
    text = f"{given.arg}: {_annotation(given.annotation)}" if given.annotation is not None else given.arg
    return text if default is None else f"{text} = {_source(default)}"


def _annotation(node: ast.expr) -> str:
    """Return a type as the source has it, without the quotes of a forward reference."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else _source(node)


def _source(node: ast.expr) -> str:
    return ast.unparse(node).replace("'", '"')


def _attribute(node: ast.stmt, lines: list[str], is_enum: bool) -> Iterator[Member]:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and not node.target.id.startswith("_"):
        value = f" = {_source(node.value)}" if node.value is not None else ""
        yield Member(node.target.id, f"{node.target.id}: {_annotation(node.annotation)}{value}", _comment(node, lines))
    elif is_enum and isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        yield Member(node.targets[0].id, ast.unparse(node), _comment(node, lines))


def _set_by_constructor(node: Function, lines: list[str]) -> Iterator[Member]:
    """Yield the constructor, and the attributes that it describes."""
    yield Member("__init__", _signature(node, "__init__"), _text(ast.get_docstring(node)))
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and _is_own(each.target):
            name = ast.unparse(each.target).removeprefix("self.")
            yield Member(name, f"{name}: {_annotation(each.annotation)}", _comment(each, lines))
        elif isinstance(each, ast.Assign) and _is_own(each.targets[0]) and _comment(each, lines):
            name = ast.unparse(each.targets[0]).removeprefix("self.")
            yield Member(name, name, _comment(each, lines))


def _is_own(target: ast.expr) -> bool:
    """Return whether something is a public attribute of `self`."""
    return isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self" and not target.attr.startswith("_")


def _comment(node: ast.stmt, lines: list[str]) -> str:
    """Return the comment above a statement."""
    found: list[str] = []
    number = node.lineno - 2
    while number >= 0 and lines[number].strip().startswith("#"):
        found.insert(0, lines[number].strip().lstrip("# "))
        number -= 1
    return " ".join(found)


@cache
def _tree(function: Any) -> ast.Module:
    return ast.parse(textwrap.dedent(inspect.getsource(function)))


def _text(docstring: str | None) -> str:
    """Return a docstring with one line for each paragraph, and with unchanged examples."""
    paragraphs = inspect.cleandoc(docstring or "").split("\n\n")
    return "\n\n".join(each if each.startswith(("    ", "* ")) else " ".join(each.split()) for each in paragraphs)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page())

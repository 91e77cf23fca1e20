"""What the documents show: links lead somewhere, commands and their options exist, code and configurations work."""

import inspect
import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from tests.support.packages import exists

from kubesched import Registry, build_engine, decide
from kubesched.api.pods import Pod
from kubesched.cli import main
from kubesched.cli.command_group import CommandWithSubcommands
from kubesched.config.load import load
from kubesched.run.flags import GROUPS
from kubesched.run.go_flags import parse_flags
from kubesched.testing import a_node, a_pod

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("examples/*/README.md"))]
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]
# the pages for authors of plugins, in their order; the later ones use files of the first
PLUGINS = "docs/guides/plugins"
PLUGIN_PAGES = [
    f"{PLUGINS}/{page}.md"
    for page in (
        "first-plugin",
        "extension-points",
        "nodes-and-columns",
        "waking-pods",
        "background-and-writers",
        "testing-plugins",
        "packaging",
    )
]


def blocks(path: Path, language: str) -> list[str]:
    """Return the blocks of code in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(), re.DOTALL | re.MULTILINE)


def commands(path: Path) -> list[list[str]]:
    """Return the arguments of every call of kubesched, without redirections."""
    texts = (re.sub(r"\\\n\s*", "", block) for block in blocks(path, "console") + blocks(path, ""))
    lines = [line for text in texts for line in text.splitlines()]
    calls = [part for line in lines for part in re.split(r"\|\s|&&", line.removeprefix("$ ")) if "kubesched " in part]
    words = [shlex.split(call, comments=True) for call in calls if call.strip().startswith("kubesched ")]
    return [[word for word in call[1:] if word != ">"] for call in words]


def options_of(arguments: list[str]) -> tuple[click.Command, list[str]]:
    """Return the command that a command line calls, and what it is given."""
    command: click.Command = main
    context = click.Context(main)
    while arguments:
        if isinstance(command, click.Group):
            found = command.get_command(context, arguments[0])
        else:
            found = command.subcommands.get(arguments[0]) if isinstance(command, CommandWithSubcommands) else None
        if found is None:
            break
        command, arguments = found, arguments[1:]
    return command, arguments


@pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)
def test_links_lead_somewhere(path: Path) -> None:
    text = path.read_text()
    headings = {re.sub(r"[^\w -]", "", line.lstrip("# ")).lower().replace(" ", "-") for line in text.splitlines()}
    for link in re.findall(r"\]\(([^)]+)\)", re.sub(r"`[^`\n]*`", "", text)):
        file, _, anchor = link.partition("#")
        assert link.startswith("https://") or (path.parent / file).exists(), link
        assert file or anchor in headings, link


@pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)
def test_commands_and_options_exist(path: Path) -> None:
    for arguments in commands(path):
        command, given = options_of(arguments)
        if command.name == "run":
            parse_flags(GROUPS, given, "kubesched run")
            continue
        known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
        said = {word.partition("=")[0] for word in given if re.match("--?[a-z]", word)}
        assert said - known - {"--version"} == set(), arguments


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md"])
def test_files_and_targets_that_are_named_exist(name: str) -> None:
    text = (ROOT / name).read_text()
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:`|\$ )make ([a-z-]+)", text)) <= targets
    files = re.findall(r"`((?:\w+/)+\w+\.(?:py|json))`", text)
    assert files
    for file in files:
        assert exists(file), file


def test_there_are_commands_to_look_at() -> None:
    assert {"up", "evaluate", "config", "run"} <= {call[0] for path in DOCUMENTS for call in commands(path)}


def write_files(name: str, folder: Path) -> None:
    """Write the blocks of a document that begin with a file name; pages for plugins also use those of the first one."""
    for each in (PLUGIN_PAGES[0], name) if name in PLUGIN_PAGES else (name,):
        for block in blocks(ROOT / each, "yaml") + blocks(ROOT / each, "python"):
            if block.startswith("# "):
                (folder / block.partition("\n")[0].removeprefix("# ")).write_text(block)


@pytest.mark.parametrize("name", ["README.md", *(name for name in PLUGIN_PAGES if blocks(ROOT / name, "python"))])
def test_code_works_as_it_is_shown(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    write_files(name, tmp_path)
    for block in blocks(ROOT / name, "python"):
        shown: dict[str, Any] = {"__name__": "shown"}
        exec(compile(block, name, "exec"), shown)
        for test in [value for key, value in shown.items() if key.startswith("test_")]:
            test(**{fixture: request.getfixturevalue(fixture) for fixture in inspect.signature(test).parameters})


def test_there_is_code_to_run() -> None:
    assert len(blocks(ROOT / "README.md", "python")) >= 2
    assert sum(len(blocks(ROOT / name, "python")) for name in PLUGIN_PAGES) >= 10
    assert {f"{PLUGINS}/{path.name}" for path in (ROOT / PLUGINS).glob("*.md")} == {
        f"{PLUGINS}/plugins.md",
        *PLUGIN_PAGES,
    }


@pytest.mark.parametrize("name", [name for name in PLUGIN_PAGES if commands(ROOT / name)])
def test_commands_work_as_they_are_shown(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(name, tmp_path)
    # `run` needs a cluster; tests/documents/test_in_order.py starts it
    shown = [arguments for arguments in commands(ROOT / name) if arguments[0] != "run"]
    for arguments in shown:
        ran = CliRunner().invoke(main, arguments)
        assert ran.exit_code == 0, (arguments, ran.output)


def test_there_are_commands_for_plugins() -> None:
    assert sum(len(commands(ROOT / name)) for name in PLUGIN_PAGES) >= 9


def test_the_configuration_of_a_trial_is_one() -> None:
    (text,) = blocks(ROOT / "docs/guides/operator/running.md", "yaml")
    assert load(text).profiles[0].scheduler_name == "trial"


def test_the_plugins_over_columns_do_what_is_said() -> None:
    page = f"{PLUGINS}/nodes-and-columns.md"
    (block,) = (text for text in blocks(ROOT / page, "python") if "OneCacheANode" in text)
    defined: dict[str, Any] = {"__name__": "ladder"}
    exec(compile(block, page, "exec"), defined)
    registry = Registry()
    for name in ("OneCacheANode", "Cheapest"):
        registry.register(defined[name])
    plugins = "{enabled: [{name: OneCacheANode}, {name: Cheapest, weight: 100}]}"
    config = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        f"profiles: [{{plugins: {{multiPoint: {plugins}}}}}]\n"
    )
    engine = build_engine(config, registry=registry)
    for name, price in (("n1", "3"), ("n2", "1.5"), ("n3", "2")):
        engine.cluster.add(a_node(name, cpu="4", annotations={"price": price}))
    engine.cluster.add(a_pod("cache-1", node="n2", labels={"app": "cache"}))

    def chosen(pod: Pod) -> str:
        return decide(engine.evaluation_of(engine.cluster.reader.read(pod)), lambda count: 0).node_name

    assert chosen(a_pod("web")) == "n2"
    assert chosen(a_pod("cache-2", labels={"app": "cache"})) == "n3"
    engine.cluster.add(a_node("n1", cpu="4", annotations={"price": "1"}))
    assert chosen(a_pod("cache-2", labels={"app": "cache"})) == "n1"

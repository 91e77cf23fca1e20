"""`--plugin`: files and modules of one's own, in a real process where it matters; no mistake ends in a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kubesched import __version__
from kubesched.cli import main
from kubesched.cli.plugin_options import load_plugins
from kubesched.errors import PluginError

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
GOOD = """
from kubesched import FilterPlugin, filter_plugin, score_plugin

@filter_plugin("QuietNodes")
def quiet_nodes(pod, node):
    return None

@score_plugin("Newest")
def newest(pod, nodes):
    return nodes.free("cpu") * 0

class Tenants(FilterPlugin):
    name = "Tenants"

    def __init__(self, args):
        self.args = args

    def filter(self, cycle, pod, node):
        return None
"""


def run(*args: str) -> Result:
    return CliRunner().invoke(main, args)


def failure(*args: str) -> list[str]:
    result = run(*args)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    return result.stderr.splitlines()


@pytest.fixture
def good(tmp_path: Path) -> Path:
    file = tmp_path / "my_plugins.py"
    file.write_text(GOOD)
    return file


def test_every_plugin_of_a_file_is_taken(good: Path) -> None:
    registry = load_plugins([str(good)])
    assert list(registry) == ["QuietNodes", "Newest", "Tenants"]
    assert registry.catalog()["Newest"] == {"score"}


def test_a_file_with_an_attribute(good: Path) -> None:
    assert list(load_plugins([f"{good}:Tenants"])) == ["Tenants"]


def test_config_show_knows_the_plugins_of_a_file(good: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(HEAD + "profiles:\n- plugins: {score: {enabled: [{name: Newest, weight: 7}]}}\n")
    assert failure("config", "show", str(config)) == [
        f"{config}: initializing profiles: creating profile for scheduler name default-scheduler: "
        'ScorePlugin "Newest" does not exist; add out-of-tree plugins with --plugin FILE.py, --plugin module:Class '
        "or an installed package"
    ]
    result = run("config", "show", "-o", "json", "--plugin", str(good), str(config))
    assert result.exit_code == 0
    assert json.loads(result.stdout)["plugins"]["default-scheduler"]["score"][-1] == {"name": "Newest", "weight": 7}


def test_a_file_may_import_its_neighbours(good: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer.py"
    outer.write_text("from my_plugins import Tenants\nPLUGINS = [Tenants]\n")
    assert list(load_plugins([f"{outer}:PLUGINS"])) == ["Tenants"]
    sys.modules.pop("my_plugins", None)


def test_two_files_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    files = []
    for folder in ("a", "b"):
        file = tmp_path / folder / "same.py"
        file.parent.mkdir()
        file.write_text(f"import kubesched\nf = kubesched.filter_plugin('P{folder}')(lambda pod, node: None)\n")
        files.append(f"{file}:f")
    assert list(load_plugins(files)) == ["Pa", "Pb"]


def test_an_installed_plugin_may_be_named_and_its_file_given(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "installed"
    (package / "good-1.0.dist-info").mkdir(parents=True)
    (package / "good_package.py").write_text(GOOD)
    (package / "good-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: good\nVersion: 1.0\n")
    points = "[kubesched.plugins]\nTenants = good_package:Tenants\n"
    (package / "good-1.0.dist-info" / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(str(package))
    installed = load_plugins([])
    assert installed.source("Tenants") == "entry point 'Tenants' of good"
    for given in ("Tenants", "good_package:Tenants", f"{package / 'good_package.py'}:Tenants"):
        registry = load_plugins([given])
        assert list(registry) == ["Tenants"]
        assert registry.source("Tenants") == f"--plugin {given}"
    checked = run("plugins", "check", "--examples", "2", "Tenants")
    assert checked.stdout.startswith("plugin Tenants\n")
    sys.modules.pop("good_package", None)


def test_the_same_source_twice_is_no_clash(good: Path) -> None:
    assert list(load_plugins([str(good), str(good)])) == ["QuietNodes", "Newest", "Tenants"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("x = (\n", "syntax error in line 1: '(' was never closed"),
        ("\n\n  x = 1\n", "syntax error in line 3: unexpected indent"),
        ("import no_such_thing\n", "importing it failed at {file}:1 with ModuleNotFoundError: No module named"),
        ("1 / 0\n", "importing it failed at {file}:1 with ZeroDivisionError: division by zero"),
        ("import json\njson.loads('{')\n", "importing it failed at {file}:2 with JSONDecodeError: Expecting property"),
        ("raise SystemExit\n", "importing it failed at {file}:1 with SystemExit"),
        ("x = 1\n", "no plugin in it; define a class derived from FilterPlugin"),
        ("from kubesched import FilterPlugin\n", "no plugin in it; define a class"),
        ("from kubesched import FilterPlugin\nclass A(FilterPlugin): pass\n", "plugin class A has no name; set"),
        (
            "from kubesched import FilterPlugin\nclass A(FilterPlugin):\n  name = 'NodeAffinity'\n",
            "a plugin named NodeAffinity already exists (in-tree); set `name` of A to something else",
        ),
        (
            "from kubesched import filter_plugin\n@filter_plugin('A')\nasync def f(pod, node): ...\n",
            "plugin 'A': f is `async def`; filters and scores are plain functions",
        ),
        ("\x00", "s"),
    ],
)
def test_what_can_be_wrong_with_a_file(content: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text(content)
    [line] = failure("config", "show", "--plugin", str(file))
    assert line.startswith(f"--plugin {file}: " + text.format(file=file.resolve()))


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_bytes(b"\xff\xfe\x00")
    [line] = failure("config", "show", "--plugin", str(file))
    assert line.startswith(f"--plugin {file}: ")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("nowhere/to/be/found.py", "No such file or directory; give a Python file or module:Class"),
        ("./", "not a file; give a Python file or module:Class"),
        ("bad\x00name.py", "give a Python file or module:Class"),
        ("no_such_module:X", "no module no_such_module; install the package that contains it"),
        ("", "not a module; write module:Class or path/to/file.py"),
    ],
)
def test_sources_that_do_not_exist(source: str, text: str) -> None:
    [line] = failure("config", "show", "--plugin", source)
    # what terminals do not print is seen as such
    shown = source.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    assert line.startswith(f"--plugin {shown}: ")
    assert text in line


def test_a_text_file_is_no_python_file(tmp_path: Path) -> None:
    file = tmp_path / "plugins.txt"
    file.write_text(GOOD)
    with pytest.raises(PluginError, match=r"not a Python file; its name must end in \.py$"):
        load_plugins([str(file)])


def in_a_process(folder: Path, *args: str, path: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "kubesched", *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_module_beside_the_caller_is_found(good: Path) -> None:
    """In a process of its own: the working folder is not on the path of a console script."""
    result = in_a_process(good.parent, "config", "show", "-o", "json", "--plugin", "my_plugins:Tenants")
    assert (result.returncode, result.stderr) == (0, "")


def test_an_installed_package_needs_no_option(good: Path, tmp_path: Path) -> None:
    info = tmp_path / "my_plugins-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-plugins\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[kubesched.plugins]\nTenants = my_plugins:Tenants\n")
    config = tmp_path / "config.yaml"
    config.write_text(HEAD + "profiles:\n- plugins: {filter: {enabled: [{name: Tenants}]}}\n")
    result = in_a_process(tmp_path, "config", "show", "-o", "json", str(config), path=str(tmp_path))
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["plugins"]["default-scheduler"]["filter"][-1] == {"name": "Tenants"}
    good.write_text("import no_such_thing\n")
    warning = (
        f"Warning: entry point 'Tenants' of my-plugins: importing it failed at {good}:1 with "
        "ModuleNotFoundError: No module named 'no_such_thing'; its plugins cannot be enabled\n"
    )
    result = in_a_process(tmp_path, "config", "show", "-o", "json", path=str(tmp_path))
    assert (result.returncode, result.stderr) == (0, warning), "nobody enables it"
    result = in_a_process(tmp_path, "config", "show", str(config), path=str(tmp_path))
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(warning)
    assert 'FilterPlugin "Tenants" does not exist; add out-of-tree plugins with --plugin' in result.stderr


def test_version_and_help() -> None:
    assert run("--version").stdout == f"kubesched {__version__}\n"
    result = run("--help")
    assert result.exit_code == 0
    assert "config " in result.stdout


def test_an_unknown_command_is_a_usage_error() -> None:
    result = run("nope")
    assert result.exit_code == 2
    assert "No such command 'nope'" in result.stderr


def test_config_show_asks_constructors_and_names_the_path(tmp_path: Path) -> None:
    plugin, config = tmp_path / "aware.py", tmp_path / "config.yaml"
    plugin.write_text(
        "from kubesched import FilterPlugin, PluginError\n"
        "class Aware(FilterPlugin):\n"
        "    name = 'Aware'\n"
        "    def __init__(self, args):\n"
        "        if args['target'] > 100:\n"
        "            raise PluginError('args.target: expected at most 100')\n"
        "    def filter(self, cycle, pod, node):\n"
        "        return None\n"
    )
    text = HEAD + (
        "profiles:\n- plugins: {multiPoint: {enabled: [{name: Aware}]}}\n"
        "  pluginConfig: [{name: Aware, args: {target: TARGET}}]\n"
    )
    config.write_text(text.replace("TARGET", "500"))
    assert failure("config", "show", "--plugin", str(plugin), str(config)) == [
        f"{config}: profile 'default-scheduler': plugin 'Aware': profiles[0].pluginConfig[0].args.target: "
        "expected at most 100"
    ]
    config.write_text(text.replace("TARGET", "50"))
    assert run("config", "show", "--plugin", str(plugin), str(config)).exit_code == 0

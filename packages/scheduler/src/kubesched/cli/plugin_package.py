"""`kubesched plugins new`: a package with a plugin that passes its own test.

From a name and a kind to files: pyproject.toml with the entry point, the plugin with typed arguments, a test, a README
and a file for CI. Nothing is overwritten.
"""

import re
from pathlib import Path
from string import Template

from kubesched.config.intree import IN_TREE
from kubesched.errors import KubeschedError, PluginError

_NAME = re.compile("[A-Z][A-Za-z0-9]{1,62}")

# kind -> the base class, the other imports, and the hook
_KINDS: dict[str, tuple[str, str, str]] = {
    "prefilter": (
        "PreFilterPlugin",
        "CycleState, PodInfo, Status, unschedulable",
        """    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> Status | None:
        if pod.labels.get(self.args.label) == "off":
            return unschedulable("pod is switched off")
        return None
""",
    ),
    "filter": (
        "FilterPlugin",
        "CycleState, NodeRow, PodInfo, Status, unschedulable",
        """    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        if node.labels.get(self.args.label) == "off":
            return unschedulable("node(s) switched off")
        return None
""",
    ),
    "score": (
        "ScorePlugin",
        "CycleState, NodeRow, PodInfo",
        """    def score(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> int:
        return 0 if node.labels.get(self.args.label) == "off" else 100
""",
    ),
    "reserve": (
        "ReservePlugin",
        "CycleState, PodInfo, Status",
        """    def reserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        return None

    def unreserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
        return None
""",
    ),
    "permit": (
        "PermitPlugin",
        "SUCCESS, CycleState, Permission, PodInfo",
        """    def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
        return Permission(SUCCESS)
""",
    ),
    "prebind": (
        "PreBindPlugin",
        "CycleState, PodInfo, Status",
        """    async def pre_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        return None
""",
    ),
    "postbind": (
        "PostBindPlugin",
        "CycleState, PodInfo",
        """    async def post_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
        return None
""",
    ),
}
KINDS = tuple(_KINDS)

_PYPROJECT = Template("""\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "$package"
version = "0.1.0"
description = "The kubesched plugin $name"
requires-python = ">=3.11"
dependencies = ["kubesched"]

[project.optional-dependencies]
test = ["kubesched[testing]"]

[project.entry-points."kubesched.plugins"]
$name = "$module:$name"

[tool.hatch.build.targets.wheel]
packages = ["src/$module"]

[tool.pytest.ini_options]
pythonpath = ["src"]

[tool.mypy]
strict = true
mypy_path = "src"
files = ["src", "tests"]
""")
_PLUGIN = Template('''\
"""The plugin $name."""

from dataclasses import dataclass

from kubesched import $imports


@dataclass
class ${name}Args:
    """The arguments of $name in pluginConfig."""

    label: str = "$package"


class $name($base):
    """Say here what the plugin is for."""

    name = "$name"

    def __init__(self, args: ${name}Args) -> None:
        self.args = args

$hook''')
_TEST = Template('''\
"""$name decides about pods, and holds to the contract."""

from kubesched.testing import SchedulerFactory, a_node, a_pod, check_plugin

from $module import $name


def test_a_pod_is_bound_to_a_plain_node(scheduler: SchedulerFactory) -> None:
    world = scheduler($name)
    world.put(a_node("n1"), a_pod("web"))
    world.run(seconds=30)
    assert world.node_of("web") == "n1"


def test_it_holds_to_the_contract() -> None:
    report = check_plugin($name, speed=False)
    assert report, report.text
''')
_README = Template("""\
# $name

A plugin for [kubesched](https://pypi.org/project/kubesched/), enabled in a configuration by its name:

```yaml
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: $name}]}}
  pluginConfig:
  - name: $name
    args: {label: $package}
```

```console
$$ pip install -e ".[test]"
$$ pytest
$$ kubesched plugins check $module
```
""")
_CI = Template("""\
name: test
on: [push, pull_request]
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    timeout-minutes: 20
    steps:
    # a tag can be moved, a commit cannot
    - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
      with: {persist-credentials: false}
    - uses: actions/setup-python@5fda3b95a4ea91299a34e894583c3862153e4b97 # v7.0.0
      with: {python-version: "3.12"}
    - run: pip install -e ".[test]"
    - run: pytest
    - run: kubesched plugins check $module
""")


def write_package(name: str, kind: str, directory: Path | None) -> list[Path]:
    """Write a package for a new plugin; return its files. KubeschedError if the name is invalid or taken, or the
    directory is not empty.
    """
    if not _NAME.fullmatch(name):
        raise PluginError(f"{name!r} is not a plugin name; use letters and digits, such as QuietNodes")
    if name in IN_TREE:
        raise PluginError(f"a plugin named {name} already exists (in-tree); choose another name")
    words = re.findall("[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[A-Z]", name)
    module, package = "_".join(words).lower(), "-".join(words).lower()
    folder = directory or Path(package)
    base, imports, hook = _KINDS[kind]
    names = ", ".join(sorted([base, *imports.split(", ")], key=lambda each: (not each.isupper(), each.islower(), each)))
    known = {"name": name, "module": module, "package": package, "base": base, "imports": names, "hook": hook}
    files = {
        folder / "pyproject.toml": _PYPROJECT,
        folder / "README.md": _README,
        folder / "src" / module / "__init__.py": _PLUGIN,
        folder / "tests" / f"test_{module}.py": _TEST,
        folder / ".github" / "workflows" / "test.yaml": _CI,
    }
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise KubeschedError(f"{folder}: already exists; set --directory to an empty or new folder")
        for path, template in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(template.substitute(known))
    except OSError as error:
        raise KubeschedError(f"{error.filename or folder}: cannot be written: {error.strerror}") from None
    return list(files)

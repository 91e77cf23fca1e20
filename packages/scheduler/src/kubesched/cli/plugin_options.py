"""`--plugin`, the option of every command that runs plugins.

In: texts such as `my_package.plugins:QuietNodes` or `my_plugins.py`. Out: a registry of these and of the plugins that
installed packages declare under `kubesched.plugins`. This module reads files; `plugin_discovery` does the rest.
"""

import functools
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import click

from kubesched.cli.plugin_discovery import (
    OF_FILE,
    SourcedRegistry,
    add_from_module,
    add_reference,
    discover_installed,
    guarded_load,
    installed_reference,
    make_importable,
)
from kubesched.config.errors import ConfigError
from kubesched.config.load import Loaded
from kubesched.core.framework.building.registry import Registry
from kubesched.errors import PluginError

F = TypeVar("F", bound=Callable[..., Any])

OPTION = "--plugin"
_UNKNOWN = re.compile(r'Plugin "[^"]*" does not exist')


def plugin_option(command: F) -> F:
    """Give a command `--plugin`, and the out-of-tree plugins as its parameter `registry`."""

    @click.option(
        "--plugin",
        "plugins",
        multiple=True,
        metavar="SOURCE",
        help="Out-of-tree plugins: module:Class, or all plugins of a module or a Python file. May be repeated.",
    )
    @functools.wraps(command)
    def with_registry(*args: Any, plugins: tuple[str, ...], **kwargs: Any) -> Any:
        return command(*args, registry=load_plugins(plugins), **kwargs)

    return with_registry  # type: ignore[return-value]


def load_plugins(sources: Iterable[str] = ()) -> Registry:
    """Return the out-of-tree plugins, first of `sources`, then of installed packages.

    If a plugin is in `sources` and installed, as with its author, the one in `sources` counts.
    """
    registry = SourcedRegistry()
    for source in dict.fromkeys(sources):
        _add(registry, source)
    discover_installed(registry, warn=lambda problem: click.echo(f"Warning: {problem}", err=True))
    return registry


def check_enabled(registry: Registry, loaded: Loaded, note: Callable[[str], None]) -> None:
    """Warn of each `--plugin` of which no plugin is enabled: plugins have no effect unless a profile enables them."""
    enabled = {plugin.name for profile in loaded.profiles for point in profile.points.values() for plugin in point}
    by_source: dict[str, list[str]] = {}
    for name in registry:
        by_source.setdefault(registry.source(name), []).append(name)
    for source, names in by_source.items():
        if source.startswith(OPTION) and enabled.isdisjoint(names):
            example = f"profiles: [{{plugins: {{multiPoint: {{enabled: [{{name: {names[0]}}}]}}}}}}]"
            note(f"{source}: no profile enables {' or '.join(names)}; enable it in the file of --config:  {example}")


def with_plugin_hint(error: ConfigError) -> ConfigError:
    """Return an error about an unknown plugin with a hint to --plugin; return any other error unchanged."""
    hint = "; add out-of-tree plugins with --plugin FILE.py, --plugin module:Class or an installed package"
    return ConfigError(
        error.stage, [f"{problem}{hint}" if _UNKNOWN.search(problem) else problem for problem in error.errors]
    )


def _add(registry: SourcedRegistry, text: str) -> None:
    source = f"{OPTION} {text}"
    file, attribute = _split_file(text)
    if file:
        add_from_module(registry, _module_in(Path(file), source), attribute, source)
    else:
        make_importable(os.getcwd())
        add_reference(registry, installed_reference(text) or text, source)


def _split_file(text: str) -> tuple[str, str]:
    """Return file and attribute if the text names a file (`a.py`, `dir/a`, `a.py:Class`), else two empty texts."""
    before, colon, attribute = text.rpartition(":")
    if colon and before.endswith(".py") and not attribute.endswith(".py"):
        return before, attribute
    return (text, "") if text.endswith(".py") or os.sep in text else ("", "")


def _module_in(path: Path, source: str) -> ModuleType:
    """Return the module that a Python file defines, executed again."""
    try:
        resolved = path.resolve(strict=True)
        if not resolved.is_file():
            raise PluginError(f"{source}: not a file; give a Python file or module:Class")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PluginError(f"{source}: {reason}; give a Python file or module:Class") from None
    # Two files may have the same name; a stable unique name keeps them apart.
    name = f"{OF_FILE}{path.stem.replace('.', '_')}_{sha256(str(resolved).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, resolved)
    if spec is None or spec.loader is None:
        raise PluginError(f"{source}: not a Python file; its name must end in .py")
    make_importable(str(resolved.parent))
    module = importlib.util.module_from_spec(spec)
    # Registered before it is executed, as an import statement does: classes look up their own module.
    sys.modules[name] = module
    loader = spec.loader
    try:
        guarded_load(lambda: loader.exec_module(module), source)
    except PluginError:
        del sys.modules[name]
        raise
    return module

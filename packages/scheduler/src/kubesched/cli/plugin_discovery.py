"""Where out-of-tree plugins come from: installed packages, modules, and loaded files.

From entry points, `module:attribute` texts and loaded modules to a registry. Each problem is a PluginError of one
sentence that names the source and the fix; no exception of a foreign module surfaces as a traceback. As upstream, the
names of in-tree plugins are reserved.
"""

import importlib
import importlib.metadata
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from kubesched.config.intree import IN_TREE
from kubesched.core.framework.building.registry import Registry, declared_plugins, plugin_class
from kubesched.core.framework.calling.hooks import is_interrupt
from kubesched.core.framework.plugin import Plugin, extension_points_of
from kubesched.core.framework.values.texts import described
from kubesched.errors import PluginError

ENTRY_POINT_GROUP = "kubesched.plugins"
# modules of the files of --plugin
OF_FILE = "kubesched_plugins_"
_PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep

T = TypeVar("T")


class SourcedRegistry(Registry):
    """A registry of out-of-tree plugins that remembers the origin of each."""

    def __init__(self) -> None:
        super().__init__()
        self._sources: dict[str, tuple[str, type[Plugin]]] = {}

    def add(self, plugin: type[Plugin], source: str) -> None:
        """Register a plugin class; the same class from a second source is no conflict."""
        name = plugin.name
        earlier = self._sources.get(name)
        if earlier is not None and _is_the_same(earlier[1], plugin):
            return
        if name in IN_TREE or earlier is not None:
            owner = "in-tree" if earlier is None else f"from {earlier[0]}"
            raise PluginError(
                f"{source}: a plugin named {name} already exists ({owner}); "
                f"set `name` of {plugin.__qualname__} to something else"
            )
        try:
            self.register(plugin)
        except PluginError as error:
            raise PluginError(f"{source}: {error}") from None
        self._sources[name] = (source, plugin)

    def source(self, name: str) -> str:
        """Return the origin of a plugin."""
        return self._sources[name][0] if name in self._sources else ""


def _is_the_same(earlier: type[Plugin], plugin: type[Plugin]) -> bool:
    """Return whether two classes are one plugin: the same class, or a file's class that is also installed."""
    if earlier is plugin:
        return True
    modules = earlier.__module__, plugin.__module__
    return earlier.__qualname__ == plugin.__qualname__ and any(name.startswith(OF_FILE) for name in modules)


def installed_reference(name: str) -> str:
    """Return what an installed package declares under the name of a plugin; an empty text if none does."""
    if not name.isidentifier():
        return ""
    found = importlib.metadata.entry_points(group=ENTRY_POINT_GROUP, name=name)
    return next((each.value for each in found), "")


def discover_installed(
    registry: SourcedRegistry,
    entry_points: Iterable[importlib.metadata.EntryPoint] | None = None,
    warn: Callable[[str], None] | None = None,
) -> None:
    """Register the plugins that installed packages declare in the entry point group `kubesched.plugins`.

    With `warn`, a broken package is reported to it, and the plugins of all other packages are still registered.
    """
    if entry_points is None:
        entry_points = importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)
    for entry_point in entry_points:
        package = f" of {entry_point.dist.name}" if entry_point.dist is not None else ""
        source = f"entry point {entry_point.name!r}{package}"
        try:
            add_from_module(registry, imported(entry_point.module, source), entry_point.attr, source)
        except PluginError as error:
            if warn is None:
                raise
            warn(f"{error}; its plugins cannot be enabled")


def add_reference(registry: SourcedRegistry, reference: str, source: str) -> None:
    """Register what `module:attribute` names, or all plugin classes of `module`."""
    module, _, attribute = reference.partition(":")
    add_from_module(registry, imported(module.strip(), source), attribute.strip(), source)


def add_from_module(registry: SourcedRegistry, module: ModuleType, attribute: str, source: str) -> None:
    """Register one attribute of a module (`a.b` is nested), or without an attribute all plugin classes of the
    module.
    """
    if not attribute:
        classes = plugin_classes(module)
        if not classes:
            raise PluginError(
                f"{source}: no plugin in it; define a class derived from FilterPlugin, ScorePlugin, ... with a `name`, "
                "or decorate a function with @filter_plugin or @score_plugin"
            )
        for plugin in classes:
            registry.add(plugin, source)
        return
    value: object = module
    for part in attribute.split("."):
        if not hasattr(value, part):
            there = ", ".join(plugin.__qualname__ for plugin in plugin_classes(module)) or "none"
            raise PluginError(f"{source}: no attribute {attribute}; plugins of the module: {there}")
        value = getattr(value, part)
    if isinstance(value, ModuleType):
        add_from_module(registry, value, "", source)
        return
    try:
        classes = declared_plugins(value)
    except PluginError:
        raise PluginError(
            f"{source}: {attribute} is not a kubesched plugin but of type {type(value).__name__}; "
            "expected a class derived from FilterPlugin, ScorePlugin, ..., or a list of such classes"
        ) from None
    for plugin in classes:
        registry.add(plugin, source)


def plugin_classes(module: ModuleType) -> list[type[Plugin]]:
    """Return the plugin classes that a module or package defines itself, in order.

    Classes whose name begins with an underscore are private. Classes that only serve as a base are no plugins.
    """
    own = (module.__name__, module.__name__ + ".")
    classes = [
        plugin
        for name, value in vars(module).items()
        if (plugin := plugin_class(value)) is not None
        and extension_points_of(plugin)
        and not name.startswith("_")
        and (plugin.__module__ == own[0] or plugin.__module__.startswith(own[1]))
    ]
    classes = list(dict.fromkeys(classes))
    return [
        plugin
        for plugin in classes
        if plugin.name or not any(other is not plugin and issubclass(other, plugin) for other in classes)
    ]


def imported(name: str, source: str) -> ModuleType:
    """Return a module by its name."""
    if not name or name.startswith("."):
        raise PluginError(f"{source}: not a module; write module:Class or path/to/file.py")

    def load() -> ModuleType:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            # A missing module that the plugin's module imports is reported below.
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            raise PluginError(
                f"{source}: no module {error.name}; install the package that contains it, or run in its folder"
            ) from None

    return guarded_load(load, source)


def guarded_load(load: Callable[[], T], source: str) -> T:
    """Return the result of `load`; turn any exception of the foreign code into a PluginError."""
    try:
        return load()
    except PluginError as error:
        text = str(error)
        raise PluginError(text if text.startswith(source) else f"{source}: {text}") from None
    except SyntaxError as error:
        line = "" if error.lineno is None else f" in line {error.lineno}"
        raise PluginError(f"{source}: syntax error{line}: {_one_line(error.msg)}") from None
    except BaseException as error:
        if is_interrupt(error):
            raise
        raise PluginError(f"{source}: importing it failed{_place(error)} with {_described(error)}") from None


def _place(error: BaseException) -> str:
    """Return the line of foreign code that failed: the first outside kubesched and the import machinery."""
    for frame in traceback.extract_tb(error.__traceback__):
        ours = frame.filename.startswith((_PACKAGE, "<frozen importlib", importlib.__file__))
        if not ours:
            return f" at {frame.filename}:{frame.lineno}"
    return ""


def _described(error: BaseException) -> str:
    return _one_line(described(error))


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def make_importable(folder: str) -> None:
    """Make the modules in a folder importable, after everything on the path."""
    if folder not in sys.path:
        sys.path.append(folder)

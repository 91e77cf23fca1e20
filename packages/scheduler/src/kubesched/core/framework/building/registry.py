"""The registry of plugins: in-tree and out-of-tree ones.

From classes, functions, entry points and `--plugin` options to factories by name. A factory is called with the
services its parameters name.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from kubesched.core.framework.plugin import Plugin, extension_points_of
from kubesched.errors import PluginError

Factory = Callable[..., Plugin]
# the attribute of a decorated function that has its plugin class
CLASS_OF_FUNCTION: Final = "__kubesched_plugin__"


class Registry:
    """Plugin factories by name."""

    def __init__(self) -> None:
        self._factories: dict[str, Factory] = {}
        self._points: dict[str, frozenset[str]] = {}
        self._in_tree: set[str] = set()

    def __iter__(self) -> Iterator[str]:
        return iter(self._factories)

    def __contains__(self, name: object) -> bool:
        return name in self._factories

    def register(
        self, declared: type[Plugin] | Callable[..., Any], factory: Factory | None = None, *, in_tree: bool = False
    ) -> None:
        """Add a plugin class, or a decorated function, under its name; `factory` builds it, by default the class."""
        plugin = plugin_class(declared)
        if plugin is None:
            raise PluginError(
                f"{declared!r} is no plugin; derive a class from FilterPlugin, ScorePlugin, ..., or decorate a function"
            )
        name = plugin.name
        if not name:
            raise PluginError(f"plugin class {plugin.__qualname__} has no name; set the class attribute `name`")
        if name in self._factories:
            raise PluginError(f"a plugin named {name} already exists")
        points = extension_points_of(plugin)
        if not points:
            raise PluginError(
                f"plugin {name!r} extends no extension point; derive it from FilterPlugin, ScorePlugin, ..."
            )
        self._factories[name] = factory or plugin
        self._points[name] = points
        if in_tree:
            self._in_tree.add(name)

    def is_in_tree(self, name: str) -> bool:
        """Return whether a plugin is part of the scheduler."""
        return name in self._in_tree

    def factory(self, name: str) -> Factory:
        """Return the factory of a plugin."""
        try:
            return self._factories[name]
        except KeyError:
            raise PluginError(f"{name} does not exist") from None

    def source(self, name: str) -> str:
        """Return the source of a plugin, an empty text if it is unknown."""
        return ""

    def catalog(self) -> dict[str, frozenset[str]]:
        """Return the extension points of every plugin, by name."""
        return dict(self._points)

    def adopt(self, other: "Registry", name: str) -> None:
        """Add a plugin of another registry."""
        if name in self._factories:
            raise PluginError(f"a plugin named {name} already exists")
        self._factories[name] = other._factories[name]
        self._points[name] = other._points[name]
        if name in other._in_tree:
            self._in_tree.add(name)

    def copy(self) -> "Registry":
        """Return an independent copy."""
        other = Registry()
        other._factories = dict(self._factories)
        other._points = dict(self._points)
        other._in_tree = set(self._in_tree)
        return other


def plugin_class(value: Any) -> type[Plugin] | None:
    """Return the plugin class that a class, or a function decorated as a plugin, stands for; None for anything else."""
    found = value if isinstance(value, type) else getattr(value, CLASS_OF_FUNCTION, None)
    return found if isinstance(found, type) and issubclass(found, Plugin) else None


def declared_plugins(value: Any) -> list[type[Plugin]]:
    """Return the plugin classes of a loaded attribute: a class or decorated function, or a list of them."""
    values = value if isinstance(value, list | tuple) else [value]
    classes = [plugin for item in values if (plugin := plugin_class(item)) is not None]
    if len(classes) != len(values) or not classes:
        raise PluginError(
            f"{value!r} is no kubesched plugin; expected a class derived from FilterPlugin, ScorePlugin, ..."
        )
    return classes

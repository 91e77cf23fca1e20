"""Plugins from plain functions, the simplest way to write one.

    @filter_plugin("QuietNodes")
    def quiet_nodes(pod, node):
        return unschedulable("node(s) nearly full") if node.free.milli_cpu < 100 else None

From a function to a plugin class under a name. A function of (pod, nodes) is the column form. The function itself stays
unchanged: a test calls it as any other function, and registries find its class (`plugin_class`).
"""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import CLASS_OF_FUNCTION
from kubesched.core.framework.plugin import FilterPlugin, Plugin, ScorePlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import Status
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.errors import PluginError

F = TypeVar("F", bound=Callable[[Any, Any], Any])
Function = Callable[[Any, Any], Any]


def filter_plugin(name: str) -> Callable[[F], F]:
    """Return a decorator that makes a filter of a function of (pod, node) or (pod, nodes)."""

    def decorate(function: F) -> F:
        if _is_column_form(name, function):

            class ColumnFilter(FilterPlugin):
                def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
                    return function(pod, nodes)  # type: ignore[no-any-return]

            return _belonging_to(ColumnFilter, name, function)

        class OneNodeFilter(FilterPlugin):
            def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
                return function(pod, node)  # type: ignore[no-any-return]

        return _belonging_to(OneNodeFilter, name, function)

    return decorate


def score_plugin(name: str) -> Callable[[F], F]:
    """Return a decorator that makes a score of a function of (pod, node) or (pod, nodes), from 0 to 100."""

    def decorate(function: F) -> F:
        if _is_column_form(name, function):

            class ColumnScore(ScorePlugin):
                def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Any:
                    return function(pod, nodes)

            return _belonging_to(ColumnScore, name, function)

        class OneNodeScore(ScorePlugin):
            def score(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> int | Status:
                return function(pod, node)  # type: ignore[no-any-return]

        return _belonging_to(OneNodeScore, name, function)

    return decorate


def _is_column_form(name: str, function: Function) -> bool:
    """Return whether the second parameter is named `nodes`: singular is the row form, plural the column form."""
    if inspect.iscoroutinefunction(function):
        raise PluginError(
            f"plugin {name!r}: {function.__name__} is `async def`; filters and scores are plain functions"
        )
    parameters = list(inspect.signature(function).parameters)
    if len(parameters) != 2:
        raise PluginError(f"plugin {name!r}: {function.__name__} must take (pod, node) or (pod, nodes)")
    return parameters[1] == "nodes"


def _belonging_to(plugin: type[Plugin], name: str, function: F) -> F:
    """Name a plugin class after a function; return the function, which leads registries to the class."""
    plugin.name = name
    plugin.__name__ = plugin.__qualname__ = function.__name__
    plugin.__module__ = function.__module__
    plugin.__doc__ = function.__doc__
    setattr(function, CLASS_OF_FUNCTION, plugin)
    return function

"""A compiled profile: the plugins of one scheduler name, in order, at each extension point.

From configuration (already expanded and checked) and the registry to plugin objects. Everything that can be wrong is
an error here, at start, that names the profile, the plugin and the fix.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from kubesched.config.build import EnabledPlugin
from kubesched.config.load import Loaded
from kubesched.config.types import RawArgs
from kubesched.core.framework import plugin as points
from kubesched.core.framework.building.hook_signatures import signature_problem
from kubesched.core.framework.building.plugin_args import args_schema, decoded_args
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.calling.answers import checked_registrations
from kubesched.core.framework.calling.hooks import ask, is_interrupt
from kubesched.core.framework.observing.observer import NOBODY
from kubesched.core.framework.plugin import EXTENSION_POINTS, Plugin
from kubesched.core.framework.services.offered import ReleasedService, services_of
from kubesched.core.framework.values.events import Registration
from kubesched.core.framework.values.status import Status
from kubesched.core.framework.values.texts import described
from kubesched.errors import KubeschedError, PluginError

P = TypeVar("P", bound=Plugin)


class Profile:
    """Plugin objects by extension point, for one scheduler name."""

    def __init__(
        self,
        scheduler_name: str,
        enabled: Mapping[str, Sequence[EnabledPlugin]],
        plugins: Mapping[str, Plugin],
        percentage_of_nodes_to_score: int | None = None,
        args: Mapping[str, Any] | None = None,
    ) -> None:
        self.scheduler_name = scheduler_name
        self.enabled = enabled
        # of the plugins, by name, as they were configured
        self.args = args or {}
        self.percentage_of_nodes_to_score = percentage_of_nodes_to_score
        self.plugins = dict(plugins)
        self.weights = {plugin.name: plugin.weight for plugin in enabled.get("score", ())}

        def at(point: str, kind: type[P]) -> tuple[P, ...]:
            return tuple(cast(P, plugins[plugin.name]) for plugin in enabled.get(point, ()))

        self.pre_enqueue = at("preEnqueue", points.PreEnqueuePlugin)
        self.queue_sort = at("queueSort", points.QueueSortPlugin)
        self.pre_filter = at("preFilter", points.PreFilterPlugin)
        self.filter = at("filter", points.FilterPlugin)
        self.post_filter = at("postFilter", points.PostFilterPlugin)
        self.pod_group_post_filter = [p for p in plugins.values() if isinstance(p, points.PodGroupPostFilterPlugin)]
        self.pre_score = at("preScore", points.PreScorePlugin)
        self.score = at("score", points.ScorePlugin)
        self.reserve = at("reserve", points.ReservePlugin)
        self.permit = at("permit", points.PermitPlugin)
        self.pre_bind = at("preBind", points.PreBindPlugin)
        self.bind = at("bind", points.BindPlugin)
        self.post_bind = at("postBind", points.PostBindPlugin)
        self.placement_generate = at("placementGenerate", points.PlacementGeneratePlugin)
        self.placement_score = at("placementScore", points.PlacementScorePlugin)
        self.placement_weights = {plugin.name: plugin.weight for plugin in enabled.get("placementScore", ())}

    def same_as(self, other: "Profile") -> bool:
        """Return whether another profile has the same plugin objects at the same points, with the same weights."""
        return (
            _identities(self.plugins) == _identities(other.plugins)
            and self.enabled == other.enabled
            and self.percentage_of_nodes_to_score == other.percentage_of_nodes_to_score
        )


def _identities(plugins: Mapping[str, Plugin]) -> dict[str, int]:
    return {name: id(plugin) for name, plugin in plugins.items()}


def compile_profiles(
    loaded: Loaded, registry: Registry, services: Mapping[str, Any], before: Mapping[str, Profile] | None = None
) -> dict[str, Profile]:
    """Return every profile of a configuration by scheduler name, its plugins built.

    Plugins of the profiles that were in force `before` are handed over with their state where their arguments are the
    same, and so are whole profiles. If one cannot be built, the plugins built so far are released.
    """
    compiled: dict[str, Profile] = {}
    try:
        for name, profile in _compiled(loaded, registry, services, before or {}):
            compiled[name] = profile
    except BaseException:
        release_plugins(compiled.values(), (before or {}).values())
        raise
    return compiled


def release_plugins(retired: Iterable[Profile], in_use: Iterable[Profile]) -> None:
    """Release the services of the plugins of some profiles, except for plugins that other profiles use."""
    used = {id(plugin) for profile in in_use for plugin in profile.plugins.values()}
    for plugin in (plugin for profile in retired for plugin in profile.plugins.values()):
        if id(plugin) not in used:
            used.add(id(plugin))
            for service in plugin.held_services:
                service.release()


def _compiled(
    loaded: Loaded, registry: Registry, services: Mapping[str, Any], before: Mapping[str, Profile]
) -> Iterator[tuple[str, Profile]]:
    for number, resolved in enumerate(loaded.profiles):
        paths = {
            entry.name: f"profiles[{number}].pluginConfig[{place}]"
            for place, entry in enumerate(resolved.config.plugin_config)
        }
        args = {entry.name: resolved.args(entry.name) for entry in resolved.config.plugin_config}
        profile = compile_profile(
            resolved.scheduler_name,
            {point: resolved.at(point) for point in EXTENSION_POINTS},
            {name: value.value if isinstance(value, RawArgs) else value for name, value in args.items()},
            registry,
            {**services, "gates": loaded.gates},
            resolved.config.percentage_of_nodes_to_score,
            paths,
            before.get(resolved.scheduler_name),
        )
        yield resolved.scheduler_name, profile


def compile_profile(
    scheduler_name: str,
    enabled: Mapping[str, Sequence[EnabledPlugin]],
    args: Mapping[str, Any],
    registry: Registry,
    services: Mapping[str, Any],
    percentage_of_nodes_to_score: int | None = None,
    paths: Mapping[str, str] | None = None,
    before: Profile | None = None,
) -> Profile:
    """Return the profile with every plugin built; `services` are the arguments for constructors, by parameter name.

    `paths` are the paths of the plugins' arguments in the configuration. Plugins of the profile `before` are taken over
    where their arguments are the same, and so is the profile itself.
    """
    names = dict.fromkeys(plugin.name for plugins in enabled.values() for plugin in plugins)
    made = Profile(scheduler_name, {}, {})
    built: dict[str, Plugin] = {}
    try:
        for name in names:
            known = before.plugins.get(name) if before is not None else None
            if before is not None and known is not None and before.args.get(name) == args.get(name):
                built[name] = known
            else:
                built[name] = made.plugins[name] = _built(name, args, registry, services, scheduler_name, paths or {})
        for name, plugin in built.items():
            _check_methods(scheduler_name, name, plugin)
        for point, plugins in enabled.items():
            for each in plugins:
                _check_point(scheduler_name, point, each.name, built[each.name])
    except BaseException:
        release_plugins([made], ())
        raise
    profile = Profile(scheduler_name, enabled, built, percentage_of_nodes_to_score, args)
    return before if before is not None and before.same_as(profile) else profile


def _built(
    name: str,
    args: Mapping[str, Any],
    registry: Registry,
    services: Mapping[str, Any],
    scheduler_name: str,
    paths: Mapping[str, str],
) -> Plugin:
    """Return a new plugin; its errors name the path of its arguments."""
    if name not in registry:
        raise PluginError(
            f"profile {scheduler_name!r}: plugin {name!r} does not exist; register it, install the package that "
            "declares it, or name its module or file"
        )
    factory = registry.factory(name)
    in_tree = registry.is_in_tree(name)
    offered = {
        **services_of(name, services, getattr(factory, "writes", ()), in_tree=in_tree),
        "args": args.get(name),
    }
    held = [each for each in map(offered.get, ("cluster", "background")) if isinstance(each, ReleasedService)]
    try:
        plugin = build_plugin(name, factory, offered, scheduler_name)
    except BaseException as error:
        for service in held:
            service.release()
        # a constructor complains of `args.field`
        path = paths.get(name)
        if not isinstance(error, PluginError) or not path:
            raise
        raise PluginError(str(error).replace(": args", f": {path}.args", 1)) from error
    # plugins may be frozen
    object.__setattr__(plugin, "held_services", held)
    object.__setattr__(plugin, "in_tree", in_tree)
    return plugin


def build_plugin(name: str, factory: Callable[..., Plugin], services: Mapping[str, Any], scheduler_name: str) -> Plugin:
    """Build a plugin; its constructor gets the services that its parameters name."""
    wanted: dict[str, Any] = {}
    for parameter in inspect.signature(factory).parameters.values():
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            continue
        if parameter.name in services:
            wanted[parameter.name] = services[parameter.name]
        elif parameter.default is inspect.Parameter.empty:
            offered = ", ".join(sorted(services))
            raise PluginError(
                f"profile {scheduler_name!r}: plugin {name!r} asks for {parameter.name!r}, which nobody provides; "
                f"its constructor may ask for: {offered}"
            )
    try:
        schema = args_schema(factory) if "args" in wanted else None
        if schema is not None and not isinstance(wanted["args"], schema):
            wanted["args"] = decoded_args(schema, wanted["args"], name)
        plugin = factory(**wanted)
    except KubeschedError as error:
        raise PluginError(f"profile {scheduler_name!r}: plugin {name!r}: {error}") from None
    except BaseException as error:
        if is_interrupt(error):
            raise
        raise PluginError(
            f"profile {scheduler_name!r}: plugin {name!r} cannot be built: its constructor failed with "
            f"{described(error)}"
        ) from error
    if not isinstance(plugin, Plugin):
        raise PluginError(
            f"profile {scheduler_name!r}: the factory of plugin {name!r} returned {type(plugin).__name__}, "
            "not a kubesched.core.framework.plugin.Plugin"
        )
    # plugins may be frozen
    object.__setattr__(plugin, "observed_by", services.get("observers", NOBODY))
    return plugin


def registered_events(plugin: Plugin) -> tuple[Registration, ...]:
    """Return the registrations of a plugin; raises PluginError if the hook fails."""
    found = ask(plugin, "events_to_register", checked_registrations)
    if isinstance(found, Status):
        raise PluginError(found.message)
    return found


_SYNCHRONOUS = (
    "events_to_register",
    "key",
    "score_key",
    "filter_question",
    "score_question",
    "filter_worlds",
    "pre_enqueue",
    "sort_key",
    "pre_filter",
    "add_pod",
    "remove_pod",
    "filter",
    "filter_nodes",
    "post_filter",
    "pod_group_post_filter",
    "pre_score",
    "score",
    "score_nodes",
    "normalize_scores",
    "reserve",
    "unreserve",
    "permit",
    "pre_bind_pre_flight",
    "generate_placements",
    "score_placement",
    "normalize_placement_scores",
)
# The method that a plugin must define to be enabled at a point, unless it has custom questions.
_HOOKS = {
    "preEnqueue": "pre_enqueue",
    "queueSort": "sort_key",
    "preFilter": "pre_filter",
    "postFilter": "post_filter",
    "preScore": "pre_score",
    "reserve": "reserve",
    "permit": "permit",
    "preBind": "pre_bind",
    "bind": "bind",
    "postBind": "post_bind",
    "placementGenerate": "generate_placements",
    "placementScore": "score_placement",
}
_QUESTIONS = {"preFilter": "filter_question", "preScore": "score_question"}
_COROUTINES = {"preBind": "pre_bind", "bind": "bind", "postBind": "post_bind"}
_ONE_OF = {
    "filter": ("filter", "filter_nodes", "filter_question"),
    "score": ("score", "score_nodes", "score_question"),
}


def _check_methods(scheduler_name: str, name: str, plugin: Plugin) -> None:
    """Raise PluginError if a method of a plugin cannot be called as it will be."""
    where = f"profile {scheduler_name!r}: plugin {name!r}"
    for method in _SYNCHRONOUS:
        if inspect.iscoroutinefunction(getattr(plugin, method, None)):
            raise PluginError(f"{where}: {method} is `async def`; only pre_bind, bind and post_bind may be coroutines")
    kind: Any = type(plugin)
    problem = signature_problem(kind, (*_SYNCHRONOUS, *_COROUTINES.values()))
    if problem:
        raise PluginError(f"{where}: {problem}")


def _check_point(scheduler_name: str, point: str, name: str, plugin: Plugin) -> None:
    """Raise PluginError if a plugin does not implement the point that it is enabled at."""
    where = f"profile {scheduler_name!r}: plugin {name!r}"
    base = EXTENSION_POINTS[point]
    if not isinstance(plugin, base):
        raise PluginError(f"{where} is enabled at {point} but does not extend {base.__name__}")
    hook, question = _HOOKS.get(point), _QUESTIONS.get(point)
    answers_by_question = question is not None and hasattr(plugin, question)
    if hook is not None and not answers_by_question and getattr(type(plugin), hook) is getattr(base, hook):
        raise PluginError(f"{where} is enabled at {point} but does not define {hook}")
    coroutine = _COROUTINES.get(point)
    if coroutine is not None and not inspect.iscoroutinefunction(getattr(plugin, coroutine)):
        raise PluginError(f"{where}: {coroutine} must be `async def`, since it waits for the outside world")
    choices = _ONE_OF.get(point, ())
    if choices and all(getattr(type(plugin), choice, None) is getattr(base, choice, None) for choice in choices):
        raise PluginError(f"{where} is enabled at {point} but defines neither {choices[0]} nor {choices[1]}")

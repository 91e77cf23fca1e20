"""The binding cycle of one pod, in numbered steps.

From a pod that took a place to one that is bound, or a status that says why it is not. Steps may take long; meanwhile
other pods are scheduled. Nothing here touches the table: whoever started the cycle undoes what has to be undone.
"""

# upstream: schedule_one.go (bindingCycle), framework/runtime/framework.go (RunPreBindPlugins, RunBindPlugins) (v1.36)

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from kubesched.config.types import Extender
from kubesched.core.binding.hooks import ask as await_hook
from kubesched.core.binding.waiting_pods_map import PermitWait, PodsInPreBind, WaitingPodsMap
from kubesched.core.framework.answers import checked_status, unchecked
from kubesched.core.framework.effects import Bind, EffectError, Effects, Emit, Patch
from kubesched.core.framework.extenders import is_interested
from kubesched.core.framework.hooks import ask
from kubesched.core.framework.observer import BIND, POST_BIND, PRE_BIND, PRE_BIND_PRE_FLIGHT, Bound, Observers
from kubesched.core.framework.plugin import Plugin, PreBindPlugin
from kubesched.core.framework.status import SKIP, Code, Status, error
from kubesched.core.scheduling.outcomes import Placed


class BindingServices(msgspec.Struct):
    """What a binding cycle works with.

    `permitted` is told when a pod needs the queue no more; `note` takes lines for the log; `ask_to_bind` has an
    extender bind a pod and returns what went wrong; `announce_expectation` is the gate NominatedNodeNameForExpectation;
    `observers` are told what takes how long.
    """

    effects: Effects
    waiting: WaitingPodsMap
    pre_binding: PodsInPreBind
    permitted: Callable[[str], None]
    note: Callable[[str], None]
    ask_to_bind: Callable[[Extender, Bind], Awaitable[str]] | None = None
    extenders: Sequence[Extender] = ()
    announce_expectation: bool = True
    observers: Observers | None = None


class NotBound(msgspec.Struct, frozen=True):
    """Why a pod is not bound.

    `by_permit` tells that a plugin turned it away while it waited for permission; `tried` that it was sent to be bound,
    so that it may be bound all the same if only the answer was lost.
    """

    status: Status
    by_permit: bool = False
    tried: bool = False


async def bind_pod(placed: Placed, services: BindingServices) -> NotBound | None:
    """Bind a pod; return None, or why it is not bound."""
    # 1. Is there anything to prepare?
    preparing, failure = _pre_flights(placed)
    if failure is not None:
        return NotBound(failure)
    waiting = _waiting(placed, services)
    # 2. Let others know where the pod will be, if that will take a while.
    if services.announce_expectation and (preparing or waiting is not None):
        await _announce(placed, services)
    # 3. Wait for permission.
    if waiting is not None:
        status = await _permission(placed, waiting, services)
        if not status.ok:
            if status.rejected:
                return NotBound(status, by_permit=True)
            return NotBound(error(f"waiting on permit for pod: {status.message}"))
    services.permitted(placed.pod.uid)
    # 4. Prepare.
    failure = await _prepared(placed, preparing, services.pre_binding)
    if failure is not None:
        return NotBound(failure)
    # 5. Bind.
    failure = await _bind(placed, services)
    if failure is not None:
        return NotBound(failure, tried=True)
    # 6. Tell.
    pod = placed.pod
    tell_bound(placed, services.observers)
    note = f"Successfully assigned {pod.namespace}/{pod.name} to {placed.node_name}"
    await _quietly(services, Emit(pod.pod, "Normal", "Scheduled", "Binding", note))
    await _post_bind(placed, services)
    return None


def tell_bound(placed: Placed, observers: Observers | None) -> None:
    """Tell observers that a pod is bound."""
    if observers is None:
        return
    queued = placed.queued
    now = asyncio.get_running_loop().time()
    observers.pod_bound(
        Bound(
            placed.pod,
            placed.node_name,
            placed.profile.scheduler_name,
            queued.attempts,
            queued.stopwatch.seconds,
            now - (queued.initial_attempt_at if queued.initial_attempt_at is not None else now),
            queued.was_flushed,
            placed.evaluated_nodes,
            placed.feasible_nodes,
        )
    )


# -- permission


async def _permission(placed: Placed, waiting: PermitWait, services: BindingServices) -> Status:
    """Return success, or why a pod that waited for permission may not go on."""
    began = placed.cycle.stopwatch.now()
    status = await waiting.decision()
    if status.ok:
        services.waiting.remove(placed.pod.uid)
    if services.observers is not None:
        services.observers.permit_awaited(status.code.text, placed.cycle.stopwatch.now() - began)
    return status


def _waiting(placed: Placed, services: BindingServices) -> PermitWait | None:
    """Return the pod among those that wait for permission, if Permit made it wait."""
    return services.waiting.get(placed.pod.uid) if placed.waits else None


async def _announce(placed: Placed, services: BindingServices) -> None:
    body = {"metadata": {"uid": placed.pod.uid}, "status": {"nominatedNodeName": placed.node_name}}
    await _quietly(services, Patch("Pod", placed.pod.namespace, placed.pod.name, body, "status"))


async def _quietly(services: BindingServices, effect: Emit | Patch) -> None:
    """Carry out an effect that the pod does not depend on."""
    try:
        await services.effects.perform(effect)
    except EffectError as refused:
        services.note(str(refused))


# -- PreBind


def _pre_flights(placed: Placed) -> tuple[list[PreBindPlugin], Status | None]:
    """Return the plugins that have something to prepare, or the failure of one that cannot tell."""
    preparing: list[PreBindPlugin] = []
    failure: Status | None = None
    stopwatch = placed.cycle.stopwatch
    began = stopwatch.now()
    for plugin in placed.profile.pre_bind:
        arguments = placed.cycle, placed.pod, placed.node_name
        status = ask(plugin, "pre_bind_pre_flight", stopwatch, checked_status, *arguments)
        if status is None or status.ok:
            preparing.append(plugin)
        elif status.code is not Code.SKIP:
            failure = _unusable(plugin, status)
            break
    stopwatch.point(PRE_BIND_PRE_FLIGHT, failure or (None if preparing else SKIP), began)
    return ([] if failure is not None else preparing), failure


def _unusable(plugin: PreBindPlugin, status: Status) -> Status:
    """Return what is wrong with an answer to the question whether there is anything to prepare."""
    if status.code is Code.ERROR:
        return error(f'running PreBindPreFlight "{plugin.name}": {status.message}')
    return error(
        f'PreBindPreFlight {plugin.name} returned "{status.code.text}", which is unsupported. '
        "It is supposed to return Success, Skip, or Error status"
    )


async def _prepared(placed: Placed, preparing: Sequence[PreBindPlugin], pre_binding: PodsInPreBind) -> Status | None:
    """Run PreBind where it can be called back; return why the pod cannot be bound."""
    began = placed.cycle.stopwatch.now()
    failure = await _called_back_or_done(placed, preparing, pre_binding) if preparing else None
    placed.cycle.stopwatch.point(PRE_BIND, failure, began)
    return failure


async def _called_back_or_done(
    placed: Placed, preparing: Sequence[PreBindPlugin], pre_binding: PodsInPreBind
) -> Status | None:
    uid = placed.pod.uid
    task = asyncio.ensure_future(_pre_bind(placed, preparing))
    pre_binding.begin(uid, task)
    try:
        failure = await task
    except asyncio.CancelledError:
        why = pre_binding.why_cancelled(uid)
        if not why:
            raise
        return error(why)
    pre_binding.end(uid)
    return failure


async def _pre_bind(placed: Placed, preparing: Sequence[PreBindPlugin]) -> Status | None:
    """Run the plugins in order, neighbours that allow it side by side; return the first failure."""
    for group in _groups(preparing):
        unfinished = [asyncio.ensure_future(_pre_bind_one(placed, plugin)) for plugin in group]
        try:
            while unfinished:
                # a plugin may be deaf to being called back: it is not waited for then
                done, _ = await asyncio.wait(unfinished, return_when=asyncio.FIRST_COMPLETED)
                for task in unfinished:
                    if task in done and (failure := task.result()) is not None:
                        return failure
                unfinished = [task for task in unfinished if task not in done]
        finally:
            for task in unfinished:
                task.cancel()
    return None


def _groups(preparing: Sequence[PreBindPlugin]) -> list[list[PreBindPlugin]]:
    groups: list[list[PreBindPlugin]] = []
    for plugin in preparing:
        if plugin.parallel and groups and groups[-1][-1].parallel:
            groups[-1].append(plugin)
        else:
            groups.append([plugin])
    return groups


async def _pre_bind_one(placed: Placed, plugin: PreBindPlugin) -> Status | None:
    return _final(plugin, "PreBind", await await_hook(plugin, "pre_bind", placed, checked_status))


# -- Bind


async def _bind(placed: Placed, services: BindingServices) -> Status | None:
    """Have an extender or the Bind plugins bind the pod; return why it is not bound."""
    pod, observers = placed.pod, services.observers
    if observers is not None:
        observers.binding_began(pod, placed.node_name)
    failure = await _bind_by_extender_or_plugin(placed, services)
    if failure is not None and observers is not None:
        observers.binding_failed(pod, placed.node_name)
    return failure


async def _bind_by_extender_or_plugin(placed: Placed, services: BindingServices) -> Status | None:
    pod = placed.pod
    for extender in services.extenders:
        if extender.bind_verb and services.ask_to_bind is not None and is_interested(extender, pod.spec):
            refused = await services.ask_to_bind(extender, Bind(pod.namespace, pod.name, pod.uid, placed.node_name))
            if refused and extender.ignorable:
                continue
            return error(refused) if refused else None
    began = placed.cycle.stopwatch.now()
    failure = await _bind_by_plugin(placed)
    placed.cycle.stopwatch.point(BIND, failure, began)
    return failure


async def _bind_by_plugin(placed: Placed) -> Status | None:
    for plugin in placed.profile.bind:
        status = await await_hook(plugin, "bind", placed, checked_status)
        if status is None or status.code is not Code.SKIP:
            return _final(plugin, "Bind", status)
    return error("no Bind plugin bound the pod; enable DefaultBinder or another one at bind")


def _final(plugin: Plugin, point: str, status: Status | None) -> Status | None:
    """Return a plugin's status as the cycle tells it, None for success."""
    if status is None or status.ok:
        return None
    if status.rejected:
        return status.by(plugin.name)
    return error(f'running {point} plugin "{plugin.name}": {status.message}')


# -- PostBind


async def _post_bind(placed: Placed, services: BindingServices) -> None:
    """Run PostBind; the pod is bound, whatever a plugin thinks of it."""
    stopwatch = placed.cycle.stopwatch
    began = stopwatch.now()
    for plugin in placed.profile.post_bind:
        failure = await await_hook(plugin, "post_bind", placed, unchecked)
        if failure is not None:
            services.note(failure.message)
    stopwatch.point(POST_BIND, None, began)

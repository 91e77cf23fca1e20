"""The binding cycle of one pod, in numbered steps.

From a pod that took a place to one that is bound, or a status that says why it is not. Steps may take long; meanwhile
other pods are scheduled. Nothing here touches the table: whoever started the cycle undoes what has to be undone.
"""

# upstream: schedule_one.go (bindingCycle), framework/runtime/framework.go (RunPreBindPlugins, RunBindPlugins) (v1.36)

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from kubesched.binding.waiting_pods import PreBindingPods, WaitingPod, WaitingPods
from kubesched.config.types import Extender
from kubesched.framework.answers import failed
from kubesched.framework.effects import Bind, EffectError, Effects, Emit, Patch
from kubesched.framework.extenders import is_interested
from kubesched.framework.plugin import Plugin, PreBindPlugin
from kubesched.framework.status import Code, Status, error
from kubesched.scheduling.outcomes import Placed


class BindingServices(msgspec.Struct):
    """What a binding cycle works with.

    `permitted` is told when a pod needs the queue no more; `note` takes lines for the log; `ask_to_bind` has an
    extender bind a pod and returns what went wrong; `announce_expectation` is the gate NominatedNodeNameForExpectation.
    """

    effects: Effects
    waiting: WaitingPods
    pre_binding: PreBindingPods
    permitted: Callable[[str], None]
    note: Callable[[str], None]
    ask_to_bind: Callable[[Extender, Bind], Awaitable[str]] | None = None
    extenders: Sequence[Extender] = ()
    announce_expectation: bool = True


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
        try:
            status = await waiting.decision()
        finally:
            services.waiting.remove(placed.pod.uid)
        if not status.ok:
            if status.rejected:
                return NotBound(status, by_permit=True)
            return NotBound(error(f"waiting on permit for pod: {status.message}"))
    services.permitted(placed.pod.uid)
    # 4. Prepare.
    if preparing:
        failure = await _prepared(placed, preparing, services.pre_binding)
        if failure is not None:
            return NotBound(failure)
    # 5. Bind.
    failure = await _bind(placed, services)
    if failure is not None:
        return NotBound(failure, tried=True)
    # 6. Tell.
    pod = placed.pod
    note = f"Successfully assigned {pod.namespace}/{pod.name} to {placed.node_name}"
    await _quietly(services, Emit(pod.pod, "Normal", "Scheduled", "Binding", note))
    for plugin in placed.profile.post_bind:
        try:
            await plugin.post_bind(placed.cycle, pod, placed.node_name)
        except Exception as raised:
            # the pod is bound, whatever one thinks of it
            services.note(failed(plugin, "post_bind", raised).message)
    return None


# -- permission


def _waiting(placed: Placed, services: BindingServices) -> WaitingPod | None:
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
    preparing = []
    for plugin in placed.profile.pre_bind:
        try:
            status = plugin.pre_bind_pre_flight(placed.cycle, placed.pod, placed.node_name)
        except Exception as raised:
            status = failed(plugin, "pre_bind_pre_flight", raised)
        if status is None or status.ok:
            preparing.append(plugin)
        elif status.code is Code.ERROR:
            return [], error(f'running PreBindPreFlight "{plugin.name}": {status.message}')
        elif status.code is not Code.SKIP:
            return [], error(
                f'PreBindPreFlight {plugin.name} returned "{status.code.text}", which is unsupported. '
                "It is supposed to return Success, Skip, or Error status"
            )
    return preparing, None


async def _prepared(placed: Placed, preparing: Sequence[PreBindPlugin], pre_binding: PreBindingPods) -> Status | None:
    """Run PreBind where it can be called back; return why the pod cannot be bound."""
    uid = placed.pod.uid
    task = asyncio.ensure_future(_pre_bind(placed, preparing))
    pre_binding.begin(uid, task)
    try:
        return await task
    except asyncio.CancelledError:
        called_back = pre_binding.end(uid)
        if not called_back:
            raise
        return error(called_back)
    finally:
        pre_binding.end(uid)


async def _pre_bind(placed: Placed, preparing: Sequence[PreBindPlugin]) -> Status | None:
    """Run the plugins in order, neighbours that allow it side by side; return the first failure."""
    for group in _groups(preparing):
        tasks = [asyncio.ensure_future(_pre_bind_one(placed, plugin)) for plugin in group]
        try:
            for task in asyncio.as_completed(tasks):
                failure = await task
                if failure is not None:
                    return failure
        finally:
            for unfinished in tasks:
                unfinished.cancel()
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
    try:
        status = await plugin.pre_bind(placed.cycle, placed.pod, placed.node_name)
    except Exception as raised:
        status = failed(plugin, "pre_bind", raised)
    return _final(plugin, "PreBind", status)


# -- Bind


async def _bind(placed: Placed, services: BindingServices) -> Status | None:
    """Have an extender or the Bind plugins bind the pod; return why it is not bound."""
    pod = placed.pod
    for extender in services.extenders:
        if extender.bind_verb and services.ask_to_bind is not None and is_interested(extender, pod.spec):
            refused = await services.ask_to_bind(extender, Bind(pod.namespace, pod.name, pod.uid, placed.node_name))
            if refused and extender.ignorable:
                continue
            return error(refused) if refused else None
    for plugin in placed.profile.bind:
        try:
            status = await plugin.bind(placed.cycle, pod, placed.node_name)
        except Exception as raised:
            status = failed(plugin, "bind", raised)
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

"""The binding cycle of one pod, in numbered steps.

From an assumed pod to a bound one, or to a status that says why it is not bound. Steps may take long; meanwhile other
pods are scheduled. Nothing here changes the table: the loop forgets a pod that could not be bound.
"""

# upstream: schedule_one.go (bindingCycle), framework/runtime/framework.go (RunPreBindPlugins, RunBindPlugins) (v1.36)

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import msgspec

from kubesched.common.notes import Note
from kubesched.config.types import Extender
from kubesched.core.binding.cancellation import is_called_off
from kubesched.core.binding.waiting_pods_map import PermitWait, PodsInPreBind, WaitingPodsMap
from kubesched.core.framework.calling.answers import checked_status, unchecked
from kubesched.core.framework.calling.hooks import ask_coroutine, ask_timed, named_failure
from kubesched.core.framework.observing.extender_answers import told_bind
from kubesched.core.framework.observing.observer import (
    BIND,
    PERMIT,
    POST_BIND,
    PRE_BIND,
    PRE_BIND_PRE_FLIGHT,
    Bound,
    Observers,
)
from kubesched.core.framework.plugin import Plugin, PreBindPlugin
from kubesched.core.framework.values.effects import Bind, EffectError, Effects, Emit, Patch
from kubesched.core.framework.values.extenders import is_interested
from kubesched.core.framework.values.status import SKIP, Code, Status, error
from kubesched.core.scheduling.engine import Engine
from kubesched.core.scheduling.outcomes import Placed

T = TypeVar("T")


class BindingContext:
    """What binding cycles share.

    `permitted` is called with the UID of each pod that passed Permit; `bind_by_extender` has an extender bind a pod and
    returns what went wrong.
    """

    def __init__(
        self,
        engine: Engine,
        waiting_pods: WaitingPodsMap,
        pods_in_pre_bind: PodsInPreBind,
        permitted: Callable[[str], None],
        note: Note,
        bind_by_extender: Callable[[Extender, Bind], Awaitable[str]] | None = None,
    ) -> None:
        self.effects: Effects = engine.effects
        self.observers: Observers = engine.services.observers
        self.extenders: Sequence[Extender] = engine.loaded.config.extenders
        self.announce_expectation = engine.loaded.gates.enabled("NominatedNodeNameForExpectation")
        self.waiting_pods = waiting_pods
        self.pods_in_pre_bind = pods_in_pre_bind
        self.permitted = permitted
        self.note = note
        self.bind_by_extender = bind_by_extender


class NotBound(msgspec.Struct, frozen=True):
    """Why a pod is not bound.

    `by_permit`: a plugin rejected it while it waited in Permit. `tried`: the binding was sent, and may have succeeded
    if only the answer was lost. `point` is the extension point that failed, empty if none did.
    """

    status: Status
    by_permit: bool = False
    tried: bool = False
    point: str = ""


async def bind_pod(placed: Placed, context: BindingContext) -> NotBound | None:
    """Bind an assumed pod; return None, or why it is not bound."""
    # 1. Is there anything to prepare?
    preparing, failure = _pre_flights(placed)
    if failure is not None:
        return NotBound(failure, point=PRE_BIND)
    waiting = _waiting(placed, context)
    # 2. Announce the expected node (nominatedNodeName), if binding will take a while.
    if context.announce_expectation and (preparing or waiting is not None):
        await _announce(placed, context)
    # 3. Wait for permission.
    if waiting is not None:
        status = await _permission(placed, waiting, context)
        if not status.ok:
            if status.rejected:
                return NotBound(status, by_permit=True)
            return NotBound(error(f"waiting on permit for pod: {status.message}"), point=PERMIT)
    context.permitted(placed.pod.uid)
    # 4. Prepare.
    began = placed.attempt.stopwatch.now()
    failure = await _prepared(placed, preparing, context.pods_in_pre_bind) if preparing else None
    placed.attempt.stopwatch.point(PRE_BIND, failure, began)
    if failure is not None:
        return NotBound(failure, point=PRE_BIND)
    # 5. Bind.
    failure = await _bind(placed, context)
    if failure is not None:
        return NotBound(failure, tried=True, point=BIND)
    # 6. Report the binding.
    pod = placed.pod
    tell_bound(placed, context.observers)
    note = f"Successfully assigned {pod.namespace}/{pod.name} to {placed.node_name}"
    await _quietly(context, Emit(pod.pod, "Normal", "Scheduled", "Binding", note))
    await _post_bind(placed, context)
    return None


async def _ask(plugin: Plugin, hook: str, placed: Placed, checked: Callable[[Any, str], T]) -> T | Status:
    """Return the result of a plugin's coroutine for a pod."""
    arguments = placed.cycle, placed.pod, placed.node_name
    return await ask_coroutine(is_called_off, placed.attempt.stopwatch, plugin, hook, checked, *arguments)


def tell_bound(placed: Placed, observers: Observers) -> None:
    """Report to observers that a pod is bound."""
    queued, stopwatch, generation = placed.attempt
    now = asyncio.get_running_loop().time()
    observers.pod_bound(
        Bound(
            placed.pod,
            placed.node_name,
            placed.profile.scheduler_name,
            queued.attempts,
            stopwatch.seconds,
            now - (queued.initial_attempt_at if queued.initial_attempt_at is not None else now),
            queued.was_flushed,
            placed.evaluated_nodes,
            placed.feasible_nodes,
            generation,
        )
    )


# -- permission


async def _permission(placed: Placed, waiting: PermitWait, context: BindingContext) -> Status:
    """Return success, or why Permit rejected a waiting pod."""
    began = placed.attempt.stopwatch.now()
    status = await waiting.decision()
    if status.ok:
        context.waiting_pods.remove(placed.pod.uid)
    context.observers.permit_awaited(status.code.text, placed.attempt.stopwatch.now() - began)
    return status


def _waiting(placed: Placed, context: BindingContext) -> PermitWait | None:
    """Return the pod's wait in Permit, None if no plugin made it wait."""
    return context.waiting_pods.get(placed.pod.uid) if placed.waits else None


async def _announce(placed: Placed, context: BindingContext) -> None:
    body = {"metadata": {"uid": placed.pod.uid}, "status": {"nominatedNodeName": placed.node_name}}
    # if the binding fails before this is reported, it must be cleared all the same
    placed.attempt.queued.written_nomination = placed.node_name
    await _quietly(context, Patch("Pod", placed.pod.namespace, placed.pod.name, body, "status"))


async def _quietly(context: BindingContext, effect: Emit | Patch) -> None:
    """Carry out an effect; note it if it is refused."""
    try:
        await context.effects.perform(effect)
    except EffectError as refused:
        context.note(str(refused))


# -- PreBind


def _pre_flights(placed: Placed) -> tuple[list[PreBindPlugin], Status | None]:
    """Return the plugins whose PreBind has something to do, or the failure of PreBindPreFlight."""
    preparing: list[PreBindPlugin] = []
    failure: Status | None = None
    stopwatch = placed.attempt.stopwatch
    began = stopwatch.now()
    for plugin in placed.profile.pre_bind:
        arguments = placed.cycle, placed.pod, placed.node_name
        status = ask_timed(stopwatch, plugin, "pre_bind_pre_flight", checked_status, *arguments)
        if status is None or status.ok:
            preparing.append(plugin)
        elif status.code is not Code.SKIP:
            failure = _unusable(plugin, status)
            break
    stopwatch.point(PRE_BIND_PRE_FLIGHT, failure or (None if preparing else SKIP), began)
    return ([] if failure is not None else preparing), failure


def _unusable(plugin: PreBindPlugin, status: Status) -> Status:
    """Return the error for a status that PreBindPreFlight must not return."""
    if status.code is Code.ERROR:
        return error(f'running PreBindPreFlight "{plugin.name}": {status.message}')
    return error(
        f'PreBindPreFlight {plugin.name} returned "{status.code.text}", which is unsupported. '
        "It is supposed to return Success, Skip, or Error status"
    )


async def _prepared(
    placed: Placed, preparing: Sequence[PreBindPlugin], pods_in_pre_bind: PodsInPreBind
) -> Status | None:
    """Run PreBind in a task that evictions can cancel; return why the pod cannot be bound."""
    uid = placed.pod.uid
    task = asyncio.ensure_future(_pre_bind(placed, preparing))
    pods_in_pre_bind.begin(uid, task)
    try:
        failure = await task
    except asyncio.CancelledError:
        why = pods_in_pre_bind.why_cancelled(uid)
        if not why:
            raise
        return error(why)
    pods_in_pre_bind.end(uid)
    return failure


async def _pre_bind(placed: Placed, preparing: Sequence[PreBindPlugin]) -> Status | None:
    """Run PreBind in order, consecutive parallel plugins concurrently; return the first failure."""
    for group in _groups(preparing):
        unfinished = [asyncio.ensure_future(_pre_bind_one(placed, plugin)) for plugin in group]
        try:
            while unfinished:
                # a plugin that ignores its cancellation is not waited for
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
    return _final(plugin, "PreBind", await _ask(plugin, "pre_bind", placed, checked_status))


# -- Bind


async def _bind(placed: Placed, context: BindingContext) -> Status | None:
    """Have an extender or the Bind plugins bind the pod; return why it is not bound."""
    pod, observers = placed.pod, context.observers
    observers.binding_began(pod, placed.node_name)
    failure = await _bind_by_extender_or_plugin(placed, context)
    if failure is not None:
        observers.binding_failed(pod, placed.node_name)
    return failure


async def _bind_by_extender_or_plugin(placed: Placed, context: BindingContext) -> Status | None:
    pod = placed.pod
    for extender in context.extenders:
        if extender.bind_verb and context.bind_by_extender is not None and is_interested(extender, pod.spec):
            bind = Bind(pod.namespace, pod.name, pod.uid, placed.node_name)
            refused = await told_bind(context.observers, extender, bind, context.bind_by_extender)
            if refused and extender.ignorable:
                continue
            return error(refused) if refused else None
    began = placed.attempt.stopwatch.now()
    failure = await _bind_by_plugin(placed)
    placed.attempt.stopwatch.point(BIND, failure, began)
    return failure


async def _bind_by_plugin(placed: Placed) -> Status | None:
    for plugin in placed.profile.bind:
        status = await _ask(plugin, "bind", placed, checked_status)
        if status is None or status.code is not Code.SKIP:
            return _final(plugin, "Bind", status)
    return error("no Bind plugin bound the pod; enable DefaultBinder or another one at bind")


def _final(plugin: Plugin, point: str, status: Status | None) -> Status | None:
    """Return a plugin's failure under its name, None for success."""
    if status is None or status.ok:
        return None
    return named_failure(plugin, point, status)


# -- PostBind


async def _post_bind(placed: Placed, context: BindingContext) -> None:
    """Run PostBind; a failure is noted."""
    stopwatch = placed.attempt.stopwatch
    began = stopwatch.now()
    for plugin in placed.profile.post_bind:
        failure = await _ask(plugin, "post_bind", placed, unchecked)
        if failure is not None:
            context.note(failure.message)
    stopwatch.point(POST_BIND, None, began)

"""DefaultBinder: a binding is written, or the refusal is reported."""

import asyncio

from kubesched.api.meta import ApiObject
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.effects import Bind, Effect, EffectError, RecordingEffects
from kubesched.core.framework.values.status import error
from kubesched.core.plugins.default_binder import DefaultBinder
from kubesched.testing import a_cluster, a_pod

POD = a_cluster().reader.read(a_pod("p", namespace="web", uid="u-1"))


class RefusingEffects:
    """A server that refuses everything."""

    async def perform(self, effect: Effect) -> ApiObject | None:
        raise EffectError('pods "p" not found')

    def submit(self, *effects: Effect) -> None:
        raise NotImplementedError


def test_the_pod_is_bound_under_its_uid() -> None:
    effects = RecordingEffects()
    assert asyncio.run(DefaultBinder(effects).bind(CycleState(), POD, "n")) is None
    assert effects.performed == [Bind("web", "p", "u-1", "n")]


def test_a_refusal_is_an_error() -> None:
    status = asyncio.run(DefaultBinder(RefusingEffects()).bind(CycleState(), POD, "n"))
    assert status == error('pods "p" not found')


def test_it_waits_for_nothing() -> None:
    assert not DefaultBinder(RecordingEffects()).events_to_register()

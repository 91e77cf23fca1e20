"""Stories of a cluster whose scheduler's decisions are judged by shadow, change by change."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace
from tests.support.models import a_model

from kubesched.api.meta import ApiObject, Condition
from kubesched.api.pods import Pod
from kubesched.core.framework.values.extenders import ExtenderArgs, ExtenderResult
from kubesched.shadow.changes import ChangeStream
from kubesched.shadow.judgements import Judgement
from kubesched.shadow.shadow_scheduler import ShadowScheduler
from kubesched.shadow.tally import ShadowTally


class Story:
    """A cluster with some nodes whose changes are written one by one, a tenth of a second apart.

    `answer` answers questions to extenders.
    """

    answer: Callable[[ExtenderArgs], ExtenderResult]

    def __init__(self, *objects: ApiObject, config: str | None = None, gates: str = "", **options: Any) -> None:
        self.now = 0.0
        self.stream = ChangeStream(lambda: self.now, 1.0)
        self.tally = ShadowTally()
        self.told: list[Judgement] = []
        model = a_model(config=config, gates=gates)
        self.shadow = ShadowScheduler(model, self.stream, self.tally, tell=self.told.append, **options)
        self.shadow.history.begin(objects)
        self.objects = {obj.full_name: obj for obj in objects}
        self._version = 100

    def put(self, *objects: ApiObject) -> None:
        for obj in objects:
            self.now += 0.1
            self._version += 1
            stored = replace(obj, metadata=replace(obj.metadata, resource_version=str(self._version)))
            self.objects[obj.full_name] = stored
            self.stream.put(stored)

    def drop(self, name: str) -> None:
        self.now += 0.1
        self._version += 1
        obj = self.objects.pop(name)
        self.stream.drop(obj)
        self.stream.reached(type(obj).__name__, str(self._version))

    def pod(self, name: str) -> Pod:
        found = self.objects[f"default/{name}"]
        assert isinstance(found, Pod)
        return found

    def bind(self, name: str, node: str) -> None:
        pod = self.pod(name)
        self.put(replace(pod, spec=replace(pod.spec, node_name=node)))

    def status(self, name: str, **fields: Any) -> None:
        pod = self.pod(name)
        self.put(replace(pod, status=replace(pod.status, **fields)))

    def fail(self, name: str, message: str, reason: str = "Unschedulable", **fields: Any) -> None:
        condition = Condition(type="PodScheduled", status="False", reason=reason, message=message)
        self.status(name, conditions=(condition,), **fields)

    def end(self) -> ShadowTally:
        self.now += 5
        steps = self.shadow.steps()
        try:
            question = next(steps)
            while True:
                question = steps.send(self.answer(question))
        except StopIteration:
            return self.tally

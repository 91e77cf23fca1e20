"""A scheduler without a thought: every pod goes to the next node. What it takes is what the API server takes.

python -m benchmarks.null_scheduler KUBECONFIG
"""

import asyncio
import sys
from itertools import cycle

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.paths import path_of
from kubesched.api.pods import Pod
from kubesched.client.credentials.rest_config import load_rest_config
from kubesched.client.effects import ApiEffects
from kubesched.client.events import EventRecorder
from kubesched.client.informers.reflector import Reflector
from kubesched.client.rest import RestClient
from kubesched.core.framework.values.effects import Bind, EffectError, Emit


class Binder:
    """Binds whatever comes."""

    def __init__(self, effects: ApiEffects, nodes: list[str]) -> None:
        self._effects = effects
        self._nodes = cycle(nodes)
        self._tasks: set[asyncio.Task[None]] = set()

    def put(self, obj: ApiObject) -> None:
        """Bind a pod that has no node."""
        if isinstance(obj, Pod) and not obj.spec.node_name:
            task = asyncio.create_task(self._bind(obj, next(self._nodes)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def drop(self, obj: ApiObject) -> None:
        """Do nothing."""

    async def _bind(self, pod: Pod, node: str) -> None:
        try:
            await self._effects.perform(Bind(pod.namespace, pod.name, pod.uid, node))
            await self._effects.perform(Emit(pod, "Normal", "Scheduled", "Binding", f"assigned to {node}"))
        except EffectError as refused:
            print(refused, file=sys.stderr)


class Names:
    """Collects names of nodes."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def put(self, obj: ApiObject) -> None:
        """Take a name."""
        self.names.append(obj.name)

    def drop(self, obj: ApiObject) -> None:
        """Do nothing."""


async def main() -> None:
    """Bind until killed."""
    target = load_rest_config(sys.argv[1])
    rest, events = RestClient(target, "null/scheduler"), RestClient(target, "null")
    recorder = EventRecorder(events, "null")
    names = Names()
    nodes = Reflector(rest, path_of("Node"), Node, names)
    tasks = [asyncio.create_task(nodes.run()), asyncio.create_task(recorder.run())]
    await nodes.synced.wait()
    pods = Reflector(rest, path_of("Pod"), Pod, Binder(ApiEffects(rest, recorder, print), names.names))
    tasks.append(asyncio.create_task(pods.run()))
    await asyncio.gather(*tasks)


if __name__ == "__main__":
    try:
        import uvloop

        uvloop.run(main())
    except ImportError:
        asyncio.run(main())

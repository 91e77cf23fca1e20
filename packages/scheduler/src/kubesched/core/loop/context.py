"""The context that the parts of the loop share."""

from collections.abc import Callable
from datetime import datetime

from kubesched.common.notes import Note
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.observing.observer import Observers
from kubesched.core.framework.values.effects import Effects
from kubesched.core.loop.loop_waits import LoopServices
from kubesched.core.queue.scheduling_queue import SchedulingQueue
from kubesched.core.scheduling.engine import Engine


class LoopContext:
    """The engine, the queue, the loop's services and its clock, for one scheduler."""

    def __init__(
        self,
        engine: Engine,
        queue: SchedulingQueue,
        services: LoopServices,
        busy_time: Callable[[], float],
    ) -> None:
        # the engine of the configuration in force; a reload replaces it
        self.engine = engine
        self.cluster: ClusterState = engine.cluster
        self.effects: Effects = engine.effects
        self.observers: Observers = engine.services.observers
        self.queue = queue
        self.inbox = services.inbox
        self.waiting_pods = services.waiting_pods
        self.pods_in_pre_bind = services.pods_in_pre_bind
        self.tasks = services.tasks
        self.note: Note = services.note
        self.now: Callable[[], float] = services.waits.now
        self.date: Callable[[], datetime] = services.waits.date
        # the loop's time, less the time spent waiting for extenders
        self.busy_time = busy_time

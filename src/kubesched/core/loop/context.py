"""What the parts of the loop share."""

from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec

from kubesched.common.notes import Note
from kubesched.core.cluster.cluster import Cluster
from kubesched.core.framework.effects import Effects
from kubesched.core.framework.observer import Observers
from kubesched.core.framework.profile import Profile
from kubesched.core.loop.inbox import Inbox, Tasks
from kubesched.core.queue.scheduling_queue import SchedulingQueue


class LoopContext(msgspec.Struct, frozen=True):
    """The cluster, queue, inbox, tasks and clock of one scheduler."""

    cluster: Cluster
    queue: SchedulingQueue
    profiles: Mapping[str, Profile]
    effects: Effects
    inbox: Inbox
    tasks: Tasks
    now: Callable[[], float]
    date: Callable[[], datetime]
    note: Note
    observers: Observers
    # the loop's time, less what was spent waiting for extenders
    busy_time: Callable[[], float]

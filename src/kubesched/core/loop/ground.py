"""What the parts of the loop stand on: what they read and change, how they wait, whom they tell."""

from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec

from kubesched.core.cluster.cluster import Cluster
from kubesched.core.framework.effects import Effects
from kubesched.core.framework.observer import Observers
from kubesched.core.framework.profile import Profile
from kubesched.core.loop.inbox import Inbox, Note, Tasks
from kubesched.core.queue.scheduling_queue import SchedulingQueue


class Ground(msgspec.Struct, frozen=True):
    """One cluster, one queue, one inbox and one clock, with its date, for all parts of a loop."""

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
    # the time without what was spent waiting for extenders
    busy_time: Callable[[], float]

"""`python -m benchmarks.hostile_memory`: what hostile pods leave behind in the scheduler when they are deleted.

Pods of all kinds, or of one, come and go in a scheduler in virtual time, ten at a time. One line says how much more
memory than before the process has at most, at the end, and after caches forgot what nobody used.
"""

import gc
import json
from pathlib import Path
from typing import NamedTuple

import click

from benchmarks.hostile_kinds import KINDS, NAMESPACE, Size
from kubesched.api.codec import decode_json
from kubesched.api.pods import Pod
from kubesched.common.garbage_collection import give_back
from kubesched.testing import VirtualScheduler, a_node

NODES = 40
AT_A_TIME = 10


class LeftBehind(NamedTuple):
    """MiB that the process has more than before."""

    most: float
    end: float
    idle: float


def left_behind(kinds: list[str], pods: int, share: float) -> LeftBehind:
    """Put and delete so many pods, of some kinds in turn, at a share of their largest size."""
    size = Size(share)
    with VirtualScheduler() as world:
        world.put(*(a_node(f"n{number}", cpu="64", zone=f"z{number % 3}") for number in range(NODES)))
        world.put(decode_json(Pod, json.dumps(KINDS["plain"](-1, size))))
        world.run(1)
        before, after = resident_mib(), [0.0]
        for first in range(0, pods, AT_A_TIME):
            numbers = range(first, min(first + AT_A_TIME, pods))
            for number in numbers:
                world.put(decode_json(Pod, json.dumps(KINDS[kinds[number % len(kinds)]](number, size))))
            world.run(3)
            for number in numbers:
                world.delete("Pod", f"{NAMESPACE}/hostile-{number}")
            world.run(3)
            # what the API in memory has noted
            world.events.clear()
            world.performed.clear()
            after.append(resident_mib() - before)
        assert world.scheduler is not None
        for _ in range(2):
            world.scheduler.engine.forget_unused()
        return LeftBehind(max(after), after[-1], resident_mib() - before)


def resident_mib() -> float:
    """Return the resident memory of this process without garbage."""
    gc.collect()
    give_back()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4 / 1024


@click.command()
@click.option("--pods", default=300, show_default=True, help="How many pods come and go.")
@click.option("--share", default=1.0, show_default=True, help="Their size, as a share of what an API server accepts.")
@click.option("--only", default="", help="Only kinds whose name contains this.")
def main(pods: int, share: float, only: str) -> None:
    """Measure what hostile pods leave behind."""
    print(json.dumps(left_behind([name for name in KINDS if only in name], pods, share)._asdict()))


if __name__ == "__main__":
    main()

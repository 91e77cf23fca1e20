"""Clusters in files as a trace: all objects exist from the beginning, and pods run for the time in their annotation.

From manifests, snapshots and exports, in all forms that `kubesched up` and `kubesched explain` read, to events at time
0. Workloads in manifests become pods, as controllers create them.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched_answers.sources.files import read_files
from kubesched_controlplane.nodes.kubelets import RUN_SECONDS
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.trace import LAST_SECONDS, ObjectPut, PodArrival, Trace, TraceEvent


def trace_of_cluster(paths: Sequence[str], custom_kinds: Collection[str] = ()) -> Trace:
    """Return a trace in which all objects exist from the beginning, nodes first and pods last."""
    return trace_of_objects(", ".join(Path(path).name for path in paths), read_files(paths, custom_kinds).objects)


def trace_of_objects(name: str, objects: Iterable[ApiObject], *, strict: bool = True) -> Trace:
    """Return a trace in which the objects exist from the beginning, nodes first and pods last.

    A pod with a malformed run time annotation raises TraceError. Without `strict` it runs without end: in a live
    cluster any user may have written the annotation.
    """
    objects = list(objects)
    nodes = [ObjectPut(0.0, obj) for obj in objects if isinstance(obj, Node)]
    others = [ObjectPut(0.0, obj) for obj in objects if not isinstance(obj, Node | Pod)]
    pods = [PodArrival(0.0, obj, _runs(obj, strict)) for obj in objects if isinstance(obj, Pod) and not obj.terminal]

    def events(seed: int) -> Iterator[TraceEvent]:
        yield from nodes
        yield from others
        yield from pods

    return Trace(name, events)


def _runs(pod: Pod, strict: bool) -> float | None:
    text = pod.metadata.annotations.get(RUN_SECONDS)
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < LAST_SECONDS:
        if not strict:
            return None
        raise TraceError(f"pod {pod.full_name}: annotation {RUN_SECONDS} is {text!r}; expected seconds")
    return seconds

"""The options of `kubesched up` for simulated nodes: number, size, speed.

In: texts of options. Out: pools of nodes and the options of a simulation; or exit code 2, with a line that names the
option and the expected form.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import Any, TypeVar

import click
from msgspec.structs import replace

from kubesched.api.quantity import InvalidQuantityError
from kubesched.config.golang import Duration, parse_duration
from kubesched.serving.decisions.memory import parse_memory
from kubesched_controlplane.controllers.framework.options import LIFELIKE, Options
from kubesched_controlplane.up.node_pools import GPU, NodePool, PoolError, checked, parse_field, parse_pool

F = TypeVar("F", bound=Callable[..., Any])

# the nodes of --nodes are node-1, node-2, ...
NODES = "node"
FASTEST = 1e6
# nodes without any delay, but with leases
AT_ONCE = Options(lease_seconds=LIFELIKE.lease_seconds)
# --delay NAME -> field of Options, and its description
DELAYS = {
    "node-ready": ("node_ready_seconds", "from the creation of a node to Ready"),
    "heartbeat": ("heartbeat_seconds", "between two heartbeats of a node; 0s: none"),
    "lease": ("lease_seconds", "between two renewals of a node's lease; 0s: no leases"),
    "pod-start": ("pod_start_seconds", "from the binding of a pod to its running phase"),
    "pod-ready": ("ready_seconds", "from the running phase of a pod to Ready"),
    "termination": ("termination_seconds", "longest time that a pod takes to end"),
    "provision": ("provision_seconds", "from the claim of a volume to the volume"),
    "job": ("job_seconds", "run time of the pods of a Job without the annotation kubesched.io/run-seconds"),
}


def delay_lines() -> str:
    """Return a line for each delay, with its length without and with --speed 1, for the help."""
    plain = AT_ONCE
    return "\n".join(
        f"  {name:<12}{getattr(plain, field):>3g}s {getattr(LIFELIKE, field):>4g}s  {what}"
        for name, (field, what) in DELAYS.items()
    )


# -- options


def pool_options(command: F) -> F:
    """Add the options of node pools to a command, which gets the pools as its parameter `pools`."""

    @click.option("--nodes", callback=_field, metavar="N", help="Number of nodes to create: node-1, node-2, ...")
    @click.option(
        "--zones", callback=_field, metavar="N", help="Number of zones that nodes are spread over: zone-a, ...  [3]"
    )
    @click.option("--cpu", callback=_field, metavar="QUANTITY", help="CPUs of each node.  [8]")
    @click.option("--memory", callback=_field, metavar="QUANTITY", help="Memory of each node.  [32Gi]")
    @click.option(
        "--gpu", callback=_field, metavar="GPUS[:NODES]", help=f"GPUs ({GPU}) of each node, or of NODES nodes."
    )
    @click.option("--like", callback=_field, metavar="NODE", help="Node in FILES that the nodes copy.")
    @click.option(
        "--pool", "texts", multiple=True, metavar="TEXT", help="Another pool of nodes: NAME=VALUE,... (see above)."
    )
    @functools.wraps(command)
    def with_pools(*args: Any, texts: tuple[str, ...], **kwargs: Any) -> Any:
        fields = {name: kwargs.pop(name) for name in ("nodes", "zones", "cpu", "memory", "gpu", "like")}
        return command(*args, pools=node_pools(fields, texts), **kwargs)

    return with_pools  # type: ignore[return-value]


def speed_options(command: F) -> F:
    """Add the options of the simulation to a command, which gets them as its parameter `simulation`."""

    @click.option(
        "--speed",
        type=float,
        callback=_speed,
        metavar="N",
        help="Simulate the delays of a real cluster, N times as fast.",
    )
    @click.option("--delay", "delays", multiple=True, callback=_delays, metavar="TEXT", help="NAME=DURATION,...")
    @click.option(
        "--controllers/--no-controllers",
        default=True,
        show_default=True,
        help="Run the workload controllers. With --no-controllers no pod is created or replaced.",
    )
    @functools.wraps(command)
    def with_simulation(
        *args: Any, speed: float | None, delays: Mapping[str, float], controllers: bool, **kwargs: Any
    ) -> Any:
        simulation = replace(simulation_options(speed, delays), workloads=controllers)
        return command(*args, simulation=simulation, **kwargs)

    return with_simulation  # type: ignore[return-value]


def duration(context: click.Context, option: click.Parameter, text: str) -> Duration:
    """Parse a positive duration (a callback of click)."""
    try:
        found = parse_duration(text)
    except ValueError:
        found = Duration(nanoseconds=0)
    if found.seconds <= 0:
        raise click.BadParameter(f"{text!r} is not a duration such as 30s or 2m", context, option)
    return found


def record_memory(context: click.Context, option: click.Parameter, text: str) -> int:
    """Parse the memory for the record of decisions (a callback of click)."""
    try:
        return parse_memory(text)
    except (ValueError, InvalidQuantityError) as error:
        raise click.BadParameter(str(error), context, option) from None


def _field(context: click.Context, option: click.Parameter, text: str | None) -> Any:
    """Parse an option as the field of a pool, None without the option."""
    if text is None:
        return None
    try:
        return parse_field(option.name or "", text)
    except PoolError as error:
        raise click.BadParameter(str(error), context, option) from None


def _delays(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> dict[str, float]:
    """Return the delays of --delay in seconds, by field."""
    fields: dict[str, float] = {}
    for part in (part.strip() for text in texts for part in text.split(",")):
        name, _, value = part.partition("=")
        if name not in DELAYS:
            raise click.BadParameter(
                f"{part!r}: expected NAME=DURATION with one of {', '.join(DELAYS)}", context, option
            )
        try:
            seconds = parse_duration(value).seconds
        except ValueError:
            seconds = -1.0
        if seconds < 0:
            raise click.BadParameter(f"{part!r}: {value!r} is not a duration such as 0s, 500ms or 2m", context, option)
        fields[DELAYS[name][0]] = seconds
    return fields


def _speed(context: click.Context, option: click.Parameter, speed: float | None) -> float | None:
    if speed is not None and not (isfinite(speed) and 1 / FASTEST <= speed <= FASTEST):
        raise click.BadParameter(f"{speed:g}: expected a number above 0, such as 1 or 10", context, option)
    return speed


# -- values of several options


def simulation_options(speed: float | None, delays: Mapping[str, float]) -> Options:
    """Return the options of the simulation: without delays or, with a speed, with realistic ones divided by it."""
    if speed is None:
        return replace(AT_ONCE, **delays)
    return replace(LIFELIKE, **delays).at_speed(speed)


def node_pools(fields: Mapping[str, Any], texts: Sequence[str]) -> list[NodePool]:
    """Return the pool of --nodes, with its fields (None for the default), and that of each --pool."""
    said = {name: value for name, value in fields.items() if value is not None}
    # these options are also the defaults of --pool
    shared = {name: value for name, value in said.items() if name not in ("nodes", "gpu")}
    pools = []
    if "nodes" in said:
        with _about("--gpu"):
            pools.append(checked(NodePool(NODES, **said)))
    elif "gpu" in said or (said and not texts):
        raise click.UsageError(f"--{next(iter(said))} needs --nodes, such as --nodes 10")
    with _about("--pool"):
        pools += [parse_pool(text, shared) for text in texts]
        names = [pool.name for pool in pools]
        for name in names:
            if names.count(name) > 1:
                raise PoolError(f"two pools have the name {name!r}: rename one")
    return pools


@contextmanager
def _about(option: str) -> Iterator[None]:
    """Report PoolErrors as errors of an option."""
    try:
        yield
    except PoolError as error:
        raise click.BadParameter(str(error), param_hint=option) from None

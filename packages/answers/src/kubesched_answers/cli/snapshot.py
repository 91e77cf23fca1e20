"""`kubesched snapshot`: a cluster in a file, for questions later or elsewhere.

In: a cluster. Out: a file that `--from` reads, written as a whole or not at all, and a line about it.
"""

import functools
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from kubesched.cli.notes import note
from kubesched.model.cluster_objects import ClusterObjects
from kubesched_answers.cli.options import source_options
from kubesched_answers.sources.anonymising import anonymised
from kubesched_answers.sources.snapshot_file import write_snapshot
from kubesched_answers.sources.snapshots import counts_of, snapshot_bytes

# kinds that the line names; the line sums up all other kinds
_NAMED = ("Node", "Pod")
F = TypeVar("F", bound=Callable[..., Any])


def _key_of_codes(command: F) -> F:
    """Check, before the cluster is read, that --key has codes to apply to."""

    @functools.wraps(command)
    def with_key(*args: Any, **kwargs: Any) -> Any:
        if kwargs["key"] is not None and not kwargs["anonymise"]:
            raise click.UsageError("--key needs --anonymise")
        return command(*args, **kwargs)

    return with_key  # type: ignore[return-value]


@click.command("snapshot")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="File to write, such as cluster.snapshot.gz; - for standard output.",
)
@click.option("--anonymise", is_flag=True, help="Replace names and values by codes; every verdict stays the same.")
@click.option(
    "--key", metavar="TEXT", help="Key for --anonymise: the same key gives the same codes; by default codes are random."
)
@_key_of_codes
@source_options
def snapshot(output: str, anonymise: bool, key: str | None, objects: ClusterObjects) -> None:
    """Write a cluster to a file, for questions later or elsewhere.

    Other commands read the file with --from. It has nodes, pods, volumes, claims, budgets and workloads, with the
    fields that scheduling reads. It has no Secrets, ConfigMaps, environment variables, commands, mount options,
    parameters of drivers or addresses, and leaves out most annotations. If a plugin that --config enables looks up
    custom kinds, the file has their objects with all fields. With --anonymise they are left out.

    --anonymise replaces names, namespaces, values of labels and taints, images, UIDs and texts of devices by codes.
    Equal texts have equal codes. Plugins and configurations read the following texts, so they stay: keys of labels and
    taints, names of resources, drivers, schedulers and scheduling gates, types and reasons of conditions, declared
    features of nodes and versions of kubelets.

    \b
    Examples:
      kubesched snapshot -o cluster.snapshot.gz
      kubesched explain --from cluster.snapshot.gz
      kubesched snapshot -o to-share.snapshot.gz --anonymise
    """
    if anonymise:
        objects = anonymised(objects, key.encode() if key is not None else secrets.token_bytes(32))
    content = snapshot_bytes(objects)
    if output == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        write_snapshot(Path(output), content)
    click.echo(_summary(output, objects, len(content)), err=True)
    for gap in objects.gaps:
        note(f"Left out: {gap.what}: {gap.why}; {gap.uncertain}")


def _summary(output: str, objects: ClusterObjects, size: int) -> str:
    counts = counts_of(objects)
    named = [f"{counts.get(kind, 0)} {kind.lower()}{'' if counts.get(kind) == 1 else 's'}" for kind in _NAMED]
    others = sum(count for kind, count in counts.items() if kind not in _NAMED)
    place = "standard output" if output == "-" else output
    more = f"{others} other object{'' if others == 1 else 's'}"
    return f"{place}: {', '.join(named)} and {more}, {_size(size)}"


def _size(size: int) -> str:
    for unit, bytes_of in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_of:
            return f"{size / bytes_of:.1f} {unit}"
    return f"{size} bytes"

"""The configuration that a question is answered under: that of --config, else the one in force, else the defaults.

In: a file, and the cluster of the question. Out: a configuration, and whether it is known to be in force.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from kubesched.cli.config import read
from kubesched.cli.plugin_options import with_plugin_hint
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.load import Loaded
from kubesched.config.types import KubeSchedulerConfiguration
from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.errors import KubeschedError
from kubesched.sources.cluster_source import ClusterSource, live_target

if TYPE_CHECKING:
    # slow to import: only live clusters need it
    from kubesched.sources.scheduler_records import SchedulerAddress

Adjust = Callable[[KubeSchedulerConfiguration], KubeSchedulerConfiguration]
STANDARD_INPUT: Final = "-"
ASSUMED: Final = "Assumed: the defaults; name the scheduler's file with --config."


class UsedConfiguration(NamedTuple):
    """A configuration and the `text` of its file; `assumed` is a sentence if the scheduler may use another one."""

    loaded: Loaded
    text: str = ""
    assumed: str = ""


class ConfigurationChoice(NamedTuple):
    """The options about the configuration: a file, feature gates, out-of-tree plugins."""

    file: str | None
    gates: FeatureGates
    registry: Registry

    def without_cluster(self) -> UsedConfiguration:
        """Return the configuration of the file, else the defaults."""
        loaded = load_configuration(self.file, self.gates, self.registry)
        if self.file is None:
            return UsedConfiguration(loaded, assumed=ASSUMED)
        # standard input is read once
        return UsedConfiguration(loaded, "" if self.file == STANDARD_INPUT else read(self.file).decode())

    def of(self, source: ClusterSource, scheduler: "SchedulerAddress | None" = None) -> UsedConfiguration:
        """Return the configuration of the file, else the one in force in a cluster, else the defaults."""
        told = "" if self.file is not None else served_configuration(source, scheduler)
        if not told:
            return self.without_cluster()
        try:
            return UsedConfiguration(load_config(told, self.gates, self.registry))
        except ConfigError as error:
            click.echo(f"Warning: the configuration in force cannot be used: {with_plugin_hint(error)}", err=True)
            return self.without_cluster()


def served_configuration(source: ClusterSource, scheduler: "SchedulerAddress | None" = None) -> str:
    """Return the configuration that a cluster's scheduler serves, empty if it serves none.

    The scheduler is the one that an option names, or the one of a cluster of `kubesched up`.
    """
    if source.paths and scheduler is None:
        return ""
    # imported here: a client of API servers, which files do not need
    from kubesched.sources.scheduler_configuration import read_in_force
    from kubesched.sources.scheduler_records import config_of

    try:
        cluster = None if source.paths else live_target(source)
        target = cluster if scheduler is None else config_of(scheduler, cluster)
    except KubeschedError:
        # the same error is reported when the cluster is read
        return ""
    assert target is not None
    told = read_in_force(target)
    if not told.text and scheduler is not None:
        click.echo(f"Warning: the configuration of {scheduler.url} could not be read: {told.why}", err=True)
    return told.text


def load_configuration(
    file: str | None,
    gates: FeatureGates,
    registry: Registry,
    adjust: Adjust = lambda config: config,
    *,
    told: str = "",
) -> Loaded:
    """Return the configuration in a file, the one in force, or the default, after `adjust`; errors name the file."""
    try:
        return load_config(told or None if file is None else read(file), gates, registry, adjust=adjust)
    except ConfigError as error:
        about = f"--config {file}" if file else "the configuration in force" if told else "the defaults"
        raise with_plugin_hint(error).about(about) from None

"""The start of a cluster, for `kubesched up`, `try` and `with-cluster`.

In: the options of the cluster, of its endpoint if it serves, and how the run ends. Out: the exit code of the run.
"""

import logging
from contextlib import ExitStack
from functools import partial

import click
from msgspec.structs import replace

from kubesched.cli.config import read as read_config
from kubesched.cli.event_loop import run_loop
from kubesched.cli.plugin_options import check_enabled, with_plugin_hint
from kubesched.common.distributions import imported
from kubesched.common.files import file_stamp
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.intree import IN_TREE, merge_catalogs
from kubesched.config.load import Loaded, load
from kubesched.core.framework.building.registry import Registry
from kubesched.errors import KubeschedError
from kubesched.manifests import STANDARD_INPUT
from kubesched.run.klog.logs import KlogHandler
from kubesched.run.klog.options import LogOptions
from kubesched.sources.custom_kinds import custom_kinds_of
from kubesched_controlplane.cli.manifests import load_manifests
from kubesched_controlplane.cli.tokens import kept_tokens, new_tokens
from kubesched_controlplane.data_folder import DataFolder, opened
from kubesched_controlplane.named_clusters import NameLock, locked
from kubesched_controlplane.running import new_server
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.storage.store import HISTORY
from kubesched_controlplane.transport.certificates import make_tls
from kubesched_controlplane.up.added_objects import AddedObjects
from kubesched_controlplane.up.cluster import ClusterSpec
from kubesched_controlplane.up.cluster_options import ClusterOptions, EndpointOptions
from kubesched_controlplane.up.help import NO_NODES
from kubesched_controlplane.up.node_pools import PoolError
from kubesched_controlplane.up.reloading import ConfigFile
from kubesched_controlplane.up.replaying import TraceReplay
from kubesched_controlplane.up.session import HOST, Endpoint, RunMode, Session, print_line
from kubesched_controlplane.up.shutdown import Shutdown

NO_ZONES = (
    "the nodes of --nodes have no zone, because FILES contain nodes: set it with --like NODE, --zones or a label "
    "in --pool"
)


def run_cluster(options: ClusterOptions, endpoint: EndpointOptions | None, mode: RunMode) -> int:
    """Run a cluster until `mode` ends it; return the exit code. Without an endpoint the API is not served."""
    words = f"the cluster has not settled within {mode.timeout} (--timeout)"
    with Shutdown(mode.timeout.seconds if mode.settles else None, words) as shutdown, ExitStack() as stack:
        spec = _spec(options)
        lock = stack.enter_context(locked(endpoint.name)) if endpoint is not None else None
        if lock is not None:
            shutdown.at_end.append(lock.clear)
        folder = None if options.data is None else stack.enter_context(opened(options.data, HISTORY))
        served = None if lock is None or endpoint is None else _endpoint(endpoint, lock, folder)
        if endpoint is not None and endpoint.page:
            mode = mode._replace(page=_page_arguments(options))
        session = _prepared(options, spec, mode, served, folder)
        handler = KlogHandler(LogOptions(), _write_log, _write_log)
        stack.callback(handler.uninstall)
        handler.install(logging.getLogger())
        code: int = run_loop(session.run(shutdown))
        return code


def _spec(options: ClusterOptions) -> ClusterSpec:
    """Return the cluster that the options describe."""
    gates = FeatureGates.parse(",".join(options.feature_gates))
    stamp = file_stamp(options.config) if options.config is not None else None
    loaded = _load_config(options.config, gates, options.registry)
    check_enabled(options.registry, loaded, print_line)
    # what controllers did is in the trace
    simulation = replace(options.simulation, workloads=options.simulation.workloads and not options.replay)
    followed = None
    if options.reload and options.config is not None:
        read = partial(_load_config, options.config, gates, options.registry)
        followed = ConfigFile(options.config, read, stamp)
    return ClusterSpec(
        loaded,
        options.registry,
        simulation,
        options.seed,
        record_bytes=options.record_bytes,
        followed=followed,
    )


def _write_log(line: str) -> None:
    """Print a log line of a plugin or a library."""
    click.echo(line, err=True, nl=False)


def _load_config(file: str | None, gates: FeatureGates, registry: Registry) -> Loaded:
    """Return the configuration in a file, or the default; problems name the file."""
    catalog = merge_catalogs(IN_TREE, registry.catalog())
    try:
        return load(None if file is None else read_config(file), gates, catalog)
    except ConfigError as error:
        raise with_plugin_hint(error).about(f"--config {file}" if file else "the defaults") from None


def _endpoint(options: EndpointOptions, lock: NameLock, folder: DataFolder | None) -> Endpoint:
    """Return the endpoint to serve at: the one of the last run, if there is a data folder."""
    if folder is None:
        return Endpoint(lock, options.port, make_tls([HOST]), new_tokens(options.kubeconfig or lock.kubeconfig))
    tls = make_tls([HOST], authority=folder.authority())
    return Endpoint(lock, options.port or folder.port(HOST), tls, kept_tokens(folder, options.kubeconfig))


def _page_arguments(options: ClusterOptions) -> tuple[str, ...]:
    """Return the arguments of `kubesched page` for answers with this scheduler's configuration."""
    given = [("--config", options.config if options.config != STANDARD_INPUT else None)]
    given += [("--feature-gates", gates) for gates in options.feature_gates]
    given += [("--plugin", plugin) for plugin in click.get_current_context().params.get("plugins", ())]
    return tuple(word for option, value in given if value for word in (option, value))


def _prepared(
    options: ClusterOptions, spec: ClusterSpec, mode: RunMode, endpoint: Endpoint | None, folder: DataFolder | None
) -> Session:
    """Return a session with all manifests loaded; a failed start leaves no files in the data folder."""
    users = {each.token: each.user for each in endpoint.tokens} if endpoint is not None else {}
    authority = endpoint.tls.authority if endpoint is not None else b""
    with ExitStack() as stack:
        if folder is not None:
            stack.enter_context(folder.store.together())
        store, signer = (None, None) if folder is None else (folder.store, folder.authority())
        added = AddedObjects(options.pools, store)
        server = new_server(users, authority=authority, store=store, seed=options.seed, note=print_line, signer=signer)
        try:
            objects = load_manifests(server, options.files, added, options.validation)
        except PoolError as error:
            raise click.BadParameter(str(error), param_hint="--like") from None
        replay = _replay(options, spec, server)
        if replay is not None:
            objects += replay.begin()
        _check_nodes(server, mode)
    if added.without_zones:
        print_line(NO_ZONES)
    return Session(server, objects, spec, mode, endpoint, replay)


def _replay(options: ClusterOptions, spec: ClusterSpec, server: ApiServer) -> TraceReplay | None:
    if not options.replay:
        return None
    replay_of = imported("kubesched_lab.replay.replay", "replay_of", "--replay")
    kinds = custom_kinds_of(spec.loaded, spec.registry)
    found: TraceReplay = replay_of(options.replay, kinds, server, options.simulation.speed, options.seed, print_line)
    return found


def _check_nodes(server: ApiServer, mode: RunMode) -> None:
    if not len(server.registry.store.set_of("nodes")):
        if mode.settles:
            raise KubeschedError(NO_NODES)
        print_line(NO_NODES)

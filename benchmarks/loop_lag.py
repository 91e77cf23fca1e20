"""How late the scheduler's event loop is while a large cluster is listed and thousands of bindings are outstanding.

    python -m benchmarks.loop_lag [--pods 100000] [--binds 5000] [--lists stream,pages,whole]

`kubesched run` as it is in production, against a server that holds the pods (`large_cluster`), with a plugin that
measures (`lag_probe`): for each way of listing a row for the listing and one for the bindings. `max cpu ms` is the most
processor time that the loop took between two turns: unlike `max ms` it does not depend on who else uses the machine.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from benchmarks.cluster import cpu_seconds, memory_mib

CONFIG = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {{leaderElect: false}}
clientConnection: {{kubeconfig: {kubeconfig}, qps: 5000, burst: 5000}}
profiles:
- plugins:
    preBind: {{enabled: [{{name: LagProbe}}]}}
    postBind: {{enabled: [{{name: LagProbe}}]}}
"""
KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
users: [{{name: u, user: {{}}}}]
contexts: [{{name: c, context: {{cluster: c, user: u}}}}]
current-context: c
"""
PLUGIN = Path(__file__).with_name("lag_probe.py")
MOST_SECONDS = 600.0


async def measure(options: argparse.Namespace, lists: str, folder: Path) -> dict[str, dict[str, float]]:
    """Return the figures of one run."""
    amounts = {"nodes": options.nodes, "pods": options.pods, "waiting": options.binds, "delay": options.delay}
    flags = [part for name, value in amounts.items() for part in (f"--{name}", str(value))]
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.large_cluster", *flags, "--lists", lists, stdout=asyncio.subprocess.PIPE
    )
    assert server.stdout is not None
    try:
        port = int(await server.stdout.readline())
        (folder / "kubeconfig").write_text(KUBECONFIG.format(port=port))
        (folder / "config.yaml").write_text(CONFIG.format(kubeconfig=folder / "kubeconfig"))
        return await _run(options, lists, folder)
    finally:
        server.kill()
        await server.wait()


async def _run(options: argparse.Namespace, lists: str, folder: Path) -> dict[str, dict[str, float]]:
    """Run a scheduler until it has bound everything; return what its plugin measured."""
    figures, log = folder / f"{lists}.json", Path(tempfile.gettempdir()) / "bench-loop-lag.log"
    environment = {**os.environ, "KUBESCHED_LAG_PODS": str(options.binds), "KUBESCHED_LAG_FILE": str(figures)}
    command = ["-m", "kubesched", "run", "--config", str(folder / "config.yaml"), "--plugin", str(PLUGIN)]
    began = time.monotonic()
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *command, "--secure-port=0", stdout=out, stderr=out, env=environment
        )
        try:
            while not figures.exists():
                if process.returncode is not None or time.monotonic() - began > MOST_SECONDS:
                    raise SystemExit(f"the scheduler did not bind all pods; see {log}")
                await asyncio.sleep(0.2)
            found: dict[str, dict[str, float]] = msgspec.json.decode(figures.read_bytes())
            found["binding"]["MiB"] = memory_mib(process.pid)
            found["binding"]["cpu s"] = cpu_seconds(process.pid)
        finally:
            if process.returncode is None:
                process.terminate()
                await process.wait()
    return found


async def main() -> None:
    """Measure, and print a row for each way of listing and each phase."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=100_000, help="that have a node already")
    parser.add_argument("--binds", type=int, default=5000, help="that are outstanding at once")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--delay", type=float, default=0.2, help="seconds after which a binding is answered")
    parser.add_argument("--lists", default="stream,pages,whole", help="ways of listing, with commas between")
    options = parser.parse_args()
    print(f"{options.nodes} nodes, {options.pods} pods, {options.binds} bindings at once; lag in milliseconds")
    with tempfile.TemporaryDirectory() as folder:
        for lists in options.lists.split(","):
            for phase, figures in (await measure(options, lists, Path(folder))).items():
                shown = "  ".join(f"{key} {value:7.1f}" for key, value in figures.items())
                print(f"{lists:7} {phase:8} {shown}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())

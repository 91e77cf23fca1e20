"""Simulations from Python: what may be given, what comes out, event loops, interrupts, and the example notebook."""

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
import pandas
import pytest
from nbclient import NotebookClient

from kubesched.common import extras
from kubesched.errors import KubeschedError
from kubesched.testing import a_node, a_pod
from kubesched_lab.simulate import Pace, SimulationResult, simulate
from kubesched_lab.simulate.notebook import apart_from_loops
from kubesched_lab.simulate.traces.trace import ObjectPut, PodArrival, Trace

SMALL = "examples/simulate/small.jsonl"
PACKED = "examples/simulate/packed.yaml"
NOTEBOOK = Path("examples/simulate/comparing.ipynb")
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n"},
    "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "main", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
}
ARRIVAL = {"at": 1, "object": POD, "runs": 5}
WORKLOAD = {
    "apiVersion": "simulate.kubesched.io/v1alpha1",
    "kind": "Workload",
    "until": "1m",
    "nodes": [{"name": "large", "count": 2}],
    "pods": [{"name": "job", "arrivals": {"every": "10s"}, "runs": "5s"}],
}
CONFIG = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def bound(result: SimulationResult) -> int:
    return result.figures[0].pods["bound"]


@pytest.mark.parametrize(
    ("trace", "pods"),
    [
        (SMALL, 7),
        (Path(SMALL), 7),
        ([SMALL], 7),
        ([NODE, POD], 1),
        ([NODE, ARRIVAL], 1),
        ([a_node("n"), {"template": "job", "object": POD}, {"at": 0, "from": "job", "name": "j-{}", "count": 3}], 3),
        (
            [
                NODE,
                {"at": 1, "name": "p-{}", "count": 2, "cpu": 0.5, "memory": 1 << 30, "runs": 5, "labels": {"a": "b"}},
            ],
            2,
        ),
        ([NODE, pandas.DataFrame({"at": [1, 2], "name": ["p", "q"], "cpu": [1, None], "runs": [5, 6.5]})], 2),
        (WORKLOAD, 7),
        (Trace("own", lambda seed: iter([ObjectPut(0, a_node("n")), PodArrival(1, a_pod("p"), 5.0)])), 1),
    ],
)
def test_traces_are_files_or_values(trace: Any, pods: int) -> None:
    assert bound(simulate(trace)) == pods


@pytest.mark.parametrize(
    ("configs", "names"),
    [
        (None, ["default"]),
        (PACKED, ["packed"]),
        ([Path(PACKED), "examples/simulate/default.yaml"], ["packed", "default"]),
        ({"a": None, "b": PACKED, "c": CONFIG, "d": "\n".join(f"{k}: {v}" for k, v in CONFIG.items())}, list("abcd")),
    ],
)
def test_configurations_are_files_or_values(configs: Any, names: list[str]) -> None:
    assert [each.config for each in simulate([NODE, ARRIVAL], configs).figures] == names


@pytest.mark.parametrize(("seeds", "found"), [(3, [3]), ([1, 2], [1, 2]), (range(2), [0, 1]), ("1-2", [1, 2])])
def test_seeds_are_numbers(seeds: Any, found: list[int]) -> None:
    assert [each.seed for each in simulate([NODE, ARRIVAL], seeds=seeds).figures] == found


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"trace": []}, "trace is empty; expected paths, a Trace, events or manifests as dicts"),
        ({"trace": [NODE, 5]}, "trace: number 2 is a int; expected a path"),
        ({"trace": "missing.jsonl"}, "missing.jsonl: No such file or directory"),
        ({"trace": [{"at": 1}]}, "events, row 1: a copy of a template needs a `name`"),
        (
            {"trace": [{"at": 1, "object": object()}]},
            "events, row 1: column 'object': Expected `object | null`, got `object`",
        ),
        (
            {"trace": [{"at": 1, "name": "p", "cpus": 1}]},
            "events, row 1: there is no column 'cpus'; columns: at, runs,",
        ),
        ({"configs": {}}, "configs is empty"),
        ({"configs": {"a": 5}}, r"configs\['a'\] is a int; expected a path, a text, a dict or None"),
        ({"configs": "missing.yaml"}, r"configs\['missing'\]: missing.yaml: No such file"),
        ({"configs": ["a/x.yaml", "b/x.yaml"]}, "configs: two files have one name"),
        ({"seeds": "5-1"}, "seeds is '5-1'; expected a number"),
        ({"seeds": []}, r"seeds is \[\]; expected a number"),
        ({"seeds": ["a"]}, r"seeds is \['a'\]; expected a number"),
        ({"until": "never"}, "until is 'never'; expected seconds, or a text such as '2h'"),
        ({"until": -1}, "until is -1; expected seconds"),
        ({"until": 5, "warm_up": "1m"}, r"warm_up is as long as the simulation \(until\)"),
    ],
)
def test_what_cannot_be_used_is_told_in_a_sentence(given: dict[str, Any], why: str) -> None:
    with pytest.raises(KubeschedError, match=f"^{why}"):
        simulate(**{"trace": [NODE, ARRIVAL], **given})


RESULT = simulate([NODE, ARRIVAL], {"a": None, "b": None}, seeds=[1, 2], pods=True, pace=Pace(starting_seconds=1))


def test_runs_samples_and_pods_are_frames() -> None:
    assert list(RESULT.runs["seed"]) == [1, 2, 1, 2]
    assert set(RESULT.timeline["config"]) == {"a", "b"}
    assert list(RESULT.waiting["by"][:3]) == ["all", "priority", "size"]
    pods = RESULT.pods
    assert (list(pods["name"]), list(pods["ended"] - pods["bound"])) == (["p"] * 4, [6.0] * 4)


def test_a_comparison_has_differences_from_the_first_configuration() -> None:
    compared = RESULT.compare()
    row = compared[(compared["figure"] == "pods bound") & (compared["config"] == "b")].iloc[0]
    assert (row["mean"], row["interval"], row["difference"], row["differs"]) == (1, 0, 0, False)


def test_it_is_shown_in_notebooks() -> None:
    assert "pods bound" in RESULT._repr_html_()
    assert repr(RESULT) == "<SimulationResult of objects + events: 4 runs of a, b>"


def test_pictures_are_figures() -> None:
    assert len(RESULT.plot.timeline("running", "requested-cpu").axes) == 2
    assert RESULT.plot.waiting()._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(KubeschedError, match="there is no chart 'none'; charts: "):
        RESULT.plot.timeline("none")
    assert "running" in RESULT.plot.charts


@pytest.mark.parametrize("name", ["r.html", "r.json", "r.csv", "r.parquet", "folder"])
def test_reports_are_saved_by_name(name: str, tmp_path: Path) -> None:
    RESULT.save(tmp_path / name)
    assert (tmp_path / name).exists()


def test_a_form_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(KubeschedError, match=r"r.pdf: expected a name that ends in .html, .json, .csv or .parquet"):
        RESULT.save(tmp_path / "r.pdf")
    with pytest.raises(KubeschedError, match=r"r\.json: No such file or directory"):
        RESULT.save(tmp_path / "none" / "r.json")


def test_pods_are_kept_on_request() -> None:
    with pytest.raises(KubeschedError, match=r"pods were not kept: use simulate\(..., pods=True\)"):
        simulate([NODE, ARRIVAL]).pods  # noqa: B018


def test_without_pandas_figures_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(extras, "import_module", missing)
    assert bound(RESULT) == 1
    with pytest.raises(KubeschedError, match=r"^a DataFrame needs pip install 'kubesched\[pandas\]'$"):
        RESULT.runs  # noqa: B018


# -- event loops


def test_it_works_while_an_event_loop_runs() -> None:
    async def cell() -> SimulationResult:
        return simulate([NODE, ARRIVAL])

    assert bound(asyncio.run(cell())) == 1


def test_an_error_in_the_thread_is_raised() -> None:
    async def cell() -> None:
        simulate([NODE, {"at": 1}])

    with pytest.raises(KubeschedError, match="events, row 1"):
        asyncio.run(cell())


def test_an_interrupt_ends_the_thread() -> None:
    ended: list[str] = []

    def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            while time.monotonic() < deadline:
                sum(range(1000))
        except KeyboardInterrupt:
            ended.append("work")
            raise

    async def cell() -> None:
        apart_from_loops(work)

    loop, deadline = asyncio.new_event_loop(), time.monotonic() + 60
    # processes in the background of a shell ignore interrupts
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(cell())
    finally:
        signal.signal(signal.SIGINT, before)
        loop.close()
    assert ended == ["work"]


# -- the example


def test_the_example_has_no_outputs_and_its_cells_compile() -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) > 5
    for cell in code:
        assert (cell["outputs"], cell["execution_count"]) == ([], None)
        compile("".join(cell["source"]), cell["id"], "exec")


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a kernel of this Python, and nothing of the user's home
    kernel = tmp_path / "data" / "kernels" / "this"
    kernel.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "this", "language": "python"}))
    for name in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR", "MPLCONFIGDIR"):
        folder = tmp_path / name.removeprefix("JUPYTER_").removesuffix("_DIR").lower()
        folder.mkdir(exist_ok=True)
        monkeypatch.setenv(name, str(folder))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = NotebookClient(
        notebook, timeout=120, kernel_name="this", resources={"metadata": {"path": str(NOTEBOOK.parent)}}
    )
    client.execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("pods bound" in output.get("data", {}).get("text/html", "") for output in outputs)
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2
    assert not any(output.output_type == "error" for output in outputs)

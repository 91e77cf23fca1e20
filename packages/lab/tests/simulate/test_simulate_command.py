"""`kubesched simulate`: reports that do not depend on the machine, and errors that name the fix."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kubesched.cli import main

TRACE = "examples/simulate/small.jsonl"
BATCH = "examples/simulate/batch.yaml"
PACKED = "examples/simulate/packed.yaml"


def simulate(*words: str) -> Result:
    return CliRunner().invoke(main, ["simulate", *words], catch_exceptions=False)


def test_the_table_has_the_figures() -> None:
    ran = simulate(TRACE)
    assert ran.exit_code == 0, ran.output
    rows = [line.strip("│ ").split("│") for line in ran.stdout.splitlines() if line.startswith("│")]
    found = {cells[0].strip(): cells[1].strip() for cells in rows}
    assert found["pods bound"] == "7"
    assert found["pods lost with their nodes, or evicted"] == "2"
    assert found["waiting, longest"] == "30 s"


def test_json_has_all_runs() -> None:
    ran = simulate(TRACE, "--seeds", "1-2", "--config", PACKED, "--config", f"again={PACKED}", "-o", "json")
    runs = json.loads(ran.stdout)["runs"]
    assert [(each["config"], each["seed"]) for each in runs] == [
        ("packed", 1),
        ("packed", 2),
        ("again", 1),
        ("again", 2),
    ]
    assert [(each["pods"]["arrived"], each["pods"]["lost"]) for each in runs] == [(7, 2)] * 4


def test_csv_compares_configurations() -> None:
    ran = simulate(
        BATCH, "--until", "5m", "--seeds", "1-2", "--config", PACKED, "--config", f"again={PACKED}", "-o", "csv"
    )
    rows = list(csv.DictReader(io.StringIO(ran.stdout)))
    bound = [row for row in rows if row["figure"] == "pods bound"]
    assert [row["config"] for row in bound] == ["packed", "again"]
    assert bound[0]["mean"] == bound[1]["mean"]
    assert (bound[1]["difference"], bound[1]["differenceInterval"]) == ("0", "0")


def test_prices_and_watts_of_nodes_are_in_the_table() -> None:
    ran = simulate("examples/simulate/priced.yaml", "--until", "2m")
    for figure in ("cost of nodes", "cost of what nobody requests", "energy"):
        assert figure in ran.stdout
    other = simulate("examples/simulate/priced.yaml", "--until", "2m", "--price-label", "none", "--power-label", "none")
    assert "cost" not in other.stdout
    assert "energy" not in other.stdout


SEVERAL = """
import sys
from kubesched.cli import main
for words in sys.argv[2:]:
    main(["simulate", sys.argv[1], *words.split()], standalone_mode=False)
"""


def written_twice(folder: Path, trace: str, *runs: str) -> dict[str, bytes]:
    """Return the files that runs write, the same ones in two processes that differ in their hashes and time zones."""
    files: list[dict[str, bytes]] = []
    for number in (1, 2):
        own = folder / str(number)
        own.mkdir()
        command = [sys.executable, "-c", SEVERAL, str(Path(trace).resolve()), *runs]
        environment = {**os.environ, "PYTHONHASHSEED": str(number), "TZ": f"UTC+{number}"}
        subprocess.run(command, check=True, cwd=own, env=environment, timeout=300, capture_output=True)
        files.append({path.name: path.read_bytes() for path in own.rglob("*") if path.is_file()})
    assert files[0] == files[1]
    return files[0]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    reports = written_twice(tmp_path, BATCH, "--until 3m --seed 5 --file r.json")
    assert len(reports["r.json"]) > 1000


@pytest.mark.slow
def test_every_form_is_the_same_to_the_byte_in_any_process(tmp_path: Path) -> None:
    run = f"--config {Path(PACKED).resolve()} --until 3m --seeds 5-6"
    forms = [f"{run} --file r.{form}" for form in ("csv", "txt", "html", "parquet")]
    others = [f"{run} --pods p.parquet --plots plots", f"{run} --pods p.jsonl.gz", "--write-trace t.parquet"]
    files = set(written_twice(tmp_path, BATCH, *forms, *others))
    assert {"r.csv", "r.txt", "r.html", "r.parquet", "r.timeline.parquet"} <= files
    assert {"p.parquet", "p.jsonl.gz", "t.parquet", "waiting.png", "waiting.svg"} <= files


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["missing.jsonl"], "missing.jsonl' does not exist"),
        ([TRACE, "--config", "missing.yaml"], "--config missing.yaml: No such file or directory"),
        ([TRACE, "--config", PACKED, "--config", PACKED], "two configurations are named packed; give one as NAME=FILE"),
        ([TRACE, "--seeds", "5-1"], "'5-1' is not a list of seeds such as 1, 1-5 or 1,2,7"),
        ([TRACE, "--until", "never"], "'never' is not a duration such as 30s or 2h"),
        ([TRACE, "--until", "5m", "--warm-up", "10m"], "the warm-up is as long as the simulation (--until)"),
        (
            [TRACE, "-o", "json", "--file", "/proc/none/x.json"],
            "--file /proc/none/x.json: there is no folder /proc/none",
        ),
        ([TRACE, "--config", "examples/configs/none.yaml"], "--config examples/configs/none.yaml"),
        ([], "Missing argument 'TRACE...'"),
    ],
)
def test_wrong_input_is_told_in_a_line(words: list[str], why: str) -> None:
    ran = simulate(*words)
    assert ran.exit_code in (1, 2)
    assert why in " ".join(ran.output.split())
    assert "Traceback" not in ran.output


def test_extenders_are_refused(tmp_path: Path) -> None:
    config = tmp_path / "asking.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "extenders: [{urlPrefix: 'http://localhost:1', filterVerb: filter}]\n"
    )
    ran = simulate(TRACE, "--config", str(config))
    assert ran.exit_code == 1
    assert "configuration asking has extenders, which cannot be simulated" in ran.output

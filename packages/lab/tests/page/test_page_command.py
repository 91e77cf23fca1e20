"""`kubesched page`: what its command line refuses, and a simulation in a process of its own."""

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kubesched_lab.page.command import page

WORKLOAD = "examples/simulate/batch.yaml"
SECONDS = 60.0
# a sentence: the words, the exit code, what is told
REFUSED: dict[str, tuple[list[str], int, str]] = {
    "a trace that is not there": (["--simulate", "nowhere.yaml"], 2, "Path 'nowhere.yaml' does not exist"),
    "a trace without --simulate": ([WORKLOAD], 2, f"--simulate {WORKLOAD} simulates a trace"),
    "two sources": (["--simulate", WORKLOAD, "--from", "x"], 2, "name different sources: leave one out"),
    "a cluster's scheduler": (
        ["--simulate", WORKLOAD, "--scheduler", "https://x"],
        2,
        "the scheduler of a live cluster",
    ),
    "a mapping without a trace": (["--mapping", "x.yaml"], 2, "--mapping is for CSV and Parquet files of --simulate"),
    "an address that others reach": (
        ["--bind-address", "0.0.0.0"],
        1,
        "add --tls-cert-file and --tls-private-key-file",
    ),
    "an address that is none": (["--bind-address", "here"], 1, "expected an IP address such as"),
    "a certificate without a key": (["--tls-cert-file", "x"], 1, "have to be given together"),
    "a certificate that is not there": (["--tls-cert-file", "x", "--tls-private-key-file", "y"], 1, "x: No such file"),
    "a seed in words": (["--simulate", WORKLOAD, "--seed", "x"], 2, "'x' is not a valid integer"),
    "a gate that does not exist": (["--simulate", WORKLOAD, "--feature-gates", "Nothing=true"], 1, "Nothing"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_told_in_a_sentence(case: str) -> None:
    words, code, sentence = REFUSED[case]
    found = CliRunner().invoke(page, words)
    told = found.output + str(found.exception)
    assert sentence in told
    assert found.exit_code == code


def test_a_trace_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    torn = tmp_path / "torn.jsonl"
    torn.write_text('{"at": 0, "object": {"kind": "Pod"\n')
    found = CliRunner().invoke(page, ["--simulate", str(torn)])
    assert "torn.jsonl, line 1" in str(found.exception)
    assert found.exit_code == 1


@pytest.mark.slow
def test_a_simulation_that_plays_ends_with_its_process() -> None:
    command = [sys.executable, "-m", "kubesched", "page", "--simulate", WORKLOAD, "--seed", "3"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        base, _, token = process.stdout.readline().strip().partition("/#token=")

        def ask(path: str, body: object = None) -> Any:
            data = None if body is None else json.dumps(body).encode()
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            with urllib.request.urlopen(urllib.request.Request(base + path, data, headers), timeout=SECONDS) as found:
                return json.load(found)

        assert ask("/v1/cluster")["mode"] == "simulation"
        ask("/v1/clock", {"do": "play", "speed": 1000})
        # while it plays
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=SECONDS)
        assert process.returncode == 0
        assert told == "Ctrl-C ends it.\n"
    finally:
        process.kill()
        process.communicate()

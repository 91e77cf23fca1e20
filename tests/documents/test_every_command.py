"""Every command of the documents is run as it is written: here, or by the tests that RUN_ELSEWHERE names.

What is left out stands in exempt.py, line by line, with the reason.

A command finds a folder with files of the names that it uses, and a cluster behind KUBECONFIG. One that stays is ended
with Ctrl-C when it has said something.
"""

import select
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.documents.exempt import NOT_RUN
from tests.documents.test_documents import ROOT, blocks
from tests.support.terminal import stays

from tools.examples import commands_in

IN_ORDER = "tests/documents/test_in_order.py"

# documents, and the tests that run all of their commands; where there are two, the second runs what needs a cluster
RUN_ELSEWHERE = {
    "docs/guides/questions/cookbook.md": ("tests/documents/test_cookbook.py", IN_ORDER),
    "docs/guides/operator/deploying.md": (IN_ORDER,),
    "docs/guides/questions/evaluating.md": ("tests/documents/test_cookbook.py",),
    "docs/guides/operator/migrating.md": ("packages/scheduler/tests/shadow/test_migrating.py",),
    "docs/guides/plugins/first-plugin.md": (IN_ORDER,),
    "docs/guides/plugins/packaging.md": (IN_ORDER,),
    "docs/guides/plugins/testing-plugins.md": (IN_ORDER,),
    "docs/guides/clusters/testing.md": (IN_ORDER,),
    "docs/verification/truth.md": ("tests/documents/test_cookbook.py",),
    "docs/get-started/tutorial.md": ("tests/documents/test_cookbook.py", IN_ORDER),
    "docs/guides/clusters/up.md": (IN_ORDER,),
    "examples/plugins/README.md": (IN_ORDER,),
    "examples/quickstart/README.md": (IN_ORDER,),
    **{
        str(page.relative_to(ROOT)): ("packages/contrib/tests/examples.py",)
        for page in ROOT.glob("docs/guides/plugins/contrib/*.md")
        if page.stem != "gang-defragmentation"
    },
    "docs/guides/plugins/contrib/gang-defragmentation.md": (IN_ORDER,),
}
# how long a command may take, and how long one that stays may be silent
SECONDS, QUIET_SECONDS = 180.0, 60.0


def documents() -> list[Path]:
    """Return all documents."""
    patterns = ("*.md", "docs/**/*.md", "examples/*/README.md", "packages/contrib/*.md", "deploy/**/*.md")
    return [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def shown(documents: Iterable[Path]) -> list[str]:
    """Return the command lines of documents, each once."""
    found = (
        command.line.replace("…", "")
        for path in documents
        for block in blocks(path, "console")
        if block.startswith("$ ")
        for command in commands_in(block)
    )
    return list(dict.fromkeys(found))


LINES = [
    line
    for line in shown(path for path in documents() if str(path.relative_to(ROOT)) not in RUN_ELSEWHERE)
    if line not in NOT_RUN
]


def started(line: str, folder: Path, environment: dict[str, str]) -> "subprocess.Popen[str]":
    # the shape of simulations is tested, not their length
    short = " --until 1m" if line.startswith("kubesched simulate ") and "--until" not in line else ""
    return subprocess.Popen(
        ["sh", "-c", f"exec {line}{short}" if line.startswith("kubesched ") else line],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(process: "subprocess.Popen[str]") -> str:
    """End a process with Ctrl-C when it has said something; return what it said."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], QUIET_SECONDS)
    first = process.stdout.readline() if ready else ""
    deadline = time.monotonic() + QUIET_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        process.send_signal(signal.SIGINT)
        try:
            return first + process.communicate(timeout=5.0)[0]
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    return first + process.communicate()[0]


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_a_command_works_as_it_is_written(line: str, folder: Path, environment: dict[str, str]) -> None:
    prepare(line, folder, environment)
    with started(line, folder, environment) as process:
        if stays(line):
            output = ended(process)
            assert output.strip(), "it says nothing"
            assert process.returncode in (0, 1, 3), output
        else:
            output = whole_output(process)
            # 3: something is left that fits nowhere, which is an answer
            assert process.returncode in (0, 3), output
    assert "Traceback" not in output
    assert "Error:" not in output


def whole_output(process: "subprocess.Popen[str]") -> str:
    try:
        return process.communicate(timeout=SECONDS)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def prepare(line: str, folder: Path, environment: dict[str, str]) -> None:
    """Run what a command follows on."""
    before = ""
    if " record " in line:
        (folder / "monday.jsonl.gz").unlink()
    if "--resume" in line:
        before = "kubesched record monday.jsonl.gz --for 1s"
    if "cluster.snapshot.gz pods.jsonl.gz" in line:
        before = "kubesched snapshot -o cluster.snapshot.gz"
    if line.startswith("kubesched sweep show"):
        before = "kubesched sweep examples/simulate/sweep.yaml --results sizes"
    if "tuned/best.yaml" in line:
        (folder / "tuned").mkdir()
        (folder / "config.yaml").rename(folder / "tuned" / "best.yaml")
    if "get configmap scheduler-policy" in line:
        before = "kubectl -n kube-system create configmap scheduler-policy --from-file=policy.cfg=policy.json"
    if "create token pages-reader" in line:
        before = (
            "kubectl -n kube-system create serviceaccount pages-reader -o yaml --dry-run=client | kubectl apply -f -"
        )
    if before:
        with started(before, folder, environment) as process:
            output = whole_output(process)
        assert process.returncode == 0, output


def test_what_is_run_elsewhere_is_there() -> None:
    for document, tests in RUN_ELSEWHERE.items():
        assert (ROOT / document).exists()
        for test in tests:
            named = document.removeprefix("docs/") if "contrib" not in document else "docs"
            assert named in (ROOT / test).read_text(), f"{test} does not read {document}"


def test_exemptions_are_lines_of_documents() -> None:
    assert [line for line in NOT_RUN if line not in shown(documents())] == []
    assert all(NOT_RUN.values())
    assert len(LINES) > 40


def test_all_blocks_of_commands_are_found() -> None:
    for path in documents():
        assert blocks(path, "(?:bash|sh|shell)") == [], "write `console`, and `$ ` before commands"
        assert all(block.startswith("$ ") for block in blocks(path, "console")), path

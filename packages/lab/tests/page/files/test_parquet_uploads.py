"""Parquet files that are opened in the page: bounded by what they take to be decoded, and every fault is a sentence."""

import asyncio
import json
import random
import resource
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from packages.lab.tests.page.files.test_scenario_files import upload
from packages.lab.tests.page.routes.test_action_routes import acting

from kubesched.testing import a_node
from kubesched_lab.page.files.parquet_lines import Limits, as_lines
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.parquet_rows import column_names, rows_of
from kubesched_lab.simulate.traces.parquet_trace import trace_of_parquet, trace_of_row_lines

MIB = 1 << 20


def parquet(path: Path, rows: int = 1, **columns: Any) -> Path:
    """Write a file with rows at different times."""
    table = pa.table({"at": pa.array([float(row) for row in range(rows)]), **columns})
    pq.write_table(table, path, compression="zstd", store_schema=False)
    return path


def texts(text: str, rows: int) -> Any:
    """Return a column of one text, which is in the file once."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))


def names(count: int) -> str:
    return json.dumps({f"a.b/r{number}": 1 for number in range(count)})


LIMITS = Limits(64 * MIB, 20_000, 16 * MIB)


def refused(path: Path, limits: Limits = LIMITS) -> str:
    """Return why a file is not opened, or nothing."""
    try:
        for _ in trace_of_row_lines(as_lines(path, lambda: None, limits)).events(0):
            pass
    except TraceError as error:
        return str(error)
    return ""


BOMBS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "one text of 4 MB in 4000 rows is larger than an unpacked file may be": (
        lambda path: parquet(path, 4000, name=texts("a" * 4 * MIB, 4000)),
        "a.parquet: cannot be read as Parquet: it takes more than",
    ),
    "one object of 2 MB in 4000 rows is larger than an unpacked file may be": (
        lambda path: parquet(path, 4000, object=texts(json.dumps({"a": "x" * 2 * MIB}), 4000)),
        "a.parquet: cannot be read as Parquet: it takes more than",
    ),
    "a row may be as long as a line": (
        lambda path: parquet(path, name=texts("a" * 17 * MIB, 1)),
        "a.parquet, row 1: has more than 16 MiB",
    ),
    "a row has a bounded number of resources": (
        lambda path: parquet(path, resources=texts(names(2000), 1)),
        "a.parquet, row 1: column 'resources' has 2000 names; expected at most 1000",
    ),
    "lists that are no pairs are no map": (
        lambda path: parquet(path, labels=pa.array([[[1, 2, 3]]])),
        "a.parquet, row 1: column 'labels': Expected `object | null`, got `array`",
    ),
    "lists in lists are no map": (
        lambda path: parquet(path, resources=pa.array([[[[1]]]])),
        "a.parquet, row 1: column 'resources': Expected `object | null`, got `array`",
    ),
    "an infinite amount is told": (
        lambda path: parquet(path, name=pa.array(["p"]), cpu=pa.array([float("inf")])),
        "a.parquet, row 1: column 'cpu' is inf; expected a number from 0",
    ),
    "a time beyond all dates is told with its column": (
        lambda path: parquet(path, priority=pa.array([2**62], pa.timestamp("ms"))),
        "a.parquet: column 'priority': cannot be read as Parquet: ",
    ),
}


@pytest.mark.parametrize("case", BOMBS)
def test_a_file_is_refused_in_a_sentence_by_what_it_takes(case: str, tmp_path: Path) -> None:
    write, why = BOMBS[case]
    path = write(tmp_path / "a.parquet")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = refused(path)
    assert found.replace(f"{tmp_path}/", "").startswith(why), found
    # Linux counts in KiB
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10


def test_a_page_that_takes_more_memory_than_its_process_may_is_refused(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", 1, name=texts("a" * 150 * MIB, 1))
    why = refused(path, LIMITS._replace(memory=200 * MIB, longest_line=1 << 30))
    assert why == f"{path}: cannot be read as Parquet: it takes more memory than is available"


def test_the_page_refuses_such_a_file_and_says_where(tmp_path: Path) -> None:
    content = parquet(tmp_path / "a.parquet", labels=pa.array([[[1, 2, 3]]])).read_bytes()

    async def story() -> None:
        async with acting(a_node("n"), simulate=False) as page:
            status, answer = await upload(page, "a.parquet", content)
            assert (status, answer["error"][:39]) == (422, "a.parquet, row 1: column 'labels': Expe"), answer

    asyncio.run(story())


def test_a_good_file_is_the_same_as_lines(tmp_path: Path) -> None:
    path = parquet(
        tmp_path / "a.parquet",
        2,
        name=pa.array(["p", "q"]),
        cpu=pa.array([1.5, None]),
        labels=pa.array([[("app", "web")], None], pa.map_(pa.string(), pa.string())),
        resources=pa.array([{"example.com/gpu": 1}, None]),
        namespace=pa.array([b"a", b"b"]),
    )
    expected = list(trace_of_parquet(path).events(0))
    lines = as_lines(path, lambda: None, LIMITS)
    trace = trace_of_row_lines(lines)
    assert (trace.name, list(trace.events(0))) == ("a.parquet", expected)
    assert len(expected) == 2


def test_a_file_that_is_given_up_is_read_no_more(tmp_path: Path) -> None:
    def give_up() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        as_lines(parquet(tmp_path / "a.parquet"), give_up, LIMITS)


def test_what_kills_the_process_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    (tmp_path / "a.parquet").write_bytes(b"")
    assert refused(tmp_path / "a.parquet").startswith("a.parquet: cannot be read as Parquet: it takes more than")


def mutants(good: bytes, count: int) -> list[bytes]:
    chance = random.Random(5)
    found = []
    for _ in range(count):
        content = bytearray(good)
        for _ in range(chance.randrange(1, 20)):
            # half of them in the footer, which has the names and types
            beginning = chance.choice((0, len(content) * 2 // 3))
            content[chance.randrange(beginning, len(content))] = chance.randrange(256)
        found.append(bytes(content))
    return found


def test_every_fault_in_a_file_is_a_trace_error(tmp_path: Path) -> None:
    path = parquet(
        tmp_path / "a.parquet",
        50,
        name=pa.array([f"p{row}" for row in range(50)]),
        labels=pa.array([[("app", "web")]] * 50, pa.map_(pa.string(), pa.string())),
        priority=pa.array([1] * 50),
    )
    for content in mutants(path.read_bytes(), 300):
        path.write_bytes(content)
        # whatever else is raised fails the test
        with suppress(TraceError):
            for _ in rows_of(path, column_names(path)):
                pass
        with suppress(TraceError):
            for _ in trace_of_parquet(path).events(0):
                pass

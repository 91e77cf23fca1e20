"""Files that somebody gave to the page's user, who opens them."""

import gzip
import importlib.util
import json
import random
import zlib
from io import BytesIO
from typing import Any

from attack.attacks import attack, expect
from attack.targets import Page, a_pod

GOOD = 200
REFUSED = (422, 413, 409, 400)


def _refused(page: Page, name: str, content: bytes) -> str:
    status, words = page.opened(name, content)
    expect(status in REFUSED, f"{name}: {status} {words[:200]}")
    return f"{status} {words[:60]}"


def _refused_or_opened(page: Page, name: str, content: bytes) -> str:
    status, words = page.opened(name, content)
    expect(status in (*REFUSED, GOOD), f"{name}: {status} {words[:200]}")
    page.web.ask("DELETE", "/v1/simulation", {})
    return f"{status} {words[:60]}"


@attack(Page)
def packed_bombs(page: Page) -> str:
    """A megabyte unpacks to a gigabyte."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(1000)) + packer.flush()
    return _refused(page, "a.jsonl.gz", packed)


@attack(Page)
def aliases(page: Page) -> str:
    """A kilobyte of YAML names a billion values by aliases."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    return _refused(page, "a.yaml", "\n".join(lines).encode())


@attack(Page)
def deep_documents(page: Page) -> str:
    """Documents are nested a hundred thousand levels deep."""
    deep = b"[" * 100_000
    return "; ".join(_refused(page, name, deep) for name in ("a.json", "a.yaml", "a.jsonl"))


@attack(Page)
def lines_that_stand_for_many(page: Page) -> str:
    """A line of a trace stands for ten million pods."""
    template = json.dumps({"template": "t", "object": a_pod("t")})
    return _refused(page, "a.jsonl", f'{template}\n{{"at":0,"from":"t","name":"p{{}}","count":9999999}}\n'.encode())


@attack(Page)
def files_that_name_others(page: Page) -> str:
    """A file names files of its reader, and servers to ask."""
    text = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "extenders: [{urlPrefix: 'https://127.0.0.1:1/', filterVerb: f, tlsConfig: {caFile: /etc/shadow}}]\n"
    )
    header = {"scenario": {"version": 1, "configuration": text, "seed": 0}}
    line = json.dumps({"at": 0, "object": a_pod("p")})
    status, words = page.opened("a.jsonl", f"{json.dumps(header)}\n{line}\n".encode())
    expect("root:" not in words and status != 500, f"{status} {words[:200]}")
    page.web.ask("DELETE", "/v1/simulation", {})
    return f"{status} {words[:60]}"


def _parquet(**columns: Any) -> bytes:
    import pyarrow
    import pyarrow.parquet

    content = BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), content, compression="zstd", store_schema=False)
    return content.getvalue()


def _has_parquet() -> bool:
    return importlib.util.find_spec("pyarrow") is not None


@attack(Page)
def one_text_in_many_rows(page: Page) -> str:
    """A Parquet file of ten kilobytes has one text of four megabytes in 4000 rows."""
    if not _has_parquet():
        return "left out: pyarrow is not installed"
    import pyarrow as pa

    text = pa.DictionaryArray.from_arrays(pa.array([0] * 4000, pa.int32()), pa.array(["a" * 4_000_000]))
    return _refused(page, "a.parquet", _parquet(at=pa.array([float(row) for row in range(4000)]), name=text))


@attack(Page)
def many_names_in_a_row(page: Page) -> str:
    """A row of a Parquet file names 400 000 resources."""
    if not _has_parquet():
        return "left out: pyarrow is not installed"
    names = json.dumps({f"a.b/r{number}": 1 for number in range(400_000)})
    return _refused(page, "a.parquet", _parquet(at=[0.0], name=["p"], resources=[names]))


@attack(Page)
def damaged_parquet_files(page: Page) -> str:
    """Bytes of a Parquet file are changed at random, and read by a library in C++."""
    if not _has_parquet():
        return "left out: pyarrow is not installed"
    good = _parquet(at=[float(row) for row in range(50)], name=[f"p{row}" for row in range(50)])
    chance = random.Random(7)
    for _ in range(8):
        content = bytearray(good)
        for _ in range(chance.randrange(1, 20)):
            content[chance.randrange(len(content))] = chance.randrange(256)
        _refused_or_opened(page, "a.parquet", bytes(content))
    return "8 files"


@attack(Page)
def odd_names_of_files(page: Page) -> str:
    """The name of a file leads out of the folder that it is kept in."""
    content = gzip.compress(b'{"at":0}\n')
    names = (
        "..%2f..%2fetc%2fpasswd",
        "%2fetc%2fpasswd",
        ".",
        "..",
        "a%00b.yaml",
        ".packed",
        "a" * 5000,
        "-",
        "%0d%0aX:%20y",
    )
    for name in names:
        status, words = page.opened(name, content)
        expect(status in (*REFUSED, GOOD, 431), f"{name[:20]}: {status} {words[:200]}")
    return f"{len(names)} names"


@attack(Page)
def hostile_names(page: Page) -> str:
    """Names, labels and messages of a cluster are markup: they come to the browser as JSON that cannot be a page."""
    markup = "<script>alert(1)</script>"
    pod = a_pod("p", meta={"labels": {"app": markup}, "annotations": {"a": markup}})
    status, words = page.opened("a.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod]}).encode())
    expect(status in (*REFUSED, GOOD), f"{status} {words[:200]}")
    _, _, headers = page.web.ask("GET", "/v1/cluster")
    expect(headers["Content-Type"].startswith("application/json"), headers["Content-Type"])
    expect(headers.get("X-Content-Type-Options") == "nosniff", "a browser may guess types")
    page.web.ask("DELETE", "/v1/simulation", {})
    return headers["Content-Type"]

"""The request for a folder of results: sweep.json.

From a specification, its inputs and its plan to a file, and back; and from two requests to their differences.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from kubesched_lab.sweep.errors import SweepError
from kubesched_lab.sweep.runs import RunLabel
from kubesched_lab.sweep.whole_files import whole_file

FILE = "sweep.json"


class SweepRequest(msgspec.Struct, frozen=True, rename="camel"):
    """A sweep as the user requested it."""

    version: str
    spec: dict[str, Any]
    # digests of files by their paths
    inputs: dict[str, str]
    runs: list[RunLabel]
    timeline: bool = False
    tuned: bool = False


def read_request(folder: Path) -> SweepRequest | None:
    """Return the request for the results in a folder, None without results; raises SweepError."""
    path = folder / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=SweepRequest)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SweepError(f"{path}: {error.strerror or error}") from None
    except msgspec.DecodeError as error:
        raise SweepError(f"{path}: {error}; is it a folder of results?") from None


def write_request(folder: Path, request: SweepRequest) -> None:
    """Write the request for the results in a folder; raises SweepError."""
    path = folder / FILE
    text = msgspec.json.format(msgspec.json.encode(request, order="deterministic"), indent=1)
    with whole_file(path) as file:
        file.write_bytes(text + b"\n")


def changes(before: SweepRequest, now: SweepRequest) -> list[str]:
    """Return the differences between two requests, in a few words each."""
    found = list(_changed(before.spec, now.spec, "the specification's {}"))
    found += _changed(before.inputs, now.inputs, "the file {}")
    if before.version != now.version:
        found.append(f"the version of kubesched (from {before.version} to {now.version})")
    if before.timeline != now.timeline:
        found.append("--timeline")
    if before.tuned != now.tuned:
        found.append("--tune")
    return found


def _changed(before: Mapping[str, Any], now: Mapping[str, Any], words: str) -> Iterator[str]:
    for key in sorted({*before, *now}):
        if before.get(key) != now.get(key):
            yield words.format(key)

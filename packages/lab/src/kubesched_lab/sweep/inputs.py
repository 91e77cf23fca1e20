"""The files that a specification names.

From a specification and its folder, to which paths are relative, to texts of configurations, documents of Workloads and
digests of all files; raises SweepError, which names the field and the file. Traces are not kept in memory: workers read
them.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from kubesched.common.files import UnusableFileError, read_at_most
from kubesched_lab.simulate.traces.reading import without_workload, workload_document
from kubesched_lab.sweep.errors import SweepError
from kubesched_lab.sweep.spec import ConfigurationSpec, SweepSpec

LARGEST_CONFIG = 1 << 24


class SweepInputs(msgspec.Struct, frozen=True):
    """Contents of the files of a sweep: paths of traces by name, texts, documents, and digests by path."""

    traces: dict[str, list[str]]
    configs: dict[str, bytes]
    # by name of a trace and path
    workloads: dict[str, dict[str, dict[str, Any]]]
    digests: dict[str, str]
    mapping: str
    plugins: list[str]


def read_inputs(spec: SweepSpec, folder: Path) -> SweepInputs:
    """Read the files of a specification; raises SweepError."""
    digests: dict[str, str] = {}

    def found(written: str, where: str) -> str:
        path = folder / written
        try:
            # one of the workloads in a file is named FILE#NAME
            digests[written] = digest_of(Path(without_workload(str(path))))
        except OSError as error:
            raise SweepError(f"{where}: {written}: {error.strerror or error}") from None
        return str(path)

    traces: dict[str, list[str]] = {}
    for name, files in named_traces(spec).items():
        traces[name] = [found(each, f"traces: {name}") for each in files]
    configs: dict[str, bytes] = {}
    for index, each in enumerate(configurations_of(spec)):
        if each.file:
            configs[each.file] = _text(found(each.file, f"configurations[{index}]"), each.file)
    return SweepInputs(
        traces=traces,
        configs=configs,
        workloads={name: dict(_workloads(paths)) for name, paths in traces.items()},
        digests=digests,
        mapping=found(spec.mapping, "mapping") if spec.mapping else "",
        plugins=[found(each, f"plugins[{i}]") if _is_file(each) else each for i, each in enumerate(spec.plugins)],
    )


def named_traces(spec: SweepSpec) -> dict[str, list[str]]:
    """Return the files of each trace by its name, by default the name of the file; raises SweepError."""
    if isinstance(spec.traces, dict):
        named = [(name, _listed(files)) for name, files in spec.traces.items()]
    else:
        given = [_listed(files) for files in spec.traces]
        named = [("+".join(Path(file).name.split(".")[0] for file in files), files) for files in given]
    found: dict[str, list[str]] = {}
    for name, files in named:
        if name in found:
            raise SweepError(f"traces: two traces are named {name}; write them as NAME: FILE")
        if not name or not files or not all(files):
            raise SweepError(f"traces: {name or 'a trace'} has no file")
        found[name] = files
    return found


def configurations_of(spec: SweepSpec) -> list[ConfigurationSpec]:
    """Return the configurations, each with its name; raises SweepError."""
    found: dict[str, ConfigurationSpec] = {}
    for index, given in enumerate(spec.configurations):
        each = ConfigurationSpec(file=given) if isinstance(given, str) else given
        if each.file and each.inline is not None:
            raise SweepError(f"configurations[{index}]: expected `file` or `inline`, not both")
        name = each.name or (Path(each.file).stem if each.file else "default" if each.inline is None else "")
        if not name:
            raise SweepError(f"configurations[{index}]: a configuration with `inline` needs a `name`")
        if name in found:
            raise SweepError(f"configurations[{index}]: two configurations are named {name}; give one another `name`")
        found[name] = msgspec.structs.replace(each, name=name)
    return list(found.values())


def digest_of(path: Path) -> str:
    """Return the digest of a file, or of the files of a folder; OSError if one cannot be read."""
    if not path.is_dir():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    parts = [f"{file.relative_to(path)} {digest_of(file)}\n" for file in files_of(path)]
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def files_of(path: Path) -> list[Path]:
    """Return a file itself, or all files below a folder."""
    return sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]


def _listed(files: str | list[str]) -> list[str]:
    return [files] if isinstance(files, str) else files


def _text(path: str, written: str) -> bytes:
    try:
        return read_at_most(path, LARGEST_CONFIG)
    except UnusableFileError as error:
        raise SweepError(f"{written}: {error}") from None


def _workloads(paths: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in paths:
        document = workload_document(path)
        if isinstance(document, dict):
            yield path, document


def _is_file(plugin: str) -> bool:
    return plugin.endswith(".py") or ".py:" in plugin

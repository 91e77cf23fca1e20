"""Files of a sweep for machines that do not have them.

From a setup to a parcel, which has the contents of its files, and the setup with paths within the parcel; and from a
parcel to files in a folder, and the setup with their paths.
"""

from collections.abc import Callable
from pathlib import Path

import msgspec

from kubesched_lab.simulate.traces.reading import without_workload, workload_in
from kubesched_lab.sweep.inputs import files_of
from kubesched_lab.sweep.runs import SweepSetup


class Parcel(msgspec.Struct, frozen=True):
    """Contents of files by their paths in the parcel, and a setup that names these."""

    files: dict[str, bytes]
    setup: SweepSetup


def packed(setup: SweepSetup) -> Parcel:
    """Return a parcel with all files that a setup names, each in a separate folder under its own file name."""
    files: dict[str, bytes] = {}
    places: dict[str, str] = {}

    def place(path: str) -> str:
        if path not in places:
            source = Path(path)
            places[path] = f"{len(places)}/{source.name}"
            for file in files_of(source):
                inside = "" if file == source else f"/{file.relative_to(source)}"
                files[places[path] + inside] = file.read_bytes()
        return places[path]

    return Parcel(files, _placed(setup, place))


def unpacked(parcel: Parcel, folder: Path) -> SweepSetup:
    """Write the files of a parcel into a folder; return the setup with their paths."""
    for name, contents in parcel.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents)
    return _placed(parcel.setup, lambda place: str(folder / place))


def _placed(setup: SweepSetup, place: Callable[[str], str]) -> SweepSetup:
    """Return a setup with the files at other paths."""

    def of_trace(path: str) -> str:
        file, name = without_workload(path), workload_in(path)
        return f"{place(file)}#{name}" if name else place(file)

    def of_plugin(source: str) -> str:
        file, colon, attribute = source.partition(".py:")
        if colon:
            return f"{place(file + '.py')}:{attribute}"
        return place(source) if source.endswith(".py") else source

    return msgspec.structs.replace(
        setup,
        traces={name: [of_trace(path) for path in paths] for name, paths in setup.traces.items()},
        mapping=place(setup.mapping) if setup.mapping else "",
        plugins=[of_plugin(source) for source in setup.plugins],
    )

"""Parcels: all files of a sweep, unpacked elsewhere, under their own names."""

from pathlib import Path

from kubesched_lab.sweep.executors.shipping import packed, unpacked
from kubesched_lab.sweep.runs import SweepSetup


def test_files_arrive_under_their_own_names(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    (here / "cluster" / "nodes").mkdir(parents=True)
    for name in ("a.yaml", "cluster/nodes/b.yaml", "cluster/pods.yaml", "m.yaml", "mine.py", "cases.yaml"):
        (here / name).write_text(name)
    setup = SweepSetup(
        "1",
        {
            "a": [str(here / "a.yaml")],
            "both": [str(here / "cluster"), str(here / "a.yaml")],
            "case": [str(here / "cases.yaml#Basic/5")],
        },
        mapping=str(here / "m.yaml"),
        plugins=[str(here / "mine.py"), f"{here / 'mine.py'}:Quiet", "package.module:Class"],
    )
    parcel = packed(setup)
    assert str(here) not in repr(parcel.setup)
    found = unpacked(parcel, there)
    [a] = found.traces["a"]
    folder, again = found.traces["both"]
    assert (Path(a).name, Path(a).read_text(), again) == ("a.yaml", "a.yaml", a)
    assert (Path(folder) / "nodes" / "b.yaml").read_text() == "cluster/nodes/b.yaml"
    assert [Path(each).name for each in found.traces["case"]] == ["5"]
    assert found.traces["case"][0].endswith("/cases.yaml#Basic/5")
    assert Path(found.mapping).read_text() == "m.yaml"
    assert [each.rpartition("/")[2] for each in found.plugins] == ["mine.py", "mine.py:Quiet", "package.module:Class"]

"""Trace files: what lines mean, and what is said of lines that mean nothing."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from kubesched.errors import KubeschedError
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival
from kubesched_lab.simulate.traces.trace_file import trace_of_file

EXAMPLE = Path("examples/simulate/small.jsonl")
TEMPLATES = EXAMPLE.read_text().split("\n")[:2]


def shown(event: Any) -> tuple[Any, ...]:
    if isinstance(event, PodArrival):
        return event.at, "pod", event.pod.full_name, event.runs
    if isinstance(event, ObjectPut):
        return event.at, type(event.obj).__name__, event.obj.full_name
    assert isinstance(event, ObjectDeletion)
    return event.at, "deleted", event.kind, event.full_name


def read(path: Path) -> list[tuple[Any, ...]]:
    return [shown(event) for event in trace_of_file(path).events(0)]


EVENTS = [
    (0, "Node", "node-0"),
    (0, "Node", "node-1"),
    *((10, "pod", f"default/job-{number}", 60) for number in range(4)),
    (20, "pod", "default/late", 30),
    (40, "deleted", "Node", "node-1"),
    (50, "Node", "node-1"),
]


def test_the_example_is_read() -> None:
    assert read(EXAMPLE) == EVENTS


def test_a_packed_file_is_read(tmp_path: Path) -> None:
    packed = tmp_path / "trace.jsonl.gz"
    packed.write_bytes(gzip.compress(EXAMPLE.read_bytes()))
    assert read(packed) == EVENTS


def test_pods_are_as_an_api_server_admits_them() -> None:
    pods = [event.pod for event in trace_of_file(EXAMPLE).events(0) if isinstance(event, PodArrival)]
    assert {toleration.key for toleration in pods[0].spec.tolerations} == {
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    }
    # copies share what they have in common
    assert pods[0].spec is pods[1].spec


POD = (
    '"object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, '
    '"spec": {"containers": [{"name": "c", "image": "i"}]}}'
)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "line 3: Input data was truncated"),
        ("[]", "line 3: Expected `object`, got `array`"),
        ('{"at": 0, "form": "job"}', "line 3: Object contains unknown field `form`"),
        ('{"at": "0"}', "line 3: Expected `float | null`, got `str` - at `$.at`"),
        (f"{{{POD}}}", "line 3: `at`, the time in seconds, is missing"),
        (f'{{"at": -1, {POD}}}', "line 3: `at` is -1.0; expected seconds since the beginning"),
        (f'{{"at": 1, "runs": -1, {POD}}}', "line 3: `runs` is -1.0; expected seconds"),
        ('{"at": 0}', "line 3: expected one of `object`, `from`, `delete`; found none of them"),
        (
            '{"at": 0, "from": "job", "delete": "Pod/x"}',
            "line 3: expected one of `object`, `from`, `delete`; found from and delete",
        ),
        ('{"at": 0, "from": "web", "name": "w"}', "line 3: there is no template 'web' above; templates: job, node"),
        ('{"at": 0, "from": "job"}', "line 3: a copy of a template needs a `name`, with {} for its number"),
        (
            '{"at": 0, "from": "job", "name": "j", "count": 2}',
            "line 3: `count` is 2, so `name` needs {} for the number",
        ),
        ('{"at": 0, "from": "job", "name": "j", "count": 0}', "line 3: `count` is 0; expected a number from 1"),
        ('{"at": 0, "from": "node", "name": "n", "runs": 3}', "line 3: `runs` is for pods, and this is a Node"),
        ('{"at": 0, "delete": "Pod"}', "line 3: `delete` is 'Pod'; expected Kind/name or Kind/namespace/name"),
        ('{"template": "x"}', "line 3: a `template` needs an `object`"),
        ('{"at": 0, "object": {"apiVersion": "v1", "kind": "Pod"}}', "line 3:"),
        ('{"at": 0, "object": {"kind": "Pody", "apiVersion": "v1"}}', "line 3:"),
        (
            '{"at": 9, "from": "job", "name": "j"}\n{"at": 8, "from": "job", "name": "k"}',
            "line 4: `at` is 8.0, before the line above (9.0): sort the file by time",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(line: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl"
    file.write_text("\n".join([*TEMPLATES, line]) + "\n")
    with pytest.raises(KubeschedError) as raised:
        read(file)
    assert str(raised.value).startswith(f"trace.jsonl, {why}")


def test_a_damaged_archive_is_told(tmp_path: Path) -> None:
    packed = tmp_path / "trace.jsonl.gz"
    packed.write_bytes(gzip.compress(EXAMPLE.read_bytes())[:-20])
    with pytest.raises(KubeschedError, match="damaged"):
        read(packed)

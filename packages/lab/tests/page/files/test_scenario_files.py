"""Scenarios as files: what is saved is the same when it is opened, `simulate` runs it, and bad files say where."""

import asyncio
import gzip
import io
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from packages.lab.tests.page.routes.test_action_routes import CONFIGURATION, NEW, Acting, acting, small

from kubesched.core.assembly import load_config
from kubesched.testing import a_node, a_pod
from kubesched_answers.sources.files import read_files
from kubesched_lab.page.files.scenario_lines import read_scenario, scenario_lines
from kubesched_lab.simulate.command import simulate_command
from kubesched_lab.simulate.traces.reading import read_traces
from kubesched_lab.simulate.traces.trace import ObjectPut, PodArrival

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}
"""


async def download(page: Acting, path: str) -> tuple[str, bytes]:
    async with page._session.get(path) as found:
        assert found.status == 200
        return found.headers["Content-Disposition"].partition("filename=")[2].strip('"'), await found.read()


async def read(page: Acting, path: str) -> bytes:
    async with page._session.get(path) as found:
        assert found.status == 200
        return await found.read()


async def upload(page: Acting, name: str, content: bytes) -> tuple[int, Any]:
    async with page._session.post("/v1/scenario", params={"name": name}, data=io.BytesIO(content)) as found:
        return found.status, await found.json()


async def some_actions(page: Acting) -> None:
    await page.settle()
    await page.act(do="create", yaml=DEPLOYMENT)
    await page.settle()
    await page.act("/v1/configuration", yaml=CONFIGURATION)
    await page.act(do="drain", nodes="n1")
    await page.act(do="create", yaml=NEW)
    await page.settle()


def test_a_scenario_is_the_same_when_it_is_opened(tmp_path: Path) -> None:
    async def story() -> bytes:
        async with acting(*small()) as page:
            await some_actions(page)
            before = page.nodes()
            name, content = await download(page, "/v1/scenario")
            assert name == "scenario.jsonl"
        async with acting(a_node("other"), simulate=False) as page:
            assert await upload(page, "mine.jsonl", content) == (200, {"done": "Simulating mine.jsonl."})
            await page.settle()
            assert page.nodes() == before
            _, listed = await page.ask("GET", "/v1/actions")
            assert [each["title"].split()[0] for each in listed["done"]] == ["Create", "Apply", "Drain", "Create"]
            _, configuration = await page.ask("GET", "/v1/configuration")
            assert configuration["yaml"] == CONFIGURATION
            assert (await download(page, "/v1/scenario"))[1] == content
            # what was created can be scaled, and what was done be undone
            await page.act(do="scale", workload="deploy/web", replicas=3)
            await page.act("/v1/undo")
            await page.settle()
            assert page.nodes() == before
        return content

    file = tmp_path / "mine.jsonl"
    file.write_bytes(asyncio.run(story()))
    found = CliRunner().invoke(simulate_command, [str(file), "-o", "json"])
    assert found.exit_code == 0, found.output
    assert "another configuration" not in found.stderr
    other = tmp_path / "other.yaml"
    other.write_text(CONFIGURATION)
    found = CliRunner().invoke(simulate_command, [str(file), "-o", "json", "--config", str(other)])
    assert found.exit_code == 0, found.output
    assert "the scenario puts another configuration in force at" in found.stderr


def test_simulate_takes_configuration_and_seed_from_the_file(tmp_path: Path) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"capacity": {"cpu": "1"}}}
    events = msgspec.json.encode({"at": 0, "object": node}) + b"\n"
    header = {"scenario": {"version": 1, "configuration": CONFIGURATION, "seed": 7}}
    file = tmp_path / "s.jsonl.gz"
    file.write_bytes(gzip.compress(msgspec.json.encode(header) + b"\n" + events))
    found = CliRunner().invoke(simulate_command, [str(file), "-o", "json"])
    assert found.exit_code == 0, found.output
    (run,) = msgspec.json.decode(found.stdout)["runs"]
    assert (run["config"], run["seed"]) == ("scenario", 7)


@pytest.mark.parametrize("kind", ["snapshot", "manifests", "simulator"])
def test_exports_are_read_again(kind: str, tmp_path: Path) -> None:
    objects = [*small(), a_pod("big", cpu="9", labels={"app": "big"})]

    async def story() -> tuple[str, bytes]:
        async with acting(*objects, simulate=False) as page:
            return await download(page, f"/v1/export?as={kind}")

    name, content = asyncio.run(story())
    file = tmp_path / name
    file.write_bytes(content)
    if kind == "simulator":
        events = list(read_traces([str(file)]).events(0))
        found = [each.obj for each in events if isinstance(each, ObjectPut)]
        found += [each.pod for each in events if isinstance(each, PodArrival)]
        assert {"schedulerConfig", "nodes", "pods"} <= set(msgspec.json.decode(content))
    else:
        found = list(read_files([str(file)]).objects)
    named: dict[str, Any] = {each.full_name: each for each in found}
    for obj in objects:
        again = named[obj.full_name]
        assert again.metadata.labels == obj.metadata.labels
        assert getattr(again.spec, "node_name", "") == getattr(obj.spec, "node_name", "")
    assert len(named) == len(objects)


WITH_SECRETS = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- {urlPrefix: "http://user:S3CRET-url@127.0.0.1:1/x", filterVerb: f, tlsConfig: {insecure: true, keyData: UzNDUkVU}}
profiles:
- plugins: {score: {disabled: [{name: ImageLocality}]}}
"""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@pytest.mark.parametrize(
    "path",
    [
        "/v1/scenario",
        "/v1/export?as=snapshot",
        "/v1/export?as=manifests",
        "/v1/export?as=simulator",
        "/v1/cluster",
        "/v1/pods/default/p",
    ],
)
def test_secrets_are_not_in_what_is_given_away(path: str) -> None:
    annotations = {LAST_APPLIED: '{"env": "S3CRET-env"}'}
    pod = a_pod("p", annotations=annotations)

    async def story() -> bytes:
        async with acting(a_node("n"), pod, simulate=False, config=WITH_SECRETS) as page:
            return await read(page, path)

    content = asyncio.run(story())
    text = (gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content).decode()
    assert "default" in text
    assert [word for word in ("S3CRET", "UzNDUkVU") if word in text] == []


def test_a_configuration_without_secrets_is_saved_as_it_was_written(tmp_path: Path) -> None:
    async def story() -> bytes:
        async with acting(*small()) as page:
            await page.act("/v1/configuration", yaml=CONFIGURATION)
            return (await download(page, "/v1/scenario"))[1]

    lines = [msgspec.json.decode(line) for line in asyncio.run(story()).splitlines()]
    assert [line["configuration"] for line in lines if "action" in line] == [CONFIGURATION]


def perf_file(path: str) -> bytes:
    operation = f"{{opcode: createPods, count: 1, podTemplatePath: {path}, collectMetrics: true}}"
    return f"[{{name: C, workloads: [{{name: w}}], workloadTemplate: [{operation}]}}]".encode()


HEADER = b'{"scenario":{"version":1}}\n'
BAD: dict[str, tuple[str, bytes, str]] = {
    "nothing": ("a.jsonl", b"", "the file is empty"),
    "a newer version": ("a.jsonl", b'{"scenario":{"version":9}}\n', "a.jsonl, line 1: `scenario.version` is 9"),
    "an unknown field": ("a.jsonl", b'{"scenario":{"version":1,"x":1}}\n', "a.jsonl, line 1: Object contains unknown"),
    "a bad configuration": (
        "a.jsonl",
        b'{"scenario":{"version":1,"configuration":"kind: X"}}\n',
        "a.jsonl, line 1: `configuration`: ",
    ),
    "no JSON": ("a.jsonl", HEADER + b"{oops\n", "a.jsonl, line 2: JSON is malformed"),
    "a line without a time": ("a.jsonl", HEADER + b'{"delete":"Pod/a"}\n', "a.jsonl, line 2: `at`, the time"),
    "times that go back": (
        "a.jsonl",
        HEADER + b'{"at":5,"delete":"Pod/a"}\n{"at":4,"delete":"Pod/a"}\n',
        "a.jsonl, line 3: `at` is 4.0, before the line above",
    ),
    "a field of an object": (
        "a.jsonl",
        HEADER + b'{"at":0,"object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"x":1}}}\n',
        "a.jsonl, line 2: ",
    ),
    "a torn action": ("a.jsonl", HEADER + b'{"at":0,"action":"A","lines":2}\n', "the file is truncated: 2 lines"),
    "turns below none": ("a.jsonl", HEADER + b'{"at":0,"action":"A","turns":-1}\n', "a.jsonl, line 2: an `action` has"),
    "a trace with a fault far behind": (
        "a.jsonl",
        b'{"at":0,"delete":"Pod/a"}\n' * 50 + b'{"at":1,"delete":"a"}\n',
        "a.jsonl, line 51: `delete` is 'a'",
    ),
    "no packed file": ("a.jsonl.gz", b"nonsense", "a.jsonl.gz: "),
    "manifests that are none": ("a.yaml", b"a: [", "a.yaml"),
    "a CSV file": ("a.csv", b"x,y\n1,2\n", "a.csv: a CSV file needs --mapping"),
    "a simulator's file": ("a.json", b'{"pods": 1}', "a.json: `pods`: expected a list"),
    "a file that names another one": (
        "a.yaml",
        perf_file("/etc/passwd"),
        "a.yaml: C/w: it names another file, /etc/passwd, which a page does not read; "
        "in a terminal, kubesched page --simulate 'a.yaml#C/w' does",
    ),
    "a file that names another one above": (
        "a.yaml",
        perf_file("../../etc/passwd"),
        "it names another file, ../../etc",
    ),
    "a name without end": ("x" * 5000 + ".jsonl", HEADER + b"{oops\n", "x.jsonl, line 2"),
    "a name that leads elsewhere": ("../../etc/a.jsonl", HEADER + b"{oops\n", "a.jsonl, line 2"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_told_in_a_sentence_and_what_is_shown_stays(case: str) -> None:
    name, content, why = BAD[case]

    async def story() -> None:
        async with acting(*small(), simulate=False) as page:
            shown = page.server.state.shown
            status, answer = await upload(page, name, content)
            assert status in (400, 422)
            assert why in answer["error"]
            assert "\n" not in answer["error"]
            assert "/tmp" not in answer["error"]
            assert page.server.state.shown is shown
            assert page.server.state.simulation is None

    asyncio.run(story())


def test_files_of_simulate_are_opened_as_they_are() -> None:
    async def story() -> None:
        async with acting(a_node("other"), simulate=False) as page:
            status, _ = await upload(page, "x.yaml", NEW.encode())
            assert status == 200
            await page.settle()
            assert page.nodes() == {"default/new": ""}

    asyncio.run(story())


def test_an_unknown_export_is_told() -> None:
    async def story() -> None:
        async with acting(*small(), simulate=False) as page:
            status, answer = await page.ask("GET", "/v1/export?as=pdf")
            assert (status, answer["error"]) == (
                400,
                "as: 'pdf' is not known; expected one of snapshot, manifests, simulator",
            )

    asyncio.run(story())


def test_lines_of_a_scenario_are_read_as_the_same_events(tmp_path: Path) -> None:
    async def story() -> bytes:
        async with acting(*small()) as page:
            await some_actions(page)
            return (await download(page, "/v1/scenario"))[1]

    content = asyncio.run(story())
    file = tmp_path / "s.jsonl"
    file.write_bytes(content)
    saved = read_scenario(file, lambda text: load_config(text or None), None)
    assert saved is not None
    assert b"".join(scenario_lines(saved)) == content
    drain = saved.actions[2]
    assert drain.title.startswith("Drain node n1")
    assert [each.pod.name for each in drain.events if isinstance(each, PodArrival)][:2] == ["w-1", "w-2"]


def quickstart() -> list[Any]:
    """Return the objects of the quickstart: devices, volumes, priorities, spreading."""
    return list(read_files(["examples/quickstart"]).objects)


@pytest.mark.slow
def test_the_quickstart_is_the_same_after_actions_when_it_is_opened_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with acting(*quickstart()) as page:
            await page.settle()
            await page.act(do="drain", nodes="topology.kubernetes.io/zone=zone-a", force=True)
            await page.settle()
            await page.act(do="add-nodes", like="node-a1", count=2)
            await page.act(do="scale", workload="sts/database", replicas=2)
            await page.settle()
            before = page.nodes()
            _, content = await download(page, "/v1/scenario")
            assert (await upload(page, "again.jsonl", content))[0] == 200
            await page.settle()
            assert page.nodes() == before
            for kind in ("snapshot", "manifests", "simulator"):
                name, exported = await download(page, f"/v1/export?as={kind}")
                assert (await upload(page, name, exported))[0] == 200
                bound = {pod for pod, node in page.nodes().items() if node}
                assert {pod for pod, node in before.items() if node} == bound

    asyncio.run(story())

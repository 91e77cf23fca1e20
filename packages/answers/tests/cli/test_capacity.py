"""`kubesched capacity`: what it prints, its exit codes, and wrong input."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from kubesched.api.codec import to_builtins
from kubesched.cli import main
from kubesched.testing import a_node, a_pod

ITYPE = "node.kubernetes.io/instance-type"


def a_deployment(name: str = "web", **spec: Any) -> dict[str, Any]:
    """Return a deployment of three replicas, a CPU each."""
    container = {"name": "main", "image": "web", "resources": {"requests": {"cpu": "1"}}}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    whole = {"replicas": 3, "selector": {"matchLabels": {"app": name}}, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": whole}


def an_export(kind: str, version: str = "v1", **fields: Any) -> dict[str, Any]:
    """Return an object of a cluster, in the namespace tight."""
    meta = {"name": "a", "uid": kind, **({"namespace": "tight"} if version == "v1" else {})}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **fields}


ADMISSION = (
    an_export("LimitRange", spec={"limits": [{"type": "Container", "max": {"cpu": "2"}}]}),
    an_export(
        "ResourceQuota",
        spec={"hard": {"requests.cpu": "3"}},
        status={"hard": {"requests.cpu": "3"}, "used": {"requests.cpu": "1"}},
    ),
    an_export("PriorityClass", "scheduling.k8s.io/v1", value=-1),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a cluster of three nodes and some workloads."""
    nodes = [
        a_node("a1", cpu="4", zone="a", labels={"pool": "large", ITYPE: "m4"}),
        a_node("b1", cpu="4", zone="b", labels={"pool": "large", ITYPE: "m4"}),
        a_node("b2", cpu="1", zone="b", labels={"pool": "small", ITYPE: "m1"}, taints=["gpu=yes:NoSchedule"]),
    ]
    objects = [*nodes, a_pod("old", node="a1", cpu="500m")]
    write(tmp_path / "nodes.yaml", *(to_builtins(obj) for obj in objects))
    write(tmp_path / "cluster.yaml", *(to_builtins(obj) for obj in objects), *ADMISSION)
    write(tmp_path / "web.yaml", a_deployment())
    write(tmp_path / "two.yaml", a_deployment("one"), a_deployment("two"))
    write(tmp_path / "node.yaml", to_builtins(a_node("big", cpu="16")))
    (tmp_path / "prices.csv").write_text(f"{ITYPE},currency,price\nm4,EUR,0.25\n\nm1,EUR,1\n")
    return tmp_path


def write(path: Path, *documents: dict[str, Any]) -> None:
    """Write documents to a file."""
    path.write_text(yaml.safe_dump_all(documents))


def run(folder: Path, *arguments: str) -> Result:
    """Run the command in a folder, on its cluster."""
    words = [str(folder / word) if word.endswith((".yaml", ".csv", ".py")) else word for word in arguments]
    command = ["capacity", "--from", str(folder / "cluster.yaml"), *words]
    return CliRunner(env={"COLUMNS": "100"}).invoke(main, command)


def test_the_table(folder: Path) -> None:
    result = run(folder, "-f", "web.yaml", "--until", "12", "--prices", "prices.csv")
    assert (result.exit_code, result.stderr) == (3, "")
    assert result.stdout == TABLE


TABLE = """\
Of 12 replicas of Deployment default/web, 7 fit; cpu runs out first, on 2 nodes. With 1 more node m4
(large) in a, 1 in b all fit.
0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu.

Replicas
TEMPLATE                REQUESTS  FIT  WANTED
Deployment default/web  1 cpu       7      12

Nodes by what limits them
Insufficient cpu                  ████████████████████··········  2 nodes, 7 replicas
node(s) had untolerated taint(s)  ██████████····················  1 node, 0 replicas

Zones
ZONE  NODES  REPLICAS
a         1         3
b         2         4

Pools (label pool)
POOL   NODES  REPLICAS
large      2         7
small      1         0

Largest pod
LARGER               REQUESTS           FITS ON
in proportion (x 4)  4 cpu              b1
cpu alone            4 cpu              b1
memory alone         1 cpu, 8Gi memory  a1

Nodes to add
ADD                             NODES  PRICE
1 node m4 (large) in a, 1 in b      2    0.5

Nodes that do not help
KIND        WHY
m1 (small)  node(s) had untolerated taint(s)
"""


@pytest.mark.parametrize(
    ("arguments", "code", "output"),
    [
        pytest.param(
            ["-f", "web.yaml"],
            0,
            "7 replicas of Deployment default/web fit on 3 nodes; cpu runs out first, on 2 nodes.\n",
            id="without a target, some fit",
        ),
        pytest.param(
            ["-f", "web.yaml", "--until", "7"], 0, "All 7 replicas of Deployment default/web fit.\n", id="a target"
        ),
        pytest.param(
            ["-f", "web.yaml", "--own-replicas"],
            0,
            "All 3 replicas of Deployment default/web fit.\n",
            id="its own replicas",
        ),
        pytest.param(
            ["-f", "two.yaml", "--weights", "own"],
            0,
            "1 round of 3 of Deployment default/one, 3 of Deployment default/two fit. Deployment default/one is\n"
            "the first that fits nowhere; cpu runs out first, on 2 nodes.\n",
            id="rounds by weights",
        ),
        pytest.param(
            ["-f", "web.yaml", "--until", "20", "--node-template", "node.yaml"],
            3,
            "Of 20 replicas of Deployment default/web, 7 fit; cpu runs out first, on 2 nodes. With 1 more node\n"
            "big all fit.\n",
            id="a node of a manifest",
        ),
    ],
)
def test_exit_codes_say_whether_they_fit(folder: Path, arguments: list[str], code: int, output: str) -> None:
    result = run(folder, *arguments, "--quiet")
    assert (result.stdout, result.stderr, result.exit_code) == (output, "", code)


def test_a_quota_stops_a_pipeline(folder: Path) -> None:
    document = a_deployment()
    document["metadata"]["namespace"] = "tight"
    document["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "1"}
    write(folder / "tight.yaml", document)
    result = run(folder, "-f", "tight.yaml", "--own-replicas", "--quiet")
    assert (result.exit_code, " ".join(result.stdout.split())) == (
        3,
        "Of 3 replicas of Deployment tight/web, 2 fit; the quota a of namespace tight allows 2 more: requests.cpu.",
    )


def test_a_pod_that_a_limit_range_refuses_is_an_error(folder: Path) -> None:
    document = a_deployment()
    document["metadata"]["namespace"] = "tight"
    document["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "5"}
    write(folder / "tight.yaml", document)
    result = run(folder, "-f", "tight.yaml", "--quiet")
    assert result.exit_code == 1
    assert "is forbidden: maximum cpu usage per Container is 2, but limit is 5" in " ".join(result.stderr.split())


def test_what_an_export_may_lack_is_told(folder: Path) -> None:
    command = ["capacity", "--from", str(folder / "nodes.yaml"), "-f", str(folder / "web.yaml"), "--quiet"]
    result = CliRunner(env={"COLUMNS": "100"}).invoke(main, command)
    assert result.exit_code == 0
    told = " ".join(result.stderr.split())
    assert told.startswith(f"not in this verdict: LimitRange: {folder / 'nodes.yaml'} has none;")


def test_an_empty_cluster_is_told_what_to_do(folder: Path) -> None:
    write(folder / "cluster.yaml", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "uid": "1"}})
    result = run(folder, "-f", "web.yaml", "--until", "2")
    assert (result.exit_code, result.stderr) == (3, "")
    assert result.stdout.startswith(
        "Of 2 replicas of Deployment default/web, 0 fit. The cluster has no nodes; describe some with\n"
        "--node-template.\n"
    )
    result = run(folder, "-f", "web.yaml", "--until", "2", "--node-template", "node.yaml", "-q")
    assert result.stdout == "Of 2 replicas of Deployment default/web, 0 fit. With 1 more node big all fit.\n"


def test_json_has_the_fields_of_the_answer(folder: Path) -> None:
    found = json.loads(run(folder, "-f", "web.yaml", "-o", "json").stdout)
    (part,) = found["templates"]
    assert (found["fits"], found["nodeCount"], found["order"]) == (True, 3, "in order")
    assert (part["replicas"], part["nodes"], part["inBatch"]) == (7, {"a1": 3, "b1": 4}, True)
    assert part["zones"] == [{"name": "a", "nodes": 1, "replicas": 3}, {"name": "b", "nodes": 2, "replicas": 4}]


@pytest.mark.parametrize("form", ["yaml", "markdown", "html"])
def test_every_form_names_the_template(folder: Path, form: str) -> None:
    result = run(folder, "-f", "web.yaml", "-o", form)
    assert result.exit_code == 0
    assert "Deployment default/web" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(["-f", "no.yaml"], 1, "no.yaml: No such file or directory", id="a file that is not there"),
        pytest.param(["-f", "node.yaml"], 1, "no workload to count", id="a file without a workload"),
        pytest.param(["-f", "prices.csv"], 1, "prices.csv: document 1: an object was expected", id="a foreign file"),
        pytest.param(["-f", "bad.yaml"], 1, "spec.replicas: Invalid value: -1", id="a manifest that is not valid"),
        pytest.param(
            ["-f", "web.yaml", "--weights", "a"], 2, "whole numbers separated by commas", id="a weight of letters"
        ),
        pytest.param(["-f", "web.yaml", "--weights", "1,1"], 1, "2 weights for 1 workloads", id="too many weights"),
        pytest.param(
            ["-f", "web.yaml", "--until", "1", "--own-replicas"], 2, "exclude each other: give one", id="two targets"
        ),
        pytest.param(["-f", "web.yaml", "--until", "0"], 2, "0 is not in the range", id="a target of nothing"),
        pytest.param(["-f", "web.yaml", "--prices", "no.csv"], 1, "no.csv: No such file", id="prices not there"),
        pytest.param(
            ["-f", "web.yaml", "--prices", "bad.csv"],
            1,
            "bad.csv: line 2: expected a price in column 'price'",
            id="prices that are no numbers",
        ),
        pytest.param(["-f", "web.yaml", "--prices", "web.yaml"], 1, "a label and 'price'", id="prices that are YAML"),
        pytest.param(
            ["-f", "web.yaml", "--node-template", "web.yaml"],
            1,
            "--node-template expects a Node",
            id="a node that is none",
        ),
        pytest.param(
            ["-f", "web.yaml", "--prices", "negative.csv"],
            1,
            "negative.csv: line 2: expected a price in column 'price', found '-3'",
            id="a negative price",
        ),
        pytest.param(
            ["-f", "web.yaml", "--prices", "columns.csv"],
            1,
            "columns.csv: line 1: no column is named 'price'; the columns are type, cost, region",
            id="prices without a column of them",
        ),
        pytest.param(
            ["-f", "web.yaml", "--prices", "others.csv"],
            1,
            "no price is for a node of this cluster; prices are by label node.kubernetes.io/instance-type: ",
            id="prices of other nodes",
        ),
        pytest.param(
            ["-f", "web.yaml", "--price-label", "cost"],
            1,
            "no node has the label cost for prices",
            id="a label of prices that no node has",
        ),
        pytest.param(
            ["-f", "web.yaml", "--pool-label", "zoo"],
            1,
            "no node has the label zoo for pools",
            id="a label of pools that no node has",
        ),
        pytest.param(
            ["-f", "web.yaml", "--node-template", "empty.yaml"], 1, "empty.yaml: no objects found", id="an empty node"
        ),
        pytest.param(["-f", "web.yaml", "--plugin", "none.py"], 1, "none.py: No such file", id="a plugin not there"),
        pytest.param(["-f", "web.yaml", "--plugin", "bad.py"], 1, "bad.py: syntax error in line 1", id="a bad plugin"),
        pytest.param(
            ["-f", "web.yaml", "--feature-gates", "Nope=true"],
            1,
            "unrecognized feature gate: Nope",
            id="an unknown feature gate",
        ),
        pytest.param(
            ["-f", "web.yaml", "--feature-gates", "Nope"], 1, "missing bool value for Nope", id="a gate without a value"
        ),
        pytest.param(["--until", "3"], 2, "no workloads: add -f FILE", id="a target without workloads"),
    ],
)
def test_wrong_input_is_one_line(folder: Path, arguments: list[str], code: int, message: str) -> None:
    write(folder / "bad.yaml", a_deployment(replicas=-1))
    (folder / "bad.csv").write_text("instance-type,price\nm4,cheap\n")
    (folder / "negative.csv").write_text("instance-type,price\nm4,-3\n")
    (folder / "columns.csv").write_text("type,cost,region\nm4,3,north\n")
    (folder / "others.csv").write_text("type,price\nm99,3\n")
    (folder / "empty.yaml").write_text("")
    (folder / "bad.py").write_text("def f(:\n")
    result = run(folder, *arguments)
    assert message in result.stderr
    assert (result.exit_code, result.stdout) == (code, "")
    if code == 1:
        assert result.stderr.count("\n") == 1


def test_without_workloads_the_answer_is_what_is_left(folder: Path) -> None:
    result = run(folder, "--quiet")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "Free on 3 nodes: 8.5 of 9 cpu, 24Gi of 24Gi memory. 15 more pods of the median size (0.5 cpu) fit. 1\n"
        "node takes no pod without tolerations.\n"
    )
    table = run(folder).stdout
    for heading in ("Free", "Largest pod without tolerations", "Free by zone", "Free by pool (label pool)"):
        assert f"\n{heading}\n" in table
    assert json.loads(run(folder, "-o", "json").stdout)["resources"][0]["free"] == "8500m"

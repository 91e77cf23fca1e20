"""The dashboard, the recording rules and the alerts: built on metrics and labels that exist, and documented."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.programs import needs
from tests.support.promql import Used, used

from kubesched.serving.metrics import catalog
from kubesched.serving.metrics.families import HISTOGRAM, Metric

ROOT = Path(__file__).parents[2]
PROMETHEUS = ROOT / "deploy" / "prometheus"
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "kubesched.json").read_text())
RUNBOOKS = "https://github.com/kubesched/kubesched/blob/main/docs/guides/operator/alerts.md#"
METRICS = {each.name: each for each in vars(catalog).values() if isinstance(each, Metric)}
# what Prometheus adds
TARGET = {"job", "instance"}


def rules(name: str) -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load((PROMETHEUS / name).read_text())["groups"] for rule in group["rules"]]


RULES = [rule for name in ("recording.yaml", "alerts.yaml", "slo.yaml") for rule in rules(name)]
# the labels of each recorded series: those of its expression, and those that the rule adds
RECORDED = {rule["record"]: used(rule["expr"]).labels | {*rule.get("labels", ())} for rule in RULES if "record" in rule}
ALERTS = [rule for rule in RULES if "alert" in rule]
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
EXPRESSIONS = {
    **{f"{rule['record']} {rule.get('labels', '')}": rule["expr"] for rule in RULES if "record" in rule},
    **{rule["alert"]: rule["expr"] for rule in ALERTS},
    **{
        f"panel {panel['title']} {target['refId']}": target["expr"].replace("$__rate_interval", "5m")
        for panel in PANELS
        for target in panel["targets"]
    },
}


def metric_of(name: str) -> Metric:
    """Return the metric that a series belongs to."""
    if name in METRICS:
        return METRICS[name]
    family = re.sub(r"_(bucket|sum|count)$", "", name)
    assert family in METRICS, f"there is no metric {name}"
    assert METRICS[family].kind == HISTOGRAM, f"{family} is no histogram"
    return METRICS[family]


def labels_of(name: str) -> set[str]:
    """Return the labels of a series, also of a recorded one."""
    if name in RECORDED:
        return set(RECORDED[name])
    return {*metric_of(name).labels, *({"le"} if name.endswith("_bucket") else ())}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_every_metric_and_label_exists(name: str) -> None:
    found = used(EXPRESSIONS[name])
    assert found.metrics, "an expression without a metric"
    known = set().union(*map(labels_of, found.metrics))
    assert found.labels <= known | TARGET


def test_the_values_of_labels_are_those_that_the_scheduler_tells() -> None:
    text = " ".join(EXPRESSIONS.values())
    assert set(re.findall(r'queue="(\w+)"', text)) <= {"active", "backoff", "unschedulable", "gated"}
    assert set(re.findall(r'result="(\w+)"', text)) <= {"scheduled", "unschedulable", "error"}
    assert set(re.findall(r'type="(\w+)"', text)) <= {"nodes", "pods", "assumed_pods"}


def test_every_alert_says_what_to_do() -> None:
    headings = re.findall(r"^## (\w+)$", (ROOT / "docs" / "guides/operator/alerts.md").read_text(), re.MULTILINE)
    assert headings == [rule["alert"] for rule in ALERTS]
    for rule in ALERTS:
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert rule["annotations"].keys() == {"summary", "description", "runbook_url"}
        assert rule["annotations"]["runbook_url"] == RUNBOOKS + rule["alert"].lower()


def test_every_alert_is_tested_firing_and_not_firing() -> None:
    cases = [
        case
        for test in yaml.safe_load((PROMETHEUS / "tests.yaml").read_text())["tests"]
        for case in test["alert_rule_test"]
    ]
    names = {rule["alert"] for rule in ALERTS}
    assert {case["alertname"] for case in cases if case.get("exp_alerts")} == names
    assert {case["alertname"] for case in cases if not case.get("exp_alerts")} == names


def test_what_annotations_name_is_left_by_the_expression() -> None:
    for rule in ALERTS:
        named = set(re.findall(r"\$labels\.(\w+)", " ".join(rule["annotations"].values())))
        found = used(rule["expr"])
        assert named <= set().union(found.labels, *map(labels_of, found.metrics), TARGET), rule["alert"]


def test_panels_have_places_of_their_own_and_ask_the_chosen_source() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    variables = {each["name"] for each in DASHBOARD["templating"]["list"]}
    asked = set(re.findall(r"\$\{?(\w+)", json.dumps(DASHBOARD["panels"]))) - {"__rate_interval"}
    assert asked == variables


@pytest.mark.parametrize(
    ("expression", "metrics", "labels"),
    [
        ('sum by (job) (rate(a_total{code=~"5..|x"}[5m])) > 0.5', {"a_total"}, {"job", "code"}),
        ("absent(b_count) and on (job, instance) c", {"b_count", "c"}, {"job", "instance"}),
        ('histogram_quantile(0.9, sum by (le) (rate(d_bucket{a="}", b!="y"}[5m])))', {"d_bucket"}, {"le", "a", "b"}),
        ("time() - e:f:g5m", {"e:f:g5m"}, set()),
    ],
)
def test_what_expressions_use_is_found(expression: str, metrics: set[str], labels: set[str]) -> None:
    assert used(expression) == Used(frozenset(metrics), frozenset(labels))


needs_promtool = needs("promtool", "prometheus")


@needs_promtool
@pytest.mark.parametrize(
    "words", [["check", "rules", "alerts.yaml", "recording.yaml", "slo.yaml"], ["test", "rules", "tests.yaml"]]
)
def test_promtool_is_content(words: list[str]) -> None:
    found = subprocess.run(["promtool", *words], capture_output=True, text=True, timeout=60, cwd=PROMETHEUS)
    assert found.returncode == 0, found.stdout + found.stderr


@needs_promtool
def test_panels_are_promql(tmp_path: Path) -> None:
    file = tmp_path / "panels.yaml"
    records = [{"record": f"panel:{n}", "expr": text} for n, text in enumerate(EXPRESSIONS.values())]
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": records}]}))
    found = subprocess.run(["promtool", "check", "rules", str(file)], capture_output=True, text=True, timeout=60)
    assert found.returncode == 0, found.stdout + found.stderr

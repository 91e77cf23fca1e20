"""Metrics of the scheduler in dashboards and rules."""

import json

import pytest

from kubesched.doctor.dashboard_checks import check_dashboard, is_served, scheduler_metrics
from kubesched.doctor.findings import FAIL, OK, WARN


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("sum(rate(scheduler_schedule_attempts_total[5m])) by (result)", {"scheduler_schedule_attempts_total"}),
        (
            'histogram_quantile(0.99, sum by (le) (rate(scheduler_e2e_seconds_bucket{job="x", profile=~"a.*"}[5m])))',
            {"scheduler_e2e_seconds_bucket"},
        ),
        ('rest_client_requests_total{job="kube-scheduler", code=~"5.."} > 0', {"rest_client_requests_total"}),
        # another component's
        ('rest_client_requests_total{job="kube-controller-manager"}', set()),
        ("kube_pod_info * on (pod) group_left (node) node_load1", set()),
        ('label_replace(up, "scheduler_up", "$1", "job", "(.*)")', set()),
        ('{__name__="scheduler_gone_total", job="x"}', {"scheduler_gone_total"}),
        ('rate({"scheduler_gone_total", job="x"}[5m])', {"scheduler_gone_total"}),
        ('sum({__name__=~"scheduler_(gone|e2e)_.*"})', {"~scheduler_(gone|e2e)_.*"}),
        ('{__name__=~"(up|scheduler_gone)"}', {"~(up|scheduler_gone)"}),
        ('{__name__!~"scheduler_.*"}', set()),
        ('topk($top_n, rate(scheduler_a_total{x="}"}[5m])) # scheduler_b', {"scheduler_a_total"}),
        ('up{job="kube-scheduler"} * on (pod) group_left kube_pod_info', set()),
        ('sum(go_goroutines{job=~"kube-scheduler|x"}) / sum(kube_pod_info)', {"go_goroutines"}),
    ],
)
def test_names_in_an_expression(expression: str, names: set[str]) -> None:
    assert scheduler_metrics(expression) == names


@pytest.mark.parametrize(
    ("name", "served"),
    [
        ("scheduler_schedule_attempts_total", True),
        ("scheduler_scheduling_attempt_duration_seconds_bucket", True),
        ("scheduler_schedule_attempts_total_bucket", False),
        ("scheduler_e2e_scheduling_duration_seconds_bucket", False),
        ("process_resident_memory_bytes", True),
        ("go_goroutines", False),
        ("~scheduler_pending.*", True),
        ("~scheduler_gone.*", False),
        ("~(((a*)*)*)*scheduler_gone[", False),
    ],
)
def test_what_is_served(name: str, served: bool) -> None:
    assert is_served(name) is served


RULES = """
groups:
- name: scheduler
  rules:
  - alert: Down
    expr: scheduler_pending_pods{queue="active"} > 10 or scheduler_gone_total > 0
"""


@pytest.mark.parametrize(
    ("text", "level", "what"),
    [
        (RULES, WARN, "f: kubesched does not serve scheduler_gone_total"),
        (RULES.replace("scheduler_gone_total", "scheduler_pending_pods"), OK, "all of its scheduler metrics (1)"),
        (json.dumps({"panels": [{"targets": [{"expr": "scheduler_gone_total"}]}]}), WARN, "scheduler_gone_total"),
        (json.dumps({"panels": [{"targets": [{"expr": "up"}]}]}), OK, "has no scheduler metrics"),
        ("a: [b\nc", FAIL, "neither JSON nor YAML: "),
        ("[" * 5000, FAIL, "neither JSON nor YAML"),
        (f"a: b\n---\n{RULES}", WARN, "scheduler_gone_total"),
        (json.dumps({"kind": "ConfigMap", "data": {"x": "text", "d": RULES}}), WARN, "scheduler_gone_total"),
        (json.dumps({"kind": "ConfigMap", "data": 5}), OK, "has no scheduler metrics"),
        ('{"a": {"expr": "{__name__=~\\"scheduler_gone.*\\"}"}}', WARN, "anything that matches scheduler_gone.*"),
        ("", OK, "has no scheduler metrics"),
        ("just text", OK, "has no scheduler metrics"),
    ],
)
def test_files(text: str, level: str, what: str) -> None:
    (finding,) = check_dashboard("f", text)
    assert (finding.level, what in finding.what) == (level, True), finding

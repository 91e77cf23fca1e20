"""The metrics pages: names, kinds, labels, buckets and texts of the reference, and the flags that change them."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Counter
from prometheus_client.parser import text_string_to_metric_families

from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import build_engine
from kubesched.core.framework.observing.observer import FILTER, Bound, FailedAttempt
from kubesched.core.framework.results.outcomes import PostFilterResult
from kubesched.core.framework.values.events import Action, ClusterEvent, Resource
from kubesched.core.framework.values.status import SUCCESS, Code, unschedulable
from kubesched.core.loop.gauges import Gauges
from kubesched.serving.metrics import catalog
from kubesched.serving.metrics.client_metrics import LeaderMetrics, RequestMetrics
from kubesched.serving.metrics.families import COUNTER, HISTOGRAM, Family, Metric
from kubesched.serving.metrics.options import MetricOptionError, MetricOptions, read_metric_options
from kubesched.serving.metrics.pages import HealthMetrics, resources_text
from kubesched.serving.metrics.process_metrics import describe_process, measure_lag
from kubesched.serving.metrics.registry import MetricRegistry
from kubesched.serving.metrics.scheduler_metrics import SchedulerGauges, SchedulerMetrics
from kubesched.testing import a_cluster, a_container, a_node, a_pod

# what kube-scheduler v1.36.4 served after some work
REFERENCE: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "metrics.json").read_text())
DECLARED = {metric.name: metric for metric in vars(catalog).values() if isinstance(metric, Metric)}
POD = a_cluster(a_node("n")).reader.read(a_pod("p", cpu="1"))


def parsed(text: str) -> dict[str, Any]:
    """Return the families of a page by the name that its TYPE line has."""
    return {
        f"{family.name}_total" if family.type == COUNTER else family.name: family
        for family in text_string_to_metric_families(text)
    }


def work(registry: MetricRegistry) -> None:
    """Have everything happen once."""
    metrics = SchedulerMetrics(registry)
    for profile in build_engine().profiles.values():
        metrics.expect(profile)
    metrics.pod_queued(POD, "active", "UnschedulablePodAdd", ())
    metrics.hint_asked("NodeResourcesFit", "NodeAdd", "Queue", 1e-5)
    metrics.event_handled(ClusterEvent(Resource.NODE, Action.ADD), POD.pod, 1e-4)
    metrics.points_ran("default-scheduler", [(FILTER, Code.SUCCESS, 1e-4)])
    metrics.plugin_ran("NodeResourcesFit", FILTER, "Success", 1e-5)
    metrics.plugins_asked("default-scheduler", [(FILTER, ("NodeResourcesFit",), 3)])
    metrics.algorithm_ran(1e-3)
    metrics.attempt_failed(FailedAttempt(POD, "default-scheduler", "unschedulable", "no", (), 1e-3))
    metrics.post_filter_ran(POD, unschedulable("no"), {"DefaultPreemption": PostFilterResult(unschedulable("no"))})
    metrics.pod_bound(Bound(POD, "n", "default-scheduler", 1, 1e-3, 1e-2, False, 1, 1))
    metrics.preemption_began(POD, "n", 2, 2)
    metrics.preemption_ended(POD, "n", None, 0.1)
    gauges = Gauges({"active": 1}, {("Fit", "default-scheduler"): 1}, {"PodPopped": 1}, {"nodes": 1}, {"binding": 1})
    SchedulerGauges(registry, lambda: gauges)
    requests = RequestMetrics(registry, "127.0.0.1:6443")
    requests.limited("GET", 0.0)
    requests.answered("GET", 200)
    requests.finished("GET", 0.01, 0, 1000)


# -- against the reference


@pytest.mark.parametrize("name", REFERENCE)
def test_a_metric_is_declared_as_the_reference_declares_it(name: str) -> None:
    metric, wanted = DECLARED[name], REFERENCE[name]
    assert metric.kind == wanted["type"]
    assert sorted(metric.labels) == [label for label in wanted["labels"] if label != "le"]
    assert Family(metric, {}).bounds[:-1] == wanted.get("buckets", ["+Inf"])[:-1]


def test_everything_the_reference_serves_is_served_after_some_work() -> None:
    registry = MetricRegistry(others=None)
    work(registry)
    served = parsed(registry.text())
    assert set(REFERENCE) - set(served) == set()
    for name, wanted in REFERENCE.items():
        assert served[name].type == wanted["type"], name
        labels = {label for sample in served[name].samples for label in sample.labels}
        assert labels == set(wanted["labels"]), name


def test_a_metric_without_samples_is_not_served() -> None:
    registry = MetricRegistry(others=None)
    SchedulerMetrics(registry)
    served = parsed(registry.text())
    assert "scheduler_schedule_attempts_total" not in served
    assert "scheduler_permit_wait_duration_seconds" not in served
    # one without labels has its sample from the start
    assert served["scheduler_preemption_attempts_total"].samples[0].value == 0
    assert served["scheduler_preemption_victims"].type == HISTOGRAM


# the first lines of families as the reference writes them
HEADERS = [
    "# HELP scheduler_pod_scheduling_attempts [STABLE] Number of attempts to successfully schedule a pod.\n"
    "# TYPE scheduler_pod_scheduling_attempts histogram\n"
    'scheduler_pod_scheduling_attempts_bucket{le="1"} 0\n',
    "# HELP scheduler_scheduling_algorithm_duration_seconds [ALPHA] Scheduling algorithm latency in seconds\n"
    "# TYPE scheduler_scheduling_algorithm_duration_seconds histogram\n"
    'scheduler_scheduling_algorithm_duration_seconds_bucket{le="0.001"} 0\n',
    "# HELP disabled_metrics_total [BETA] The count of disabled metrics.\n"
    "# TYPE disabled_metrics_total counter\n"
    "disabled_metrics_total 0\n",
]


@pytest.mark.parametrize("header", HEADERS)
def test_texts_carry_the_stability_and_are_the_references(header: str) -> None:
    registry = MetricRegistry(others=None)
    SchedulerMetrics(registry)
    assert header in registry.text()


def test_labels_are_in_the_order_of_their_names_and_bounds_come_last() -> None:
    registry = MetricRegistry(others=None)
    RequestMetrics(registry, "127.0.0.1:1").finished("POST", 0.01, 300, 0)
    text = registry.text()
    assert 'rest_client_request_size_bytes_bucket{host="127.0.0.1:1",verb="POST",le="512"} 1\n' in text
    assert 'rest_client_request_size_bytes_bucket{host="127.0.0.1:1",verb="POST",le="1.048576e+06"} 1\n' in text
    assert 'rest_client_request_size_bytes_sum{host="127.0.0.1:1",verb="POST"} 300\n' in text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "0"),
        (3, "3"),
        (1.5, "1.5"),
        (1e-05, "1e-05"),
        (1306374622, "1.306374622e+09"),
        (999999, "999999"),
        (-2, "-2"),
    ],
)
def test_numbers_are_written_as_go_writes_them(value: float, written: str) -> None:
    family = Family(Metric("m", "gauge", "Help."), {})
    family.number().value = value
    assert list(family.lines())[-1] == f"m {written}\n"


def test_a_value_on_a_bound_belongs_below_it() -> None:
    family = Family(Metric("m", HISTOGRAM, "Help.", (), (1.0, 2.0)), {})
    for value in (1.0, 1.5, 2.0, 2.1):
        family.buckets().observe(value)
    assert list(family.lines())[2:] == [
        'm_bucket{le="1"} 1\n',
        'm_bucket{le="2"} 3\n',
        'm_bucket{le="+Inf"} 4\n',
        "m_sum 6.6\n",
        "m_count 4\n",
    ]


def test_strange_label_values_do_not_break_the_page() -> None:
    family = Family(Metric("m", "gauge", "Help\nwith \\ two lines.", ("a",)), {})
    family.number('quote " backslash \\ line\nfeed').value = 1
    text = "".join(family.lines())
    assert text.count("\n") == 3
    assert parsed(text)["m"].samples[0].labels == {"a": 'quote " backslash \\ line\nfeed'}


def test_a_page_is_whole_while_another_thread_counts() -> None:
    registry = MetricRegistry(others=None)
    metrics = SchedulerMetrics(registry)
    stop = threading.Event()

    def count() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            metrics.algorithm_ran(number % 7 / 100)
            metrics.pod_queued(POD, "active", f"Event{number % 500}", ())

    thread = threading.Thread(target=count)
    thread.start()
    try:
        for _ in range(30):
            family = parsed(registry.text())["scheduler_scheduling_algorithm_duration_seconds"]
            counts = [s.value for s in family.samples if s.name.endswith("_bucket")]
            total = next(s.value for s in family.samples if s.name.endswith("_count"))
            assert counts == sorted(counts)
            assert counts[-1] == total
    finally:
        stop.set()
        thread.join()


# -- gauges


def test_a_gauge_that_was_there_once_falls_to_zero() -> None:
    registry = MetricRegistry(others=None)
    rejections = {("Fit", "mine"): 2}
    SchedulerGauges(registry, lambda: Gauges({}, rejections, {}, {}, {}))
    assert 'scheduler_unschedulable_pods{plugin="Fit",profile="mine"} 2' in registry.text()
    rejections.clear()
    assert 'scheduler_unschedulable_pods{plugin="Fit",profile="mine"} 0' in registry.text()


def test_plugins_are_served_with_zeros_before_anything_happened() -> None:
    registry = MetricRegistry(others=None)
    metrics = SchedulerMetrics(registry)
    for profile in build_engine().profiles.values():
        metrics.expect(profile)
    assert (
        'scheduler_plugin_evaluation_total{extension_point="Filter",plugin="NodeResourcesFit",'
        'profile="default-scheduler"} 0\n'
    ) in registry.text()


# -- what single plugins count


def test_claims_and_devices_and_volumes() -> None:
    registry = MetricRegistry(others=None)
    metrics = SchedulerMetrics(registry)
    metrics.claim_created(succeeded=True)
    metrics.claim_created(succeeded=False)
    metrics.device_conditions_awaited("mine", ["a", "a", "b"], ["b"], "timeout", 30.0)
    metrics.volume_stage_failed("bind")
    metrics.permit_awaited(SUCCESS.code.text, 0.5)
    text = registry.text()
    for line in (
        'scheduler_resourceclaim_creates_total{status="failure"} 1',
        'scheduler_resourceclaim_creates_total{status="success"} 1',
        'scheduler_dra_bindingconditions_wait_duration_seconds_count{driver="a",profile="mine",status="timeout"} 2',
        'scheduler_dra_bindingconditions_wait_duration_seconds_sum{driver="b",profile="mine",status="timeout"} 30',
        'scheduler_dra_bindingconditions_allocations_total{driver="b",profile="mine",status="timeout"} 1',
        'scheduler_volume_scheduling_stage_error_total{operation="bind"} 1',
        'scheduler_permit_wait_duration_seconds_count{result="Success"} 1',
    ):
        assert f"{line}\n" in text


# -- the client and the process


def test_requests_and_leases() -> None:
    registry = MetricRegistry(others=None)
    requests = RequestMetrics(registry, "api:443")
    requests.answered("GET", 404)
    requests.answered("POST", None)
    requests.retried("POST", 429)
    leader = LeaderMetrics(registry)
    leader.leading("kube-scheduler", leads=False)
    assert 'leader_election_master_status{name="kube-scheduler"} 0\n' in registry.text()
    leader.leading("kube-scheduler", leads=True)
    leader.slow_path("kube-scheduler")
    text = registry.text()
    for line in (
        'rest_client_requests_total{code="404",host="api:443",method="GET"} 1',
        'rest_client_requests_total{code="<error>",host="api:443",method="POST"} 1',
        'rest_client_request_retries_total{code="429",host="api:443",verb="POST"} 1',
        'leader_election_master_status{name="kube-scheduler"} 1',
        'leader_election_slowpath_total{name="kube-scheduler"} 1',
    ):
        assert f"{line}\n" in text


def test_the_process_says_what_it_is() -> None:
    registry = MetricRegistry(others=None)
    describe_process(registry, FeatureGates({"DRAConsumableCapacity": False}), "v1.36.4+kubesched.1", "linux/amd64")
    text = registry.text()
    assert 'git_version="v1.36.4+kubesched.1"' in text
    assert 'version_info{binary="1.36.4",component="kube",emulation="1.36",min_compat="1.35"} 1\n' in text
    assert 'kubernetes_feature_enabled{name="DRAConsumableCapacity",stage="BETA"} 0\n' in text
    # features that are finished have no stage
    assert 'kubernetes_feature_enabled{name="SchedulerQueueingHints",stage=""} 1\n' in text


def test_figures_of_the_process_and_metrics_of_plugins_are_served_along() -> None:
    others = CollectorRegistry()
    Counter("my_plugin_decisions", "What my plugin decided.", registry=others).inc(3)
    assert "my_plugin_decisions_total 3.0\n" in MetricRegistry(others=others).text()
    assert "process_resident_memory_bytes " in MetricRegistry().text()


def test_a_late_loop_is_seen() -> None:
    registry = MetricRegistry(others=None)
    lag = registry.family(catalog.LOOP_LAG).buckets()

    async def story() -> None:
        measuring = asyncio.create_task(measure_lag(lag))
        await asyncio.sleep(3.5)
        measuring.cancel()

    run_in_virtual_time(story())
    assert "kubesched_loop_lag_seconds_count 3\n" in registry.text()
    assert 'kubesched_loop_lag_seconds_bucket{le="0.001"} 3\n' in registry.text()


# -- flags


def test_disabled_metrics_are_left_out_and_counted() -> None:
    options = read_metric_options(disabled=["scheduler_schedule_attempts_total", "scheduler_preemption_victims"])
    registry = MetricRegistry(options, others=None)
    work(registry)
    served = parsed(registry.text())
    assert not {"scheduler_schedule_attempts_total", "scheduler_preemption_victims"} & set(served)
    assert served["disabled_metrics_total"].samples[0].value == 2


def test_label_values_that_are_not_allowed_are_put_together() -> None:
    options = read_metric_options(allow_labels={"scheduler_queue_incoming_pods_total,event": "NodeAdd,PodAdd"})
    registry = MetricRegistry(options, others=None)
    metrics = SchedulerMetrics(registry)
    for event in ("NodeAdd", "NodeDelete", "AssignedPodAdd", "NodeDelete"):
        metrics.pod_queued(POD, "active", event, ())
    text = registry.text()
    assert 'scheduler_queue_incoming_pods_total{event="NodeAdd",queue="active"} 1\n' in text
    assert 'scheduler_queue_incoming_pods_total{event="unexpected",queue="active"} 3\n' in text
    assert "cardinality_enforcement_unexpected_categorizations_total 2\n" in text


@pytest.mark.parametrize(
    "manifest",
    ['"m,a": "x,y"\n', 'allowListMapping:\n  "m,a": "x,y"\n'],
    ids=["as it is read", "as it is documented"],
)
def test_allowed_labels_come_from_a_manifest_too(tmp_path: Path, manifest: str) -> None:
    (tmp_path / "labels.yaml").write_text(manifest)
    options = read_metric_options(allow_labels_manifest=str(tmp_path / "labels.yaml"))
    assert options == MetricOptions(allowed={"m": {"a": frozenset({"x", "y"})}})


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a name that is none": (
        {"disabled": ["no name"]},
        '--disabled-metrics: "no name" is not the full name of a metric',
    ),
    "a key without a label": (
        {"allow_labels": {"m": "x"}},
        '--allow-metric-labels: the key "m" must have the form metricName,labelName',
    ),
    "both ways at once": (
        {"allow_labels": {"m,a": "x"}, "allow_labels_manifest": "labels.yaml"},
        "--allow-metric-labels and --allow-metric-labels-manifest cannot both be given",
    ),
    "a file that is not there": (
        {"allow_labels_manifest": "/no/such/file"},
        "--allow-metric-labels-manifest /no/such/file: failed to read allow list manifest: No such file or directory; "
        "give a readable file",
    ),
    "a version that is too old": (
        {"show_hidden_for_version": "1.34"},
        "--show-hidden-metrics-for-version: \"1.34\" must be omitted or have the value '1.35'; "
        "only the previous minor version is allowed",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_flag_is_named(case: str) -> None:
    given, message = BAD[case]
    with pytest.raises(MetricOptionError) as caught:
        read_metric_options(**given)
    assert str(caught.value) == message


@pytest.mark.parametrize("content", ["[1, 2]", "m,a: [x]", "m,a: {b: c}", "{", "\udcff"])
def test_a_bad_manifest_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "labels.yaml"
    path.write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(MetricOptionError, match=f"^--allow-metric-labels-manifest {path}: "):
        read_metric_options(allow_labels_manifest=str(path))


def test_a_reset_counts_from_zero_and_goes_on() -> None:
    registry = MetricRegistry(others=None)
    metrics = SchedulerMetrics(registry)
    describe_process(registry, FeatureGates({}), "v1.36.4", "linux/amd64")
    for _ in range(2):
        metrics.algorithm_ran(0.1)
        metrics.plugins_asked("mine", [(FILTER, ("Fit",), 5)])
        text = registry.text()
        assert "scheduler_scheduling_algorithm_duration_seconds_count 1\n" in text
        assert 'plugin="Fit",profile="mine"} 5\n' in text
        registry.reset()
    assert "scheduler_scheduling_algorithm_duration_seconds_sum 0\n" in registry.text()
    assert "version_info{" in registry.text()
    assert 'min_compat="1.35"} 1\n' in registry.text()


def test_the_previous_version_may_be_shown() -> None:
    assert read_metric_options(show_hidden_for_version="1.35") == MetricOptions()


# -- /metrics/resources and /metrics/slis


def test_resources_of_pods_as_the_reference_shows_them() -> None:
    limited = a_container("c", cpu="1", memory="1Gi", limits={"cpu": "2"})
    text = resources_text(
        [
            a_pod("small", containers=[limited], node="n1", priority=0),
            a_pod("big", cpu="40", priority=0),
            a_pod("done", cpu="1", node="n1", phase="Succeeded"),
            a_pod("gpu", requests={"example.com/gpu": "2", "hugepages-2Mi": "4Mi"}, node="n1", priority=5),
        ]
    )
    own = [line for line in text.splitlines() if not line.startswith("#")]
    pod = 'priority="0",resource="{}",scheduler="default-scheduler",unit="{}"}}'
    assert own == [
        'kube_pod_resource_limit{namespace="default",node="n1",pod="small",' + pod.format("cpu", "cores") + " 2",
        'kube_pod_resource_request{namespace="default",node="",pod="big",' + pod.format("cpu", "cores") + " 40",
        'kube_pod_resource_request{namespace="default",node="n1",pod="gpu",priority="5",resource="example.com/gpu",'
        'scheduler="default-scheduler",unit=""} 2',
        'kube_pod_resource_request{namespace="default",node="n1",pod="gpu",priority="5",resource="hugepages-2Mi",'
        'scheduler="default-scheduler",unit="bytes"} 4.194304e+06',
        'kube_pod_resource_request{namespace="default",node="n1",pod="small",' + pod.format("cpu", "cores") + " 1",
        'kube_pod_resource_request{namespace="default",node="n1",pod="small",'
        + pod.format("memory", "bytes")
        + " 1.073741824e+09",
    ]
    assert text.startswith("# HELP kube_pod_resource_limit [STABLE] Resources limit for workloads on the cluster")


def test_without_pods_there_is_nothing_to_say_of_resources() -> None:
    assert resources_text([]) == ""


def test_health_checks_are_counted_by_page_and_result() -> None:
    health = HealthMetrics()
    health.checked("ping", "livez", True)
    health.checked("sched-handler-sync", "readyz", False)
    health.checked("sched-handler-sync", "readyz", True)
    lines = health.text().splitlines()
    assert [line for line in lines if not line.startswith(("#", "process_"))] == [
        'kubernetes_healthcheck{name="ping",type="livez"} 1',
        'kubernetes_healthcheck{name="sched-handler-sync",type="readyz"} 1',
        'kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 1',
        'kubernetes_healthchecks_total{name="sched-handler-sync",status="error",type="readyz"} 1',
        'kubernetes_healthchecks_total{name="sched-handler-sync",status="success",type="readyz"} 1',
    ]
    assert "# HELP kubernetes_healthcheck [STABLE] This metric records the result of a single healthcheck." in lines
    assert any(line.startswith("process_start_time_seconds ") for line in lines)

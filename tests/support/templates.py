"""Templates of workloads for the tests of `asking`."""

from typing import Any

from kubesched.api.pods import Pod
from kubesched.reports.answers import ObjectName
from kubesched_answers.templates.workload_template import WorkloadTemplate


def a_template(pod: Pod, **fields: Any) -> WorkloadTemplate:
    """Return the template of pods like one."""
    name = ObjectName("v1", "Pod", pod.namespace, pod.name)
    return WorkloadTemplate(name, pod, base_name=pod.name, **fields)

"""Templates of workloads for the tests of `asking`."""

from typing import Any

from kubesched.api.pods import Pod
from kubesched.asking.templates.workload_template import WorkloadTemplate
from kubesched.reports.answers import ObjectName


def a_template(pod: Pod, **fields: Any) -> WorkloadTemplate:
    """Return the template of pods like one."""
    name = ObjectName("v1", "Pod", pod.namespace, pod.name)
    return WorkloadTemplate(name, pod, base_name=pod.name, **fields)

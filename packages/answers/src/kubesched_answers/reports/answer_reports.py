"""Which report belongs to which answer.

From an answer to its report. Importing this module makes notebooks show answers as `-o html` does.
"""

from collections.abc import Callable, Mapping
from typing import Any

from kubesched.reports.answers import HTML_FORMS, Answer
from kubesched.reports.blocks import Report
from kubesched.reports.html import as_fragment
from kubesched_answers.capacity.capacity_answer import CapacityAnswer
from kubesched_answers.explain.node_answer import NodeAnswer
from kubesched_answers.explain.pod_answer import PodAnswer
from kubesched_answers.explain.triage_answer import Triage
from kubesched_answers.remaining.remaining_answer import RemainingAnswer
from kubesched_answers.reports.capacity_report import capacity_report
from kubesched_answers.reports.explain_report import pod_report
from kubesched_answers.reports.remaining_report import remaining_report
from kubesched_answers.reports.triage_report import node_report, triage_report
from kubesched_answers.reports.whatif_report import comparison_report, consolidation_report, whatif_report
from kubesched_answers.reports.workload_report import workload_report
from kubesched_answers.whatif.whatif_answer import ComparisonAnswer, ConsolidationAnswer, WhatIfAnswer
from kubesched_answers.workloads.workload_answer import WorkloadAnswer

# answers with their reports
ANSWERS: Mapping[type[Answer], Callable[[Any], Report]] = {
    Triage: triage_report,
    PodAnswer: pod_report,
    NodeAnswer: node_report,
    WorkloadAnswer: workload_report,
    RemainingAnswer: remaining_report,
    CapacityAnswer: capacity_report,
    WhatIfAnswer: whatif_report,
    ComparisonAnswer: comparison_report,
    ConsolidationAnswer: consolidation_report,
}


def report_of(answer: Answer) -> Report:
    """Return the report of an answer."""
    return ANSWERS[type(answer)](answer)


HTML_FORMS.update({kind: lambda answer: as_fragment(report_of(answer)) for kind in ANSWERS})

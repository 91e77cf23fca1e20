"""Reports about workloads.

From a `WorkloadAnswer` to blocks: how many pods have a node, why the rest have none, and where the pods are.
"""

from collections import Counter
from collections.abc import Iterator

from kubesched.model.gaps_report import gaps_section, unread_kinds
from kubesched.reports.blocks import Block, Item, Items, NameList, Paragraph, Report, Section, Table, Tone
from kubesched_answers.reports.explain_report import pod_sections
from kubesched_answers.reports.triage_report import groups_sections, other_groups_section
from kubesched_answers.workloads.workload_answer import WorkloadAnswer

MOST_NODES = 10
MOST_PODS = 2


def workload_report(answer: WorkloadAnswer) -> Report:
    """Return the report about one workload."""
    lead: list[Block] = [Paragraph(answer.summary, Tone.GOOD if answer.fits else Tone.BAD)]
    if answer.template is not None and answer.template.message:
        lead.append(Paragraph(answer.template.message, Tone.MUTED))
    lead += unread_kinds(answer.gaps)
    return Report(answer.workload, lead, [*_sections(answer), *gaps_section(answer.gaps)])


def _sections(answer: WorkloadAnswer) -> Iterator[Section]:
    yield from groups_sections(answer.groups)
    yield from other_groups_section(answer.others)
    if answer.template is not None:
        yield from pod_sections(answer.template)
    zones = Counter(each.zone for each in answer.nodes for _ in each.pods)
    if any(zones):
        rows = [(zone or "(none)", str(count)) for zone, count in sorted(zones.items())]
        yield Section("Zones", (Table(("ZONE", "PODS"), rows, numeric=frozenset({"PODS"})),))
    if answer.nodes:
        nodes = [
            (each.node, each.zone or "-", str(len(each.pods)), NameList(each.pods, MOST_PODS)) for each in answer.nodes
        ]
        columns = ("NODE", "ZONE", "PODS", "WHICH")
        yield Section("Nodes", (Table(columns, nodes, numeric=frozenset({"PODS"}), most=MOST_NODES, about="NODE"),))
    if answer.missing_on:
        yield Section("Nodes without a pod of it", (Items([Item(NameList(answer.missing_on))]),))

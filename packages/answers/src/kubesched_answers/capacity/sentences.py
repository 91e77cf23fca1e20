"""The summary of an answer about capacity.

From an answer to the sentences that matter most.
"""

from typing import Final

from kubesched_answers.capacity.capacity_answer import CapacityAnswer, NodePlan, TemplateCapacity

_INSUFFICIENT: Final = "Insufficient "
_DAEMON_SET: Final = "DaemonSet "
_TOO_MANY_PODS: Final = "Too many pods"


def summary_of(answer: CapacityAnswer) -> str:
    """Return how many replicas fit, which resource runs out first, and the best plan."""
    sentences = [_rounds(answer)] if answer.rounds is not None else []
    sentences += [_of_template(each, answer) for each in answer.templates]
    # there is no search for nodes to add then
    by_quota = any(part.quota is not None for part in answer.templates)
    if answer.plans:
        sentences.append(f"With {plan_text(answer.plans[0], more=True)} all fit.")
    elif not answer.node_count:
        sentences.append("The cluster has no nodes; describe some with --node-template.")
    elif not by_quota and any(each.missing for each in answer.templates if not each.template.startswith(_DAEMON_SET)):
        sentences.append("No set of nodes was found with which all fit.")
    return " ".join(sentence for sentence in sentences if sentence)


def runs_out(part: TemplateCapacity) -> str:
    """Return the resource that runs out first, and on how many nodes; empty if nodes do not limit the pods."""
    limit = next((each for each in part.limits if each.exhausted), None)
    if limit is None:
        return ""
    reasons = limit.reason.split(", ")
    if all(reason.startswith(_INSUFFICIENT) for reason in reasons):
        what = " and ".join(reason.removeprefix(_INSUFFICIENT) for reason in reasons)
        return f"{what} runs out first, on {nodes_text(limit.nodes)}"
    if reasons == [_TOO_MANY_PODS]:
        return f"the number of pods a node may run is reached first, on {nodes_text(limit.nodes)}"
    return f"the first limit is that {nodes_text(limit.nodes)} say: {limit.reason}"


def plan_text(plan: NodePlan, *, more: bool = False) -> str:
    """Return the nodes of a plan: `2 nodes m5.xlarge in a, 1 in b`; `2 more nodes ...`."""
    kinds: dict[str, list[str]] = {}
    for each in plan.additions:
        where = f" in {each.zone}" if each.zone else ""
        kinds.setdefault(each.kind, []).append(f"{number(each.nodes)}{where}")
    return " and ".join(_of_kind(kind, texts, "more " if more else "") for kind, texts in kinds.items())


def _of_kind(kind: str, texts: list[str], more: str) -> str:
    first, *others = texts
    count, _, rest = first.partition(" ")
    noun = "node" if count == "1" else "nodes"
    return ", ".join([f"{count} {more}{noun} {kind}" + (f" {rest}" if rest else ""), *others])


def nodes_text(count: int) -> str:
    """Return a number of nodes."""
    return "1 node" if count == 1 else f"{number(count)} nodes"


def replicas_text(count: int) -> str:
    """Return a number of replicas."""
    return "1 replica" if count == 1 else f"{number(count)} replicas"


def number(count: int) -> str:
    """Return a number with commas between thousands."""
    return f"{count:,}"


def _rounds(answer: CapacityAnswer) -> str:
    weights = ", ".join(f"{each.weight} of {each.template}" for each in answer.templates)
    noun = "round" if answer.rounds == 1 else "rounds"
    return f"{number(answer.rounds or 0)} {noun} of {weights} fit."


def _of_template(part: TemplateCapacity, answer: CapacityAnswer) -> str:
    quota = "" if part.quota is None else str(part.quota)
    ending = "".join(f"; {text}" for text in (runs_out(part), quota) if text) + "."
    if answer.rounds is not None:
        if quota:
            return f"{part.template} is the first that is refused{ending}"
        return f"{part.template} is the first that fits nowhere{ending}" if part.limits else ""
    at_least = "at least " if part.open_end else ""
    if part.wanted is None:
        count = f"{at_least}{replicas_text(part.replicas)}" if part.replicas else "no replica"
        verb = "fits" if part.replicas <= 1 else "fit"
        return f"{count[0].upper()}{count[1:]} of {part.template} {verb} on {nodes_text(answer.node_count)}{ending}"
    if part.template.startswith(_DAEMON_SET):
        return (
            f"{part.template} runs on {number(part.replicas)} of the {nodes_text(part.wanted)} that it matches{ending}"
        )
    if not part.missing:
        fit = "The 1 replica" if part.wanted == 1 else f"All {number(part.wanted)} replicas"
        return f"{fit} of {part.template} {'fits' if part.wanted == 1 else 'fit'}."
    verb = "fits" if part.replicas == 1 else "fit"
    return f"Of {replicas_text(part.wanted)} of {part.template}, {number(part.replicas)} {verb}{ending}"

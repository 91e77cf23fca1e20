"""Required affinity in a batch of worlds: what if pods were taken off a node, or put there.

From the question's sums and the pods that are added and removed to a verdict per world. A world differs from the table
only on its own row and is judged only on that row, so it needs no sums per domain: a few numbers, which pods add to
and subtract from, describe the domains of the row.
"""

# upstream: interpodaffinity/filtering.go, updateWithPod (v1.36)

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.columns import ABSENT
from kubesched.core.cluster.interning import Interner
from kubesched.core.cluster.pod_counts import Carried, LabelGroup, carried_terms
from kubesched.core.cluster.pod_info import Digest, PodInfo
from kubesched.core.framework.columns.questions import FilterWorlds, shallow_copy
from kubesched.core.framework.values.verdict import Verdict

if TYPE_CHECKING:
    from kubesched.core.plugins.inter_pod_affinity.filtering import AffinityFilterQuestion

TopologyKeys = tuple[str, ...]


class Liking(NamedTuple):
    """The relation of pods with certain labels to the incoming pod."""

    # whether all its affinity terms select them
    wanted: bool = False
    # the topology keys of its anti-affinity terms that select them
    unwanted: TopologyKeys = ()


class Relations:
    """The relations of placed pods and the incoming pod, in both directions; valid for one state of the table.

    The incoming pod's side is found once per label group, the other side once per template.
    """

    def __init__(self, question: "AffinityFilterQuestion") -> None:
        self._question = question
        table = question.table
        self._slots = table.slots
        self._groups = table.counts.groups
        self._known: NDArray[np.bool_] = np.zeros(self._slots.size, np.bool_)
        # slot -> code of its pod's `Liking`, and of the topology keys of its terms that reject the incoming pod
        self._liking: NDArray[np.int32] = np.zeros(self._slots.size, np.int32)
        self._unwelcome: NDArray[np.int32] = np.zeros(self._slots.size, np.int32)
        self.likings: Interner[Liking] = Interner()
        self.unwelcome_keys: Interner[TopologyKeys] = Interner()
        self.likings.code(Liking())
        self.unwelcome_keys.code(())
        self._liking_of_group: dict[int, int] = {}
        self._unwelcome_of_template: dict[Digest, int] = {}
        # rows on which some pod carries a term that selects the incoming pod
        self._carriers: NDArray[np.bool_] = np.zeros(table.size, np.bool_)
        for term in question.selecting.terms:
            self._carriers[list(term.rows)] = True

    def of(self, slots: NDArray[np.intp]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the codes of both directions for some pods; 0 means no relation."""
        unknown = slots[~self._known[slots]]
        if len(unknown):
            self._known[unknown] = True
            if self._question.has_terms:
                self._learn_likings(unknown)
            # The terms of a pod that is only nominated, hence on no row, are not among the carried terms.
            rows = self._slots.row[unknown]
            self._learn_unwelcome(unknown[(rows < 0) | self._carriers[rows]])
        return self._liking[slots], self._unwelcome[slots]

    def _learn_likings(self, slots: NDArray[np.intp]) -> None:
        groups, which = np.unique(self._slots.group[slots], return_inverse=True)
        known = self._liking_of_group
        for group in groups.tolist():
            if group not in known:
                known[group] = self.likings.code(self._like(self._groups[group]))
        self._liking[slots] = np.array([known[group] for group in groups.tolist()], np.int32)[which]

    def _like(self, group: LabelGroup) -> Liking:
        question = self._question
        wanted = question.affinity_match
        anti_affinity = zip(question.anti_affinity_terms, question.anti_affinity_matches, strict=True)
        return Liking(
            wanted is not None and wanted.selects(group.namespace, group.labels),
            tuple(term.topology_key for term, match in anti_affinity if match.selects(group.namespace, group.labels)),
        )

    def _learn_unwelcome(self, slots: NDArray[np.intp]) -> None:
        pods, known = self._slots.pods, self._unwelcome_of_template
        for slot in slots.tolist():
            pod = pods[slot]
            assert pod is not None, "a world is changed by pods that have a slot"
            code = known.get(pod.digest)
            if code is None:
                code = known[pod.digest] = self.unwelcome_keys.code(self._keys_unwelcome_to(pod))
            if code:
                self._unwelcome[slot] = code

    def _keys_unwelcome_to(self, pod: PodInfo) -> TopologyKeys:
        return tuple(
            carried.term.topology_key
            for carried in pod.derive(carried_terms)
            if carried.kind is Carried.REQUIRED_ANTI_AFFINITY and self._question.selecting.matches(carried.term)
        )


class AffinityWorlds(FilterWorlds):
    """Sums at one row per world.

    Sums of pods are never negative, so sums over topology keys say whether any of them is positive. The counts of all
    affinity keys move together, since a pod is wanted by all affinity terms or by none.
    """

    def __init__(self, question: "AffinityFilterQuestion", rows: NDArray[np.intp]) -> None:
        self._question = question
        self._relations = Relations(question)
        self._rows = rows
        count = len(rows)
        self._has_labels: NDArray[np.bool_] = np.full(count, not question.nowhere)
        # the least number of wanted pods in any of the row's domains, as the table has it
        self._fewest: NDArray[np.int64] = np.full(count, np.iinfo(np.int64).max)
        for domains in question.affinity:
            self._has_labels &= domains.column.codes[rows] != ABSENT
            np.minimum(self._fewest, domains.sums(rows), out=self._fewest)
        # how many more wanted pods this world has than the table
        self._more: NDArray[np.int64] = np.zeros(count, np.int64)
        self._unwanted: NDArray[np.int64] = np.zeros(count, np.int64)
        for domains in question.anti_affinity:
            self._unwanted += domains.sums(rows)
        self._unwelcome: NDArray[np.int64] = np.zeros(count, np.int64)
        for domains in question.existing:
            self._unwelcome += domains.sums(rows)

    def change(self, worlds: NDArray[np.intp], slots: NDArray[np.intp], sign: int) -> None:
        """Add one pod to each of some worlds, or remove it."""
        relations = self._relations
        likings, unwelcome = relations.of(slots)
        for code in _codes_in(likings):
            chosen, liking = worlds[likings == code], relations.likings.values[code]
            if liking.wanted:
                self._more[chosen] += sign
            self._add(self._unwanted, chosen, liking.unwanted, sign)
        for code in _codes_in(unwelcome):
            chosen = worlds[unwelcome == code]
            self._add(self._unwelcome, chosen, relations.unwelcome_keys.values[code], sign)

    def _add(self, sums: NDArray[np.int64], worlds: NDArray[np.intp], keys: TopologyKeys, sign: int) -> None:
        """Count a pod once for each topology key of which the world's row has a label."""
        for key in keys:
            codes = self._question.table.label(key).codes[self._rows[worlds]]
            sums[worlds] += sign * (codes != ABSENT)

    def verdict(self) -> Verdict:
        """Return the verdict of every world."""
        question = self._question
        which = np.zeros(len(self._rows), np.int16)
        which[self._unwelcome > 0] = 3
        which[self._unwanted > 0] = 2
        if question.affinity_terms:
            unmet = self._fewest + self._more <= 0
            if question.matches_itself:
                # A row that has all the labels gains or loses a pod under each topology key at once.
                wanted_anywhere = question.affinity.pods + len(question.affinity) * self._more
                unmet &= wanted_anywhere > 0
            which[unmet | ~self._has_labels] = 1
        return Verdict(which, question.objections)

    def select(self, worlds: NDArray[np.intp]) -> "AffinityWorlds":
        """Return an independent copy of some worlds."""
        selected = shallow_copy(self)
        selected._rows = self._rows[worlds]
        selected._has_labels = self._has_labels[worlds]
        selected._fewest = self._fewest[worlds]
        selected._more = self._more[worlds]
        selected._unwanted = self._unwanted[worlds]
        selected._unwelcome = self._unwelcome[worlds]
        return selected


def _codes_in(codes: NDArray[np.int32]) -> list[int]:
    """Return the codes that occur, but for 0."""
    return np.unique(codes[codes != 0]).tolist() if codes.any() else []

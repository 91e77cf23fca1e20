"""Headroom: the largest pod that fits.

From a template to the largest pods like it that some node of the cluster takes: larger in proportion, or in CPU or
memory alone. Found by bisection; each size is tried on the engine.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from kubesched.api.pods import Pod
from kubesched.core.scheduling.decision import choose
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.capacity.capacity_answer import LargestPod
from kubesched_answers.capacity.filling import Filling
from kubesched_answers.capacity.pod_requests import CPU, MEMORY, NATIVE, as_texts, requests_of, scaled, with_request
from kubesched_answers.templates.workload_template import NewPod, WorkloadTemplate

IN_PROPORTION: Final = "in proportion"
# steps of bisection: thousandths of the template, thousandths of a CPU, MiB
_THOUSANDTHS: Final = 1000
_UNITS: Final = {CPU: 1, MEMORY: 1 << 20}

MakePod = Callable[[int], Pod]


def largest_pods(model: ClusterModel, template: WorkloadTemplate) -> tuple[LargestPod, ...]:
    """Return the largest pods based on a template, none if not even one without requests fits."""
    new = NewPod(template.pod) if template.per_node else next(template.new_pods(model))
    with Filling(model) as filling:
        filling.put(new.objects)
        search = _Search(model, new.pod)
        found = [search.in_proportion(), search.of(CPU), search.of(MEMORY)]
    return tuple(each for each in found if each is not None)


class _Search:
    """Searches for the largest pod based on one."""

    def __init__(self, model: ClusterModel, pod: Pod) -> None:
        self._model = model
        self._pod = pod
        self._requests = requests_of(model.read(pod))
        allocatable = model.cluster.table.allocatable
        self._most = {name: int(allocatable[code].max(initial=0)) for code, name in enumerate(NATIVE)}

    def in_proportion(self) -> LargestPod | None:
        """Return the largest pod with the proportions of the template; None if it requests nothing."""
        own = {name: amount for name, amount in self._requests.items() if name in NATIVE}
        if not own:
            return None
        most = min(self._most[name] * _THOUSANDTHS // amount for name, amount in own.items())

        def made(thousandths: int) -> Pod:
            return scaled(self._pod, dict.fromkeys(own, Fraction(thousandths, _THOUSANDTHS)))

        return self._largest(IN_PROPORTION, made, most, _THOUSANDTHS)

    def of(self, resource: str) -> LargestPod | None:
        """Return the largest pod in one resource, with the template's values for all other resources."""
        own, unit = self._requests.get(resource, 0), _UNITS[resource]

        def made(units: int) -> Pod:
            if not own:
                return with_request(self._pod, resource, units * unit)
            return scaled(self._pod, {resource: Fraction(units * unit, own)})

        return self._largest(resource, made, self._most[resource] // unit)

    def _largest(self, grown: str, made: MakePod, most: int, one: int | None = None) -> LargestPod | None:
        """Return the largest pod that fits, by bisection up to a size that is too large or just fits."""
        node = self._node_for(made(0))
        if not node:
            return None
        low, high = 0, most + 1
        while high - low > 1:
            middle = (low + high) // 2
            found = self._node_for(made(middle))
            if found:
                low, node = middle, found
            else:
                high = middle
        requests = requests_of(self._model.read(made(low)))
        return LargestPod(grown, as_texts(requests), node, round(low / one, 3) if one else None)

    def _node_for(self, pod: Pod) -> str:
        evaluation = self._model.engine.evaluation_of(self._model.read(pod))
        return choose(evaluation, lambda count: 0).node_name

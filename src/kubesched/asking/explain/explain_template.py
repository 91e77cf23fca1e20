"""Pods that do not exist yet.

From manifests (a pod, or a workload, which stands for its next pod) to a `PodAnswer`, as the API server would store the
pod: defaulted, with its priority and the claims that are created with it.
"""

from collections.abc import Sequence

from kubesched.api.codec import to_builtins
from kubesched.asking.answers import ObjectChange
from kubesched.asking.explain.explain_pod import explain_pod
from kubesched.asking.explain.pod_answer import PodAnswer
from kubesched.asking.model import ClusterModel, name_of_object
from kubesched.asking.templates.reading import read_templates
from kubesched.controlplane.loading.manifests import Manifest
from kubesched.errors import KubeschedError


def explain_manifests(model: ClusterModel, manifests: Sequence[Manifest]) -> PodAnswer:
    """Return the answer about the one pod or workload in manifests; raises KubeschedError."""
    found = read_templates(model, manifests)
    if len(found.templates) != 1:
        listed = ", ".join(str(template) for template in found.templates[:3])
        count = f"{len(found.templates)} of them: {listed}" if found.templates else "none"
        raise KubeschedError(f"the manifests have to have one pod or workload to explain; they have {count}")
    template = found.templates[0]
    if template.per_node:
        raise KubeschedError(f"{template} runs one pod a node; ask about one of them: kubesched explain pod NAME")
    with model.fork(found.others):
        new = next(template.new_pods(model))
        created = [ObjectChange(name_of_object(obj), create=to_builtins(obj)) for obj in new.objects]
        with model.fork(created):
            return explain_pod(model, model.read(new.pod))

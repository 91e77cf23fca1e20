"""The strategies of `pods/resize` and `pods/ephemeralcontainers`, each of which changes only one part of a pod."""

# upstream: pkg/registry/core/pod/strategy.go (podResizeStrategy, podEphemeralContainersStrategy) (v1.36)

from kubesched.api.field_errors import forbidden
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.pod.defaults import default_pod
from kubesched_controlplane.kinds.pod.placement import MIRROR_POD
from kubesched_controlplane.kinds.pod.resizing import keep_all_but_resources, resize_problems
from kubesched_controlplane.kinds.pod.strategy import PodStrategy
from kubesched_controlplane.kinds.pod.updates import annotation_change_problems
from kubesched_controlplane.kinds.pod.validation import pod_problems
from kubesched_controlplane.registry.strategy import StrategyContext

_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")


class PodResizeStrategy(PodStrategy):
    """The strategy of `pods/resize`."""

    is_admitted = True

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Keep everything but the resources and resize policies of containers and pod."""
        _keep_metadata(new, old)
        keep_all_but_resources(new, old)
        default_pod(new)

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a resize."""
        return pod_problems(new) + resize_problems(new, old)


class PodEphemeralContainersStrategy(PodStrategy):
    """The strategy of `pods/ephemeralcontainers`."""

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Keep everything but the ephemeral containers."""
        _keep_metadata(new, old)
        added = (new.get("spec") or {}).get("ephemeralContainers")
        new["spec"] = {field: value for field, value in old["spec"].items() if field != "ephemeralContainers"}
        if added:
            new["spec"]["ephemeralContainers"] = added
        default_pod(new)

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of new ephemeral containers, and of existing ones that were changed or removed."""
        if MIRROR_POD in (old["metadata"].get("annotations") or {}):
            return [forbidden("<nil>", "static pods do not support ephemeral containers")]
        problems = pod_problems(new) + annotation_change_problems(new, old)
        there = {each.get("name"): each for each in new["spec"].get("ephemeralContainers") or ()}
        for was in old["spec"].get("ephemeralContainers") or ():
            found, name = there.get(was["name"]), was["name"]
            if found != was:
                why = "removed\n" if found is None else "changed\n"
                text = f'existing ephemeral containers "{name}" may not be {why}'
                problems.append(forbidden("spec.ephemeralContainers", text))
        return problems


def _keep_metadata(new: Document, old: Document) -> None:
    """Keep the labels, annotations, finalizers and owner references of the old object."""
    for field in _METADATA:
        new["metadata"].pop(field, None)
        if field in old["metadata"]:
            new["metadata"][field] = old["metadata"][field]

"""The strategy of pod templates."""

# upstream: pkg/registry/core/podtemplate/strategy.go (v1.36)

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import part
from kubesched_controlplane.kinds.pod.defaults import default_spec
from kubesched_controlplane.kinds.workload.templates import TemplateStrategy, template_problems
from kubesched_controlplane.registry.strategy import StrategyContext


class PodTemplateStrategy(TemplateStrategy):
    """The strategy of pod templates."""

    has_generation = True
    template_at = ("template",)

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Set defaults, and raise the generation if the template changes."""
        self.fill_in(new, context)
        if new["template"] != old.get("template"):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        default_spec(part(part(document, "template"), "spec"))

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a template."""
        return template_problems("template", document["template"])

"""/v1/capacity: how many more pods fit, for a pod of the cluster or for manifests; counted as in `kubesched capacity`.

From requests to answers. Counting takes seconds on large clusters: it runs in a thread, one question at a time, with a
separate model.
"""

import asyncio
from dataclasses import replace

import msgspec
from aiohttp import web

from kubesched.api.pods import PodStatus
from kubesched.common.daemon_thread import on_thread
from kubesched.config.document import rough_values
from kubesched.errors import KubeschedError
from kubesched.manifests import parsed
from kubesched.model.cluster_model import ClusterModel
from kubesched.reports.answers import ObjectName
from kubesched_answers.capacity.capacity import capacity
from kubesched_answers.capacity.capacity_answer import CapacityAnswer
from kubesched_answers.explain.explain_pod import as_pending
from kubesched_answers.templates.reading import WorkloadTemplates, read_templates
from kubesched_answers.templates.workload_template import WorkloadTemplate
from kubesched_lab.page.page_state import PageState
from kubesched_lab.page.routes.bodies import RefusedRequestError, json_answer, read_body

MOST_VALUES = 50_000
PASTED = "the manifest"


class CapacityRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The body of POST /v1/capacity: a pod of the cluster, NAMESPACE/NAME, or manifests."""

    pod: str = ""
    yaml: str = ""
    namespace: str = ""


class CapacityRoutes:
    """Answers about capacity."""

    def __init__(self, state: PageState) -> None:
        self._state = state
        self._turn = asyncio.Lock()

    def routes(self) -> list[web.RouteDef]:
        """Return the routes."""
        return [web.post("/v1/capacity", self._capacity)]

    async def _capacity(self, request: web.Request) -> web.StreamResponse:
        asked = await read_body(request, CapacityRequest)
        if bool(asked.pod) == bool(asked.yaml.strip()):
            raise RefusedRequestError(400, "give either the name of a pod or the YAML of a workload")
        if rough_values(asked.yaml.encode()) > MOST_VALUES:
            raise RefusedRequestError(413, f"yaml: the text may have more than {MOST_VALUES} values")
        async with self._turn:
            shown = self._state.shown
            model, objects = shown.model, shown.model.objects_now()
            if asked.pod:
                # raises UnknownObjectError
                model.pod(asked.pod)
            answer = await on_thread(lambda: _counted(ClusterModel(objects, model.loaded, model.registry), asked))
            return json_answer({"seq": shown.seq, "capacity": answer})


def _counted(model: ClusterModel, asked: CapacityRequest) -> CapacityAnswer:
    model.source = replace(model.source, namespace=asked.namespace or model.source.namespace)
    if asked.pod:
        return capacity(model, WorkloadTemplates((copies_of(model, asked.pod),), ()))
    manifests, problems = parsed(PASTED, asked.yaml.encode())
    if problems:
        raise KubeschedError("; ".join(problems))
    return capacity(model, read_templates(model, manifests))


def copies_of(model: ClusterModel, full_name: str) -> WorkloadTemplate:
    """Return copies of a pod of the cluster as a template, with its volume claims and with new device claims."""
    pod = as_pending(model, model.pod(full_name)).pod
    pod = msgspec.structs.replace(pod, status=PodStatus())
    name = ObjectName("v1", "Pod", pod.namespace, pod.name)
    return WorkloadTemplate(name, pod, base_name=f"{pod.name}-copy")

"""Remedies for the unschedulable pods of the conformance corpus, which has all plugins: sound and minimal."""

import gzip
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.remedy_proofs import Document, best_nodes, check, model_of

from kubesched.api.kinds import flattened, is_foreign
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.load import Loaded
from kubesched.conformance.groups import PREFIX
from kubesched.core.assembly import load_config
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.plugins.node_affinity import ENFORCED
from kubesched.core.scheduling.decision import choose
from kubesched.errors import KubeschedError
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.rejections import Rejections
from kubesched_answers.remedies.search import find_remedies

DATA = Path(__file__).parents[4] / "packages/scheduler/tests" / "conformance" / "data"
# file -> every how many lines one is looked at
FILES = {
    "dynamic-resources": 40,
    "framework": 25,
    "inter-pod-affinity": 30,
    "mixed": 200,
    "node-affinity": 30,
    "ports": 20,
    "preemption": 60,
    "resources": 30,
    "taints": 20,
    "topology-spread": 40,
    "volumes": 20,
}


def lines(file: str, step: int) -> Iterator[dict[str, Any]]:
    """Yield some lines of a file, one after the other: a file in memory slows down every test that collects garbage."""
    with gzip.open(DATA / f"{file}.jsonl.gz") as stream:
        yield from map(msgspec.json.decode, islice(stream, 0, None, step))


def scenarios(file: str) -> Iterator[tuple[list[Document], Loaded, list[str]]]:
    """Yield documents, configuration and the names of unschedulable pods."""
    for line in lines(file, FILES[file]):
        config = line.get("config")
        text = msgspec.json.encode(config).decode() if isinstance(config, dict) else config
        documents = [document for document in flattened(line.get("objects") or ()) if not is_foreign(document)]
        try:
            loaded = load_config(text, FeatureGates(line.get("featureGates") or {}), validate=False)
            model = model_of(documents, loaded)
        except (ConfigError, KubeschedError):
            continue
        asked = [name for name in line.get("pods") or () if not name.startswith(PREFIX)]
        waiting = [name for name in asked if name in model.pods and not model.pods[name].spec.node_name]
        yield documents, loaded, [name for name in waiting if not best_nodes(documents, loaded, name)]


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_remedies_are_sound_and_minimal(file: str) -> None:
    for documents, loaded, names in scenarios(file):
        model = model_of(documents, loaded)
        for name in names:
            remedies = find_remedies(model, model.pods[name])
            for remedy in remedies:
                check(documents, loaded, name, remedy)
            assert remedies or cannot_be_helped(model, model.pods[name]), f"{name} of {documents} has no remedy"


def cannot_be_helped(model: ClusterModel, pod: PodInfo) -> bool:
    """Return whether only another configuration helps: a plugin fails, or addedAffinity demands what no node can be."""
    evaluation = model.engine.evaluation_of(pod)
    if choose(evaluation, pick=lambda count: 0).failure is not None:
        return True
    rejections, rows = Rejections(evaluation), evaluation.table.present_rows().tolist()
    return any(status.reasons == ENFORCED.reasons for row in rows for status in rejections.of_row(row))

"""Clusters of the conformance corpus, as models to ask."""

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from kubesched.api.codec import decode
from kubesched.api.kinds import flattened, is_foreign
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import load_config
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects

DATA = Path(__file__).parents[2] / "packages/scheduler/tests/conformance/data"


def lines_with_clusters(name: str) -> Iterator[dict[str, Any]]:
    """Yield the scenarios of a file that have a cluster; one whose configuration is an error has none."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt") as lines:
        for text in lines:
            line = json.loads(text)
            if "objects" in line and "error" not in line["expected"]:
                yield line


def scenarios(name: str) -> Iterator[dict[str, Any]]:
    """Yield every seventh scenario of a file that has a cluster."""
    yield from islice(lines_with_clusters(name), 0, None, 7)


def a_model_of(line: dict[str, Any]) -> ClusterModel:
    """Return the model of a scenario's cluster."""
    objects = tuple(decode(document) for document in flattened(line["objects"]) if not is_foreign(document))
    gates = FeatureGates(line.get("featureGates") or {})
    return ClusterModel(ClusterObjects(objects), load_config(line.get("config"), gates, validate=False))

"""Reports: the result of loading a configuration, as plain values.

In: the text of a configuration, or a loaded one. Out: dict and list, as the conformance corpus has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubesched.config.build import ResolvedProfile
from kubesched.config.encoding import to_wire
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.intree import IN_TREE, WEIGHTED_POINTS, Catalog
from kubesched.config.load import load


def describe(text: str | None, gates: Mapping[str, bool], catalog: Catalog = IN_TREE) -> dict[str, Any]:
    """Return `stage` with `errors`, or with the completed `config` and the `plugins` of each profile."""
    try:
        loaded = load(text, FeatureGates(gates), catalog)
    except ConfigError as error:
        return {"stage": str(error.stage), "errors": list(error.errors)}
    return {
        "stage": "ok",
        "config": to_wire(loaded.config),
        "plugins": {profile.scheduler_name: plugins_by_point(profile) for profile in loaded.profiles},
    }


def plugins_by_point(profile: ResolvedProfile) -> dict[str, list[dict[str, Any]]]:
    """Return extension point -> plugins in order, with `weight` where scores have one; empty points are left out."""
    return {
        point: [
            {"name": plugin.name, "weight": plugin.weight} if point in WEIGHTED_POINTS else {"name": plugin.name}
            for plugin in plugins
        ]
        for point, plugins in profile.points.items()
        if plugins
    }

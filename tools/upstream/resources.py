"""Resources: names, verbs and subresources, from upstream's recorded discovery documents."""

import json
from typing import Any

from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.server.catalog import RESOURCES
from tools.upstream.report import Section, differences
from tools.upstream.sources import Source

# recorded by upstream with every API enabled
DISCOVERY = "api/discovery/api*__v*.json"

Facts = dict[str, Any]


def compare(source: Source) -> Section:
    """Compare the resources that are served here; the metrics API is another server's."""
    theirs = {
        name: facts for path in source.matching(DISCOVERY) for name, facts in recorded(source.first(path)).items()
    }
    ours = {f"{each.api_version} {each.plural}": _facts(each) for each in RESOURCES if each.group != "metrics.k8s.io"}
    found = list(differences(ours, {name: theirs[name] for name in ours if name in theirs}))
    left_out = sorted(name for name in theirs if name not in ours)
    return Section("resources", len(ours), found, left_out)


def recorded(text: str) -> dict[str, Facts]:
    """Return the resources of one group and version."""
    document = json.loads(text)
    version = document.get("groupVersion", "")
    found: dict[str, Facts] = {}
    listed = document.get("resources", ()) if document.get("kind") == "APIResourceList" else ()
    for each in sorted(listed, key=lambda each: str(each["name"]).count("/")):
        name, _, subresource = each["name"].partition("/")
        verbs = sorted(each["verbs"])
        if subresource:
            # some resources have nothing but subresources
            found.setdefault(f"{version} {name}", _none())["subresources"][subresource] = verbs
            continue
        found[f"{version} {name}"] = {
            "kind": each["kind"],
            "namespaced": each["namespaced"],
            "short names": sorted(each.get("shortNames", ())),
            "categories": sorted(each.get("categories", ())),
            "verbs": verbs,
            "subresources": {},
        }
    return found


def _none() -> Facts:
    return {"subresources": {}}


def _facts(resource: Resource) -> Facts:
    return {
        "kind": resource.kind,
        "namespaced": resource.namespaced,
        "short names": sorted(resource.short_names),
        "categories": sorted(resource.categories),
        "verbs": sorted(resource.verbs),
        "subresources": {name: sorted(verbs) for name, verbs in resource.subresources.items()},
    }

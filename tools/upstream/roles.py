"""Default roles and their bindings, from the files that upstream's own tests compare with."""

from collections.abc import Iterable
from typing import Any

import yaml

from kubesched_controlplane.access.default_roles import default_roles
from kubesched_controlplane.server.catalog import RESOURCES
from tools.upstream.report import Section
from tools.upstream.sources import Source

DIRECTORY = "plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata"
# with every gate on, as the embedded control plane has those that its roles depend on
FILES = (
    "cluster-roles-featuregates.yaml",
    "cluster-role-bindings.yaml",
    "namespace-roles.yaml",
    "namespace-role-bindings.yaml",
)
# for people: upstream puts them together from others, and they speak of kinds that are not served here
AGGREGATED = ("admin", "edit", "view")

Document = dict[str, Any]


def compare(source: Source) -> Section:
    """Compare what each role grants that kubesched has, and to whom."""
    objects = [each for name in FILES for each in _items(source.first(f"{DIRECTORY}/{name}"))]
    theirs, ours = facts(objects), facts(default_roles())
    for role in AGGREGATED:
        theirs.setdefault(f"ClusterRole {role}", set()).update(_aggregated(objects, role))
    found: list[str] = []
    for name, grants in ours.items():
        if name not in theirs:
            found.append(f"{name}: not upstream")
            continue
        others = _served(theirs[name]) | (theirs[name] & grants)
        found += [f"{name}: {grant} is not upstream" for grant in sorted(grants - theirs[name])]
        found += [f"{name}: {grant} is missing here" for grant in sorted(others - grants)]
    return Section("roles", len(ours), found, sorted(name for name in theirs.keys() - ours.keys() if "::" not in name))


def facts(objects: Iterable[Document]) -> dict[str, set[str]]:
    """Return what roles grant, and whom bindings name, one word for each combination."""
    found: dict[str, set[str]] = {}
    for each in objects:
        words = set(_grants(each.get("rules") or ())) | set(_subjects(each))
        found[f"{each['kind']} {each['metadata']['name']}"] = words
    return found


def _items(text: str) -> list[Document]:
    items: list[Document] = yaml.safe_load(text)["items"]
    return items


def _grants(rules: Iterable[Document]) -> Iterable[str]:
    for rule in rules:
        for verb in rule["verbs"]:
            yield from (f"{verb} {path}" for path in rule.get("nonResourceURLs", ()))
            for group in rule.get("apiGroups", ()):
                for resource in rule.get("resources", ()):
                    names = rule.get("resourceNames") or [""]
                    yield from (f"{verb} {resource}.{group} {name}".strip() for name in names)


def _subjects(binding: Document) -> Iterable[str]:
    if "roleRef" in binding:
        yield f"role {binding['roleRef']['name']}"
        yield from (f"subject {each['kind']} {each['name']}" for each in binding.get("subjects") or ())


def _aggregated(objects: Iterable[Document], role: str) -> set[str]:
    """Return what a role is granted through the label of others, which may be put together themselves."""
    label = f"rbac.authorization.k8s.io/aggregate-to-{role}"
    chosen = [each for each in objects if each["metadata"].get("labels", {}).get(label) == "true"]
    found: set[str] = set()
    for each in chosen:
        found |= set(_grants(each.get("rules") or ()))
        if each["metadata"]["name"] in AGGREGATED:
            found |= _aggregated(objects, each["metadata"]["name"])
    return found


def _served(grants: set[str]) -> set[str]:
    """Return the grants and subjects without those that are about resources that are not served here."""
    served = {f"{each.plural}.{each.group}" for each in RESOURCES}
    served |= {f"{each.plural}/{name}.{each.group}" for each in RESOURCES for name in each.subresources}
    return {grant for grant in grants if "." not in grant.split(" ")[1] or grant.split(" ")[1] in served}

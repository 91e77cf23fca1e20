"""Rules of roles: the requests that they allow, and whether one list of rules covers another.

From the rules of Role and ClusterRole objects to yes or no. Rules only allow: no rule can deny a request.
"""

# upstream: pkg/apis/rbac/v1/evaluation_helpers.go, component-helpers/auth/rbac/validation/policy_comparator.go,
# pkg/registry/rbac/validation/policy_compact.go (v1.36)

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kubesched.api.go_text import quote

ALL = "*"


class Attributes(msgspec.Struct, frozen=True):
    """The attributes of a request: a verb on a resource or, with `path`, on a non-resource URL."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str | None = None

    @property
    def combined(self) -> str:
        """Return resource/subresource, or the resource alone."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


class Rule(msgspec.Struct, frozen=True):
    """A rule of a role: verbs on resources, for all names or for some, or on non-resource paths."""

    verbs: tuple[str, ...]
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def allows(self, attributes: Attributes) -> bool:
        """Return whether the rule allows a request with these attributes."""
        if not _has(self.verbs, attributes.verb):
            return False
        if attributes.path is not None:
            return any(_path_matches(path, attributes.path) for path in self.paths)
        return (
            _has(self.groups, attributes.group)
            and self._has_resource(attributes.combined, attributes.subresource)
            and (not self.names or attributes.name in self.names)
        )

    def covers(self, atom: "Rule") -> bool:
        """Return whether this rule allows every request that an atomic rule allows."""
        if not _has(self.verbs, atom.verbs[0]):
            return False
        if atom.paths:
            return not self.names and any(_path_matches(path, atom.paths[0]) for path in self.paths)
        resource = atom.resources[0]
        if not _has(self.groups, atom.groups[0]) or not self._has_resource(resource, resource.partition("/")[2]):
            return False
        return not self.names or (bool(atom.names) and atom.names[0] in self.names)

    def atoms(self) -> Iterator["Rule"]:
        """Yield the atomic rules of this rule: one verb on one resource, of at most one name, or on one path."""
        for group in self.groups:
            for resource in self.resources:
                for verb in self.verbs:
                    if not self.names:
                        yield Rule((verb,), (group,), (resource,))
                    for name in self.names:
                        yield Rule((verb,), (group,), (resource,), (name,))
        for path in self.paths:
            for verb in self.verbs:
                yield Rule((verb,), paths=(path,))

    def _has_resource(self, combined: str, subresource: str) -> bool:
        return _has(self.resources, combined) or (bool(subresource) and f"*/{subresource}" in self.resources)

    def __str__(self) -> str:
        parts = (
            ("APIGroups", self.groups),
            ("Resources", self.resources),
            ("NonResourceURLs", self.paths),
            ("ResourceNames", self.names),
            ("Verbs", self.verbs),
        )
        return "{" + ", ".join(f"{name}:{quoted(values)}" for name, values in parts if values) + "}"


EVERYTHING = (Rule((ALL,), (ALL,), (ALL,)), Rule((ALL,), paths=(ALL,)))


def quoted(texts: Iterable[str]) -> str:
    """Format texts as Go formats a list of quoted strings."""
    return "[" + " ".join(map(quote, texts)) + "]"


def rule_of(entry: Mapping[str, Any]) -> Rule:
    """Read a rule from a PolicyRule of a role."""

    def texts(field: str) -> tuple[str, ...]:
        return tuple(entry.get(field) or ())

    return Rule(
        texts("verbs"), texts("apiGroups"), texts("resources"), texts("resourceNames"), texts("nonResourceURLs")
    )


def document_of(rule: Rule) -> dict[str, list[str]]:
    """Return a rule as a PolicyRule of a role."""
    fields = {
        "verbs": rule.verbs,
        "apiGroups": rule.groups,
        "resources": rule.resources,
        "resourceNames": rule.names,
        "nonResourceURLs": rule.paths,
    }
    return {field: list(values) for field, values in fields.items() if values}


def missing(held: Sequence[Rule], wanted: Iterable[Rule]) -> list[str]:
    """Return the permissions of the wanted rules that the held rules do not cover, as sorted texts."""
    verbs: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    for rule in wanted:
        for atom in rule.atoms():
            if not any(own.covers(atom) for own in held):
                # paths are listed with each verb apart
                apart = atom.verbs if atom.paths else ()
                verbs.setdefault((atom.groups, atom.resources, atom.names, atom.paths, apart), []).append(atom.verbs[0])
    return sorted({str(Rule(tuple(found), *what[:4])) for what, found in verbs.items()})


def _has(texts: tuple[str, ...], text: str) -> bool:
    return text in texts or ALL in texts


def _path_matches(pattern: str, path: str) -> bool:
    return pattern == path or (pattern.endswith(ALL) and path.startswith(pattern.rstrip(ALL)))

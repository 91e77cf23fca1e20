"""The page about API compatibility: the kinds that are served, the treatment of their objects, and the parts that are
left out.

From the declarations of kinds, and `texts`, to Markdown. `python -m` on this package writes
docs/reference/api-compatibility.md to standard output (`make docs` puts it there); a test holds the two together.
"""

from collections.abc import Iterable

from kubesched_controlplane.api.resources import ALL_VERBS, Resource
from kubesched_controlplane.compatibility.texts import (
    BEHAVIOURS,
    KINDS_LEFT_OUT,
    REFUSED,
    SPOKEN,
    SUBRESOURCES_LEFT_OUT,
)
from kubesched_controlplane.registry.declaration import Declaration
from kubesched_controlplane.representation.discovery import VERSION
from kubesched_controlplane.server.catalog import DECLARATIONS

_TITLE = """# API compatibility

<!-- Written by `make docs` from the code. Its sentences: controlplane/{{kinds/declarations,compatibility/texts}}. -->

This page lists the kinds of kube-apiserver {version} that the embedded API server of `kubesched up` and
`kubesched controlplane` serves, the effect of their objects, and the omissions. [Differences](differences.md) lists the
answers that differ on purpose.
"""
_SERVED = """## Kinds

*all* verbs are {verbs}. Every kind has defaults,
validation, server-side apply, tables with the columns of kubectl, OpenAPI for `explain` and `diff`, and strict checks
for unknown fields. *kept* means that objects are stored, validated and watched like other objects, but have no effect.
"""
_COLUMNS = ("API version", "kind", "resource", "scope", "verbs", "subresources", "effect")
_CUSTOM = """The server also serves every kind that a CustomResourceDefinition defines.
"""


def page() -> str:
    """Return the page as Markdown."""
    parts = [
        _TITLE.format(version=VERSION["gitVersion"]),
        _SERVED.format(verbs=", ".join(ALL_VERBS)),
        _table(_COLUMNS, map(_row, DECLARATIONS)),
        _CUSTOM,
        "## Refused subresources\n\nThe server serves them, and the error states the reason.\n",
        _table(("subresource", "answer"), REFUSED.items()),
        "## Protocol\n",
        _table(("part", "support"), SPOKEN.items()),
        "## Missing kinds\n\nkubectl prints `the server doesn't have a resource type`, or `no matches for kind`.\n",
        _table(("API version", "kind", "reason"), ((*name.split(" "), why) for name, why in KINDS_LEFT_OUT.items())),
        "## Missing subresources\n\nkubectl prints `the server could not find the requested resource`.\n",
        _table(("subresource", "reason"), SUBRESOURCES_LEFT_OUT.items()),
        "## Missing behaviours\n",
        _table(("behaviour", "instead"), BEHAVIOURS.items()),
    ]
    return "\n".join(parts)


def _row(declared: Declaration) -> tuple[str, ...]:
    resource = declared.resource
    named = f"`{resource.plural}`" + "".join(f", `{name}`" for name in resource.short_names)
    verbs = "all" if resource.verbs == ALL_VERBS else _verbs(resource)
    return (
        resource.api_version,
        resource.kind,
        named,
        "namespace" if resource.namespaced else "cluster",
        verbs,
        ", ".join(sorted(resource.subresources)),
        declared.sentence,
    )


def _verbs(resource: Resource) -> str:
    """List the verbs of a resource, or the verbs that it lacks if these are few."""
    missing = [verb for verb in ALL_VERBS if verb not in resource.verbs]
    return f"all but {', '.join(missing)}" if len(missing) < 3 else ", ".join(resource.verbs)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)

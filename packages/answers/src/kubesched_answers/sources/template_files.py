"""Manifests of the pods and workloads of a question.

From paths (files, folders, `-`) to manifests; the first unreadable part is an error.
"""

from collections.abc import Sequence

from kubesched.errors import KubeschedError
from kubesched.manifests import Manifest, read


def read_manifests(paths: Sequence[str]) -> list[Manifest]:
    """Return the objects in files, folders and standard input; raises KubeschedError."""
    manifests, problems = read(paths)
    if problems:
        raise KubeschedError(problems[0])
    if not manifests:
        raise KubeschedError(f"{', '.join(paths)}: no objects found")
    return manifests

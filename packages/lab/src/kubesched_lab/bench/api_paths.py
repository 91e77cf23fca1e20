"""The paths of objects on API servers."""

from kubesched_controlplane.running import new_server
from kubesched_controlplane.transport.local_client import path_of
from kubesched_lab.bench.errors import BenchError
from kubesched_lab.simulate.traces.perf.made_object import MadeObject


class ApiPaths:
    """The paths of all built-in kinds, from the catalogue of the embedded API server."""

    def __init__(self) -> None:
        self._catalog = new_server({}, seed=0).registry.catalog
        self._paths: dict[tuple[str, str, str], str] = {}

    def collection(self, made: MadeObject) -> str:
        """Return the path to create an object at; raises BenchError for an unknown kind."""
        version = str(made.document.get("apiVersion", ""))
        key = (version, made.kind, made.namespace)
        if key not in self._paths:
            resource = self._catalog.of_kind(version, made.kind)
            if resource is None:
                raise BenchError(
                    f"{made.where}: there is no kind {made.kind!r} in {version!r}; expected a kind such as Pod in v1"
                )
            if resource.namespaced and not made.namespace:
                raise BenchError(f"{made.where}: a {made.kind} needs a namespace")
            self._paths[key] = path_of(resource, made.namespace if resource.namespaced else "")
        return self._paths[key]

"""Where upstream keeps the Go package of a group and version."""

_STAGING = "staging/src/k8s.io"
_ELSEWHERE = {
    "meta.k8s.io": "apimachinery/pkg/apis/meta",
    "apiextensions.k8s.io": "apiextensions-apiserver/pkg/apis/apiextensions",
    "apiregistration.k8s.io": "kube-aggregator/pkg/apis/apiregistration",
    "metrics.k8s.io": "metrics/pkg/apis/metrics",
}


def package_of(api_version: str) -> str:
    """Return the directory of the package of a group and version (`apps/v1`)."""
    group, _, version = api_version.rpartition("/")
    directory = _ELSEWHERE.get(group) or f"api/{group.partition('.')[0] or 'core'}"
    return f"{_STAGING}/{directory}/{version}"

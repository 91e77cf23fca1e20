"""The source of a cluster: files, a kubeconfig and a context, or a cluster of `kubesched up`.

From the user's options to the address of an API server. By default it is kubectl's current cluster.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kubesched.client.credentials.context_choice import CURRENT_CONTEXT, ContextChoice
from kubesched.common.distributions import imported
from kubesched.errors import KubeconfigError, KubeschedError

if TYPE_CHECKING:
    from kubesched.client.rest import RestConfig


@dataclass(frozen=True, slots=True)
class ClusterSource:
    """The source of a cluster: `paths` of files, a cluster of `kubesched up`, or a kubeconfig and a context.

    `namespace` replaces the source's default namespace.
    """

    paths: tuple[str, ...] = ()
    cluster: str = ""
    kubeconfig: str = ""
    choice: ContextChoice = CURRENT_CONTEXT
    namespace: str = ""


def live_target(
    source: ClusterSource, others: str = "use --from for files, or --cluster for a cluster of kubesched up"
) -> "RestConfig":
    """Return the API server of a live cluster; errors end with the alternatives in `others`."""
    from kubesched.client.credentials.rest_config import kubectl_rest_config

    if source.cluster:
        kubeconfig_of = imported("kubesched_controlplane.named_kubeconfig", "kubeconfig_of", "--cluster")
        return kubectl_rest_config(kubeconfig_of(source.cluster), source.choice)
    try:
        return kubectl_rest_config(source.kubeconfig, source.choice)
    except KubeconfigError as error:
        if source.kubeconfig or source.choice != CURRENT_CONTEXT:
            raise
        raise KubeschedError(f"{error}; or {others}") from None

"""Which cluster is meant: files, a kubeconfig and a context, or a cluster of `kubesched up`.

From what a person named to the address of an API server. Without a word it is the cluster that kubectl would ask.
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
    """Where a cluster comes from: `paths` of files, a cluster of `kubesched up`, or a kubeconfig and a context.

    `namespace` is that of names without one, instead of the source's own.
    """

    paths: tuple[str, ...] = ()
    cluster: str = ""
    kubeconfig: str = ""
    choice: ContextChoice = CURRENT_CONTEXT
    namespace: str = ""


def live_target(
    source: ClusterSource, others: str = "ask about files with --from, or a cluster of kubesched up with --cluster"
) -> "RestConfig":
    """Return the API server of a live cluster; raises KubeschedError, with what `others` says can be done instead."""
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

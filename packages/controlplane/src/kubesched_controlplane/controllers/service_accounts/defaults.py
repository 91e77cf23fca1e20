"""The default objects of every namespace: the service account `default` and the certificates of the API server.

From namespaces to a ServiceAccount and a ConfigMap in each; deleted ones are created again, changed ones corrected.
"""

# upstream: pkg/controller/serviceaccount/serviceaccounts_controller.go,
# pkg/controller/certificates/rootcacertpublisher/publisher.go (v1.36)

from kubesched_controlplane.access.default_roles import AUTHENTICATION_CONFIG, SYSTEM
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.kinds.namespaces import TERMINATING
from kubesched_controlplane.storage.store import DELETED, Change, Changed

ACCOUNTS, CONFIG_MAPS, NAMESPACES = "serviceaccounts", "configmaps", "namespaces"
DEFAULT = "default"
ROOT_CERTIFICATES = "kube-root-ca.crt"
_CERTIFICATE_KEY = "ca.crt"
_DESCRIPTION = "kubernetes.io/description"
_ABOUT_CERTIFICATES = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)


class _InEveryNamespace(Controller):
    """Keeps an object of one name in every namespace that is not terminating."""

    prefix = ""
    name = ""

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {self.prefix: self._object_changed, NAMESPACES: self._namespace_changed}

    def _namespace_changed(self, change: Change) -> None:
        if change.type != DELETED:
            self.workqueue.add(("", change.new.name))

    def _object_changed(self, change: Change) -> None:
        if change.new.name == self.name:
            self.workqueue.add(("", change.new.namespace))

    def reconcile(self, key: Key) -> None:
        """Create the object of a namespace, or correct its contents."""
        namespace = self.context.get(NAMESPACES, *key)
        if namespace is None or namespace.fields.get("status.phase") == TERMINATING:
            return
        found = self.context.find(self.prefix, namespace.name, self.name)
        if found is None:
            meta = {"name": self.name, "namespace": namespace.name}
            self.context.create(self.prefix, self.put_right({"metadata": meta}))
        elif self.put_right({**found, "metadata": dict(found["metadata"])}) != found:
            self.context.update(self.prefix, self.put_right(found))

    def put_right(self, document: Document) -> Document:
        """Return the object with its wanted contents."""
        return document


class ServiceAccountController(_InEveryNamespace):
    """Keeps the service account `default`, for pods that name none."""

    prefix, name = ACCOUNTS, DEFAULT


class RootCertificatePublisher(_InEveryNamespace):
    """Keeps the ConfigMap with the certificates by which pods verify the API server."""

    prefix, name = CONFIG_MAPS, ROOT_CERTIFICATES

    def put_right(self, document: Document) -> Document:
        """Return the ConfigMap with the certificates of the cluster's authority and their description."""
        meta = document["metadata"]
        meta["annotations"] = {**(meta.get("annotations") or {}), _DESCRIPTION: _ABOUT_CERTIFICATES}
        document["data"] = {_CERTIFICATE_KEY: root_certificates(self.context)}
        return document


def root_certificates(context: ControllerContext) -> str:
    """Return the certificates by which clients verify the API server, an empty text if there are none."""
    config = context.find(CONFIG_MAPS, SYSTEM, AUTHENTICATION_CONFIG) or {}
    return str((config.get("data") or {}).get("client-ca-file") or "")

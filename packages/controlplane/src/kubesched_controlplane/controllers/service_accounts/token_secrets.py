"""Secrets of type service-account-token.

From such a secret to the same secret with a token, the namespace and the certificates of the API server; the secrets
of a deleted service account are deleted.
"""

# upstream: pkg/controller/serviceaccount/tokens_controller.go, pkg/serviceaccount/legacy.go (v1.36)

from base64 import b64encode
from typing import Final

from kubesched_controlplane.access.service_account_tokens import ACCOUNTS, LEGACY, LEGACY_ISSUER, USER_PREFIX
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.controllers.framework.controller import Controller, Key
from kubesched_controlplane.controllers.service_accounts.defaults import root_certificates
from kubesched_controlplane.storage.store import DELETED, Change, Changed

SECRETS: Final = "secrets"
TYPE: Final = "kubernetes.io/service-account-token"
NAME, UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"


class TokenController(Controller):
    """Writes tokens into secrets of service accounts; deletes the secrets of deleted accounts."""

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {SECRETS: self._secret_changed, ACCOUNTS: self._account_changed}

    def _secret_changed(self, change: Change) -> None:
        if change.type != DELETED and change.new.fields.get("type") == TYPE:
            self._add(change)

    def _account_changed(self, change: Change) -> None:
        if change.old is not None and change.type != DELETED:
            return
        account = change.new
        for stored in self.context.store.set_of(SECRETS).in_order(account.namespace):
            if stored.fields.get("type") != TYPE:
                continue
            said = stored.document()["metadata"].get("annotations") or {}
            if said.get(NAME) == account.name and change.type == DELETED and said.get(UID) == account.uid:
                self.context.delete(SECRETS, stored)
            elif said.get(NAME) == account.name:
                self.workqueue.add((stored.namespace, stored.name))

    def reconcile(self, key: Key) -> None:
        """Write token, namespace and certificates into a secret, if its service account exists."""
        secret = self.context.find(SECRETS, *key)
        if secret is None or "deletionTimestamp" in secret["metadata"]:
            return
        annotations = secret["metadata"].get("annotations") or {}
        account = self.context.get(ACCOUNTS, key[0], annotations.get(NAME, ""))
        # differs (D-214): the reference deletes a secret whose account never existed; here it stays, because it may be
        # imported without the account
        if account is None or annotations.get(UID, account.uid) != account.uid:
            return
        data = dict(secret.get("data") or {})
        data["namespace"] = data.get("namespace") or _encoded(key[0])
        certificates = root_certificates(self.context)
        if certificates:
            data["ca.crt"] = _encoded(certificates)
        data["token"] = data.get("token") or _encoded(self._token(secret, account.name, account.uid))
        meta = {**secret["metadata"], "annotations": {**annotations, UID: account.uid}}
        if (data, meta) != (secret.get("data"), secret["metadata"]):
            self.context.update(SECRETS, {**secret, "metadata": meta, "data": data})

    def _token(self, secret: Document, name: str, uid: str) -> str:
        meta = secret["metadata"]
        claims = {
            "iss": LEGACY_ISSUER,
            f"{LEGACY}namespace": meta["namespace"],
            f"{LEGACY}secret.name": meta["name"],
            f"{LEGACY}service-account.name": name,
            f"{LEGACY}service-account.uid": uid,
            "sub": f"{USER_PREFIX}{meta['namespace']}:{name}",
        }
        return self.context.client.server.registry.issuer.sign(claims)


def _encoded(text: str) -> str:
    return b64encode(text.encode()).decode()

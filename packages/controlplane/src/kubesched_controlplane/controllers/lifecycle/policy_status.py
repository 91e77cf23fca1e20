"""The status of validating admission policies: the observed generation.

From policies to their status; expressions were compiled when the policy was accepted, so there are no warnings.
"""

# upstream: pkg/controller/validatingadmissionpolicystatus/controller.go (v1.36)

from kubesched_controlplane.controllers.framework.controller import Controller, Key
from kubesched_controlplane.storage.store import Changed

_POLICIES = "validatingadmissionpolicies.admissionregistration.k8s.io"


class PolicyStatusController(Controller):
    """Writes the observed generation of validating admission policies."""

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {_POLICIES: self._add}

    def reconcile(self, key: Key) -> None:
        """Write the observed generation of a policy."""
        policy = self.context.find(_POLICIES, *key)
        if policy is None:
            return
        generation, status = policy["metadata"].get("generation", 0), policy.get("status") or {}
        if status.get("observedGeneration") == generation:
            return
        policy["status"] = {**status, "observedGeneration": generation, "typeChecking": {}}
        self.context.update(_POLICIES, policy, "status")

"""The pods that an event of a persistent volume claim concerns: those whose volumes refer to it.

For all plugins whose hints check just that.
"""

from kubesched.api.storage import PersistentVolumeClaim
from kubesched.core.cluster.storage.volume_users import used_claims
from kubesched.core.framework.values.events import Subject


def _changed(old: PersistentVolumeClaim | None, new: PersistentVolumeClaim) -> tuple[str]:
    return (new.full_name,)


CLAIMS_OF_VOLUMES = Subject(_changed, used_claims)

"""Which pods an event about a persistent volume claim is for: those whose volumes stand for it.

For all plugins whose hints ask just that.
"""

from kubesched.api.storage import PersistentVolumeClaim
from kubesched.core.cluster.storage.volume_users import used_claims
from kubesched.core.framework.events import Subject


def _changed(old: PersistentVolumeClaim | None, new: PersistentVolumeClaim) -> tuple[str]:
    return (new.full_name,)


CLAIMS_OF_VOLUMES = Subject(_changed, used_claims)

"""The configuration in force in a scheduler, read from its /configz.

From the address of a scheduler, or of the API server of `kubesched up`, to a KubeSchedulerConfiguration without
secrets. kube-scheduler's page has internal names, and is not read.
"""

from typing import Any, Final, NamedTuple

import msgspec

from kubesched import __version__
from kubesched.client.rest import RestClient, RestConfig
from kubesched.config.redacting import without_secrets
from kubesched.config.types import API_VERSION, KIND
from kubesched.errors import KubeschedError
from kubesched.sources.own_loop import in_own_loop

PATH: Final = "/configz"
# the key of the configuration on the page
FIELD: Final = "componentconfig"
SECONDS: Final = 10.0
OTHER_FORM: Final = f"its {PATH} is not that of kubesched run or kubesched up"


class ToldConfiguration(NamedTuple):
    """The configuration that a scheduler serves at /configz as text, or why it cannot be read."""

    text: str = ""
    why: str = ""


def read_in_force(target: RestConfig) -> ToldConfiguration:
    """Return the configuration in force in a scheduler."""
    try:
        return _told(in_own_loop(_read(target)))
    except (KubeschedError, ValueError, RecursionError) as error:
        return ToldConfiguration(why=str(error))


def _told(found: Any) -> ToldConfiguration:
    document = found.get(FIELD) if isinstance(found, dict) else None
    if not isinstance(document, dict) or (document.get("apiVersion"), document.get("kind")) != (API_VERSION, KIND):
        return ToldConfiguration(why=OTHER_FORM)
    # the placeholder for secrets on the page is no key
    return ToldConfiguration(msgspec.json.encode(without_secrets(document, hidden="")).decode())


async def _read(target: RestConfig) -> Any:
    client = RestClient(target, f"kubesched/{__version__}", timeout_seconds=SECONDS)
    try:
        return msgspec.json.decode(await client.get(PATH))
    finally:
        await client.close()

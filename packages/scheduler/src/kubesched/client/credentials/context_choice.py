"""The chosen context of a kubeconfig, with the fields that a command line overrides.

From a command line to the reader of kubeconfigs.
"""

import msgspec


class ContextChoice(msgspec.Struct, frozen=True):
    """The command line's overrides of the current context, its parts and their fields, as in kubectl.

    Relative paths start at the working directory.
    """

    context: str = ""
    cluster: str = ""
    user: str = ""
    server: str = ""
    certificate_authority: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    token: str = ""
    client_certificate: str = ""
    client_key: str = ""
    impersonate: str = ""
    impersonate_uid: str = ""
    impersonate_groups: tuple[str, ...] = ()
    request_timeout_seconds: float = 0.0


CURRENT_CONTEXT = ContextChoice()

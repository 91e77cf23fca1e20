"""Which context of a kubeconfig is meant, and what a command line puts in the place of its fields.

From a command line to whoever reads kubeconfigs.
"""

import msgspec


class ContextChoice(msgspec.Struct, frozen=True):
    """What a command line puts in the place of the current context, of its parts, and of their fields, as kubectl does.

    Paths are those of the command line: relative ones start at the working directory.
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

"""Redacted configurations: no private keys, no passwords in addresses.

In: documents and addresses. Out: the same without secrets. Pure functions.
"""

import re
from collections.abc import Mapping
from typing import Any

_USERINFO = re.compile(r"//[^/?#]*@")


def without_password(url: str, hidden: str = "[hidden]") -> str:
    """Return an address without its user name and password."""
    return _USERINFO.sub(f"//{hidden}@", url)


def without_secrets(document: Mapping[str, Any], hidden: str = "[hidden]") -> Mapping[str, Any]:
    """Return a configuration without the private keys and passwords of extenders."""
    extenders = document.get("extenders")
    if not extenders:
        return document
    return {**document, "extenders": [_shown_extender(extender, hidden) for extender in extenders]}


def _shown_extender(extender: Mapping[str, Any], hidden: str) -> Mapping[str, Any]:
    shown = {**extender, "urlPrefix": without_password(extender.get("urlPrefix") or "", hidden)}
    tls = extender.get("tlsConfig")
    if tls and tls.get("keyData"):
        shown["tlsConfig"] = {**tls, "keyData": hidden}
    return shown

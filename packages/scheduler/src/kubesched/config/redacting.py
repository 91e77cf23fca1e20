"""Redacted configurations: no private keys, no passwords in addresses, no tokens in arguments of plugins.

In: documents and addresses. Out: the same without secrets. Pure functions.
"""

import re
from collections.abc import Mapping
from typing import Any

_USERINFO = re.compile(r"//[^/?#]*@")
_SECRET = re.compile(r"(?i)(token|password|passwd|secret|credentials?|authorization|api-?_?key|private-?_?key)$")


def without_password(url: str, hidden: str = "[hidden]") -> str:
    """Return an address without its user name and password."""
    return _USERINFO.sub(f"//{hidden}@", url)


def without_secrets(document: Mapping[str, Any], hidden: str = "[hidden]") -> Mapping[str, Any]:
    """Return a configuration without the private keys and passwords of extenders, and the secrets of plugins."""
    shown = dict(document)
    if extenders := document.get("extenders"):
        shown["extenders"] = [_shown_extender(extender, hidden) for extender in extenders]
    if profiles := document.get("profiles"):
        shown["profiles"] = [_shown_profile(profile, hidden) for profile in profiles]
    return shown


def _shown_profile(profile: Mapping[str, Any], hidden: str) -> Mapping[str, Any]:
    written = profile.get("pluginConfig")
    if not written:
        return profile
    entries = [{**entry, "args": args_without_secrets(entry.get("args"), hidden)} for entry in written]
    return {**profile, "pluginConfig": entries}


def args_without_secrets(value: Any, hidden: str = "[hidden]") -> Any:
    """Return arguments of a plugin in which fields that are named as secrets are hidden, and passwords in addresses."""
    if isinstance(value, Mapping):
        return {
            key: hidden if _is_secret(key, each) else args_without_secrets(each, hidden) for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [args_without_secrets(each, hidden) for each in value]
    return without_password(value, hidden) if isinstance(value, str) and "://" in value else value


def _is_secret(key: Any, value: Any) -> bool:
    if str(key).lower() == "headers" and isinstance(value, Mapping):
        return bool(value)
    return bool(value) and isinstance(value, str) and _SECRET.search(str(key)) is not None


def _shown_extender(extender: Mapping[str, Any], hidden: str) -> Mapping[str, Any]:
    shown = {**extender, "urlPrefix": without_password(extender.get("urlPrefix") or "", hidden)}
    tls = extender.get("tlsConfig")
    if tls and tls.get("keyData"):
        shown["tlsConfig"] = {**tls, "keyData": hidden}
    return shown

"""The strategy of config maps, secrets and service accounts."""

# upstream: pkg/registry/core/{configmap,secret,serviceaccount}/strategy.go,
# pkg/apis/core/validation/validation.go (ValidateConfigMap, ValidateSecret) (v1.36)

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from typing import Any

import msgspec

from kubesched.api.field_errors import forbidden, invalid, required
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import bad_request
from kubesched_controlplane.kinds.checks import config_key_problems, immutable, text_problems, too_long
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.registry.strategy import StrategyContext

LARGEST = 1024 * 1024
_FROZEN = "field is immutable when `immutable` is set"
OPAQUE = "Opaque"
# the keys that a type of secret must have
_KEYS = {"kubernetes.io/tls": ("tls.crt", "tls.key")}
_SSH, _SSH_KEY = "kubernetes.io/ssh-auth", "ssh-privatekey"
_JSON_KEYS = {"kubernetes.io/dockercfg": ".dockercfg", "kubernetes.io/dockerconfigjson": ".dockerconfigjson"}
_ACCOUNT_ANNOTATION = "kubernetes.io/service-account.name"


class ConfigMapStrategy(KindStrategy):
    """The strategy of config maps."""

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a config map."""
        data, binary = document.get("data") or {}, document.get("binaryData") or {}
        problems = []
        for key in data:
            problems += text_problems(f"data[{key}]", key, config_key_problems)
            if key in binary:
                problems.append(invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
        for key in binary:
            problems += text_problems(f"binaryData[{key}]", key, config_key_problems)
        size = sum(len(value.encode()) for value in data.values())
        size += sum(len(_decoded("binaryData", key, value)) for key, value in binary.items())
        if size > LARGEST:
            problems.append(too_long("", LARGEST))
        return problems

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        return _frozen_problems(new, old, "data", "binaryData")


class SecretStrategy(KindStrategy):
    """The strategy of secrets."""

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set the default type, and move stringData into data."""
        document["type"] = document.get("type") or OPAQUE
        texts = document.pop("stringData", None)
        if texts:
            encoded = {key: b64encode(value.encode()).decode() for key, value in texts.items()}
            document["data"] = {**(document.get("data") or {}), **encoded}

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a secret."""
        data = {key: _decoded("data", key, value) for key, value in (document.get("data") or {}).items()}
        problems = []
        for key in data:
            problems += text_problems(f"data[{key}]", key, config_key_problems)
        if sum(len(value) for value in data.values()) > LARGEST:
            problems.append(too_long("data", LARGEST))
        return problems + _type_problems(document, data)

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        return immutable("type", new["type"], old.get("type")) + _frozen_problems(new, old, "data")

    def fields(self, document: Document) -> dict[str, str]:
        """Return the values of the selectable fields."""
        return {"type": document.get("type") or ""}


class ServiceAccountStrategy(KindStrategy):
    """The strategy of service accounts."""

    returns_deleted = True

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Keep only the names of references to secrets."""
        if document.get("secrets"):
            document["secrets"] = [{"name": secret.get("name") or ""} for secret in document["secrets"]]


def _type_problems(document: Document, data: dict[str, bytes]) -> list[str]:
    kind = document["type"]
    if kind == "kubernetes.io/service-account-token":
        annotations = document["metadata"].get("annotations") or {}
        return (
            [] if annotations.get(_ACCOUNT_ANNOTATION) else [required(f"metadata.annotations[{_ACCOUNT_ANNOTATION}]")]
        )
    if kind == "kubernetes.io/basic-auth" and not {"username", "password"} & set(data):
        return [required("data[username]"), required("data[password]")]
    if key := _JSON_KEYS.get(kind):
        if key not in data:
            return [required(f"data[{key}]")]
        if not _is_json_object(data[key]):
            why = "invalid character in JSON" if data[key].strip() else "unexpected end of JSON input"
            return [invalid(f"data[{key}]", "<secret contents redacted>", why)]
    if kind == _SSH:
        return [] if data.get(_SSH_KEY) else [required(f"data[{_SSH_KEY}]")]
    return [required(f"data[{key}]") for key in _KEYS.get(kind, ()) if key not in data]


def _frozen_problems(new: Document, old: Document, *fields: str) -> list[str]:
    if not old.get("immutable"):
        return []
    problems = [] if new.get("immutable") else [forbidden("immutable", _FROZEN)]
    return problems + [forbidden(field, _FROZEN) for field in fields if new.get(field) != old.get(field)]


def _decoded(field: str, key: str, value: Any) -> bytes:
    try:
        return b64decode(value, validate=True)
    except (Base64Error, ValueError, TypeError):
        where = f"{field}.{key}"
        raise bad_request(f"illegal base64 data at input byte 0 in {where}") from None


def _is_json_object(data: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(data), dict)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False

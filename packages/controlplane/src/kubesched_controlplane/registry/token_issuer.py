"""Tokens of service accounts: JSON Web Tokens signed with the cluster's key, and the OpenID documents to verify them.

From claims to a token, and from a token back to claims if it was signed here. The claims of verified tokens are cached
by the digest of the token.
"""

# upstream: pkg/serviceaccount/{jwt,openidmetadata}.go (v1.36)

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections import OrderedDict
from hashlib import sha256
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

ISSUER = "https://kubernetes.default.svc.cluster.local"
CONFIGURATION, KEYS = "/.well-known/openid-configuration", "/openid/v1/jwks"
_ALGORITHM = "ES256"
_HALF = 32
_MOST_REMEMBERED = 1024
_LONGEST = 64 * 1024

Claims = dict[str, Any]


class Issuer:
    """Signs tokens and verifies its own signatures; without a given key one is generated at first use."""

    def __init__(self, key: ec.EllipticCurvePrivateKey | None = None) -> None:
        self._given = key
        self._read: OrderedDict[bytes, Claims | None] = OrderedDict()

    @property
    def _key(self) -> ec.EllipticCurvePrivateKey:
        if self._given is None:
            self._given = ec.generate_private_key(ec.SECP256R1())
        return self._given

    def sign(self, claims: Claims) -> str:
        """Return a signed token with these claims."""
        header = {"alg": _ALGORITHM, "kid": self._key_name()}
        text = b".".join(_encoded(msgspec.json.encode(part)) for part in (header, claims))
        first, second = decode_dss_signature(self._key.sign(text, ec.ECDSA(hashes.SHA256())))
        signature = first.to_bytes(_HALF, "big") + second.to_bytes(_HALF, "big")
        return b".".join((text, _encoded(signature))).decode()

    def read(self, token: str) -> Claims | None:
        """Return the claims of a token that was signed here, None for any other text."""
        if token.count(".") != 2 or not token.isascii() or len(token) > _LONGEST:
            return None
        digest = sha256(token.encode()).digest()
        if digest not in self._read:
            self._read[digest] = self._verified(token)
            if len(self._read) > _MOST_REMEMBERED:
                self._read.popitem(last=False)
        return self._read[digest]

    def _verified(self, token: str) -> Claims | None:
        text, _, signature_text = token.rpartition(".")
        try:
            header, payload = (msgspec.json.decode(_decoded(part)) for part in text.split("."))
            signature = _decoded(signature_text)
        except (Base64Error, ValueError, msgspec.MsgspecError):
            return None
        if not isinstance(header, dict) or header.get("alg") != _ALGORITHM or len(signature) != 2 * _HALF:
            return None
        halves = (int.from_bytes(signature[:_HALF], "big"), int.from_bytes(signature[_HALF:], "big"))
        try:
            self._key.public_key().verify(encode_dss_signature(*halves), text.encode(), ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            return None
        return payload if isinstance(payload, dict) else None

    def configuration(self, host: str) -> dict[str, Any]:
        """Return the OpenID configuration of this issuer; `host` is the address of its server."""
        return {
            "issuer": ISSUER,
            "jwks_uri": f"https://{host}{KEYS}",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [_ALGORITHM],
        }

    def keys(self) -> dict[str, Any]:
        """Return the JSON Web Key Set that verifies tokens of this issuer."""
        numbers = self._key.public_key().public_numbers()
        x, y = (_encoded(number.to_bytes(_HALF, "big")).decode() for number in (numbers.x, numbers.y))
        name = self._key_name()
        return {"keys": [{"use": "sig", "kty": "EC", "kid": name, "crv": "P-256", "alg": _ALGORITHM, "x": x, "y": y}]}

    def _key_name(self) -> str:
        public = self._key.public_key()
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return _encoded(sha256(public.public_bytes(serialization.Encoding.DER, form)).digest()).decode()


def _encoded(data: bytes) -> bytes:
    return urlsafe_b64encode(data).rstrip(b"=")


def _decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))

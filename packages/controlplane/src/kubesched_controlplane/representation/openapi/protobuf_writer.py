"""OpenAPI v2 in Protocol Buffers, the encoding that Go clients request.

From a document to bytes. Paths are left out: clients of this encoding only read definitions.
"""

# field numbers: gnostic-models/openapiv2/OpenAPIv2.proto

from collections.abc import Iterator
from typing import Any

import msgspec

_DOCUMENT = {"swagger": 1, "info": 2, "paths": 8, "definitions": 9}
_TEXTS = {"$ref": 1, "format": 2, "description": 4}
_REQUIRED, _ADDITIONAL, _TYPE, _ITEMS, _PROPERTIES, _EXTENSION = 19, 21, 22, 23, 25, 31


def in_protobuf(document: dict[str, Any]) -> bytes:
    """Encode an OpenAPI v2 document in Protocol Buffers."""
    info = _field(1, document["info"]["title"].encode()) + _field(2, document["info"]["version"].encode())
    return b"".join(
        (
            _field(_DOCUMENT["swagger"], document["swagger"].encode()),
            _field(_DOCUMENT["info"], info),
            _field(_DOCUMENT["paths"], b""),
            _field(_DOCUMENT["definitions"], _named_schemas(document["definitions"])),
        )
    )


def _named_schemas(schemas: dict[str, Any]) -> bytes:
    return b"".join(_field(1, _named(name, _schema(schema))) for name, schema in schemas.items())


def _schema(schema: dict[str, Any]) -> bytes:
    return b"".join(_parts(schema))


def _parts(schema: dict[str, Any]) -> Iterator[bytes]:
    for key, value in schema.items():
        if key in _TEXTS:
            yield _field(_TEXTS[key], value.encode())
        elif key == "type":
            yield _field(_TYPE, _field(1, value.encode()))
        elif key == "required":
            yield from (_field(_REQUIRED, name.encode()) for name in value)
        elif key == "properties":
            yield _field(_PROPERTIES, _named_schemas(value))
        elif key == "items":
            yield _field(_ITEMS, _field(1, _schema(value)))
        elif key == "additionalProperties":
            yield _field(_ADDITIONAL, _field(1, _schema(value)))
        elif key.startswith("x-"):
            # values of extensions are YAML, a superset of JSON
            yield _field(_EXTENSION, _named(key, _field(2, msgspec.json.encode(value) + b"\n")))


def _named(name: str, value: bytes) -> bytes:
    return _field(1, name.encode()) + _field(2, value)


def _field(number: int, content: bytes) -> bytes:
    """Encode a field of bytes: its number, its length and the bytes."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)

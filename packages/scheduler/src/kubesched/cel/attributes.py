"""Access into maps and lists: `a.b`, `a[0]`, `a.?b`, `has(a.b)`.

From a container and a key to the value. A missing value is an error, or, for `.?` and `has`, an absent value.
"""

# upstream: cel-go interpreter/attributes.go (v0.26)

from typing import Any, Final

from kubesched.cel.errors import CelValueError
from kubesched.cel.go_format import shown
from kubesched.cel.values import MISSING, CelMap, Uint, go_type_name, type_of

KEY_TYPES: Final = frozenset({str, int, Uint, bool, float})


def checked_key(key: Any) -> Any:
    """Return a key of a valid type, or raise CelValueError."""
    if type(key) not in KEY_TYPES:
        raise CelValueError(f"invalid qualifier type: {go_type_name(key)}")
    return key


def get(value: Any, key: Any) -> Any:
    """Return the value under a key, or raise CelValueError."""
    found = find(value, key)
    if found is MISSING:
        problem = "index out of bounds" if isinstance(value, list) else "no such key"
        raise CelValueError(f"{problem}: {shown(key)}")
    return found


def find(value: Any, key: Any) -> Any:
    """Return the value under a key, or MISSING; also MISSING if the container is no map or list."""
    if type(value) is CelMap:
        return value.find(key)
    if isinstance(value, list):
        index = _index(key)
        return value[index] if 0 <= index < len(value) else MISSING
    # subclasses compute their values on look-up
    return value.find(key) if isinstance(value, CelMap) else MISSING


def _index(key: Any) -> int:
    if type(key) in (int, Uint):
        return int(key)
    if type(key) is float:
        if key.is_integer():
            return int(key)
        raise CelValueError(f"unsupported index value {shown(key)} in list")
    raise CelValueError(f"unsupported index type '{type_of(key)}' in list")

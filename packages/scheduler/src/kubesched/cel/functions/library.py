"""The implementations of the declared functions: overload ids and function names to Python functions.

A function in `SINGLE_FORMS` has one implementation for all overloads. The rest has one per overload: the checker's
if it resolved the call, otherwise the first whose parameters match the arguments.
"""

from collections.abc import Callable
from typing import Any, Final

from kubesched.cel import messages, values
from kubesched.cel.declarations import FORMAT_NAMES, FUNCTIONS
from kubesched.cel.errors import CelValueError
from kubesched.cel.functions import (
    arithmetic,
    authorization,
    conversions,
    formatting,
    lists,
    named_formats,
    network,
    quantities,
    strings,
    times,
    versions,
)
from kubesched.cel.values import NONE, Duration, Optional, Uint

Implementation = Callable[..., Any]


def _identity(value: Any) -> Any:
    return value


def _value(optional: Optional) -> Any:
    if not optional.present:
        raise CelValueError("optional.none() dereference")
    return optional.value


def _not_strictly_false(value: Any) -> bool:
    return value if type(value) is bool else True


def _every(function: str, implementation: Implementation) -> dict[str, Implementation]:
    """Return one implementation for all overloads of a function."""
    return {overload.id: implementation for overload in FUNCTIONS[function].overloads}


_SUMS: Final = {"int": 0, "uint": Uint(0), "double": 0.0, "duration": Duration(0)}

# functions that narrow a check down -> the field they set
_NARROWING: Final = {
    "subresource": "subresource",
    "namespace": "namespace",
    "name": "name",
    "fieldSelector": "field_selector",
    "labelSelector": "label_selector",
}

# One form for all overloads.
SINGLE_FORMS: Final[dict[str, Implementation]] = {
    "!_": arithmetic.logical_not,
    "_==_": values.equal,
    "_+_": arithmetic.add,
    "_-_": arithmetic.subtract,
    "_*_": arithmetic.multiply,
    "_/_": arithmetic.divide,
    "_%_": arithmetic.modulo,
    "-_": arithmetic.negate,
    "_<_": arithmetic.less,
    "_<=_": arithmetic.less_equals,
    "_>_": arithmetic.greater,
    "_>=_": arithmetic.greater_equals,
    "@in": arithmetic.contained,
    "size": arithmetic.size,
    "type": conversions.to_type,
    "dyn": _identity,
    "matches": strings.matches,
    # these check their arguments themselves, with shorter errors
    "contains": strings.contains,
    "startsWith": strings.starts_with,
    "endsWith": strings.ends_with,
    "sort": lists.sort,
    "@sortByAssociatedKeys": lists.sort_by_keys,
    "flatten": lists.flatten,
    "includes": lists.includes,
}

# A form per overload.
OVERLOADS: Final[dict[str, Implementation]] = {
    "not_strictly_false": _not_strictly_false,
    **_every("bool", conversions.to_bool),
    **_every("bytes", conversions.to_bytes),
    **_every("double", conversions.to_double),
    **_every("duration", conversions.to_duration),
    **_every("int", conversions.to_int),
    **_every("string", conversions.to_string),
    **_every("timestamp", conversions.to_timestamp),
    **_every("uint", conversions.to_uint),
    **{
        f"timestamp_to_{part}{suffix}": times.timestamp_part(part)
        for part in times.TIME_PARTS
        for suffix in ("", "_with_tz")
    },
    **{f"duration_to_{part}": times.duration_part(part) for part in times.DURATION_PARTS},
    # texts
    **_every("find", strings.find),
    **_every("findAll", strings.find_all),
    **_every("charAt", strings.char_at),
    "list_a_index_of_int": lists.index_of,
    "string_index_of_string": strings.index_of,
    "string_index_of_string_int": strings.index_of,
    "list_a_last_index_of_int": lists.last_index_of,
    "string_last_index_of_string": strings.last_index_of,
    "string_last_index_of_string_int": strings.last_index_of,
    **_every("lowerAscii", strings.lower_ascii),
    **_every("upperAscii", strings.upper_ascii),
    **_every("trim", strings.trim),
    **_every("replace", strings.replace),
    **_every("split", strings.split),
    **_every("substring", strings.substring),
    **_every("join", strings.join),
    **_every("format", formatting.format_text),
    **_every("strings.quote", strings.quote),
    **_every("jsonpatch.escapeKey", messages.escaped_key),
    # lists
    **_every("isSorted", lists.is_sorted),
    **{f"list_{name}_sum_{name}": lists.total(zero) for name, zero in _SUMS.items()},
    **_every("max", lists.extreme("max", -1)),
    **_every("min", lists.extreme("min", 1)),
    **_every("slice", lists.slice_of),
    **_every("lists.range", lists.numbers_below),
    **_every("reverse", lists.reverse),
    **_every("distinct", lists.distinct),
    **_every("sets.contains", lists.contains_all),
    **_every("sets.equivalent", lists.equivalent),
    **_every("sets.intersects", lists.intersects),
    "@mapInsert_map_key_value": lists.insert,
    "@mapInsert_map_map": lists.insert_all,
    # optional values
    **_every("optional.of", Optional),
    **_every("optional.ofNonZeroValue", lists.non_zero),
    **_every("optional.none", lambda: NONE),
    **_every("value", _value),
    **_every("hasValue", lambda optional: optional.present),
    **_every("first", lists.first),
    **_every("last", lists.last),
    **_every("optional.unwrap", lists.unwrap),
    **_every("unwrapOpt", lists.unwrap),
    # quantities and versions
    **_every("quantity", quantities.to_quantity),
    **_every("isQuantity", quantities.is_quantity),
    **_every("sign", quantities.sign),
    "quantity_is_greater_than": lambda left, right: quantities.compare_quantities(left, right) > 0,
    "quantity_is_less_than": lambda left, right: quantities.compare_quantities(left, right) < 0,
    "quantity_compare_to": quantities.compare_quantities,
    **_every("asApproximateFloat", quantities.as_double),
    **_every("asInteger", quantities.as_integer),
    **_every("isInteger", quantities.is_integer),
    **_every("add", quantities.plus),
    **_every("sub", quantities.minus),
    **_every("semver", versions.to_version),
    **_every("isSemver", versions.is_version),
    "semver_is_greater_than": lambda left, right: versions.compare_versions(left, right) > 0,
    "semver_is_less_than": lambda left, right: versions.compare_versions(left, right) < 0,
    "semver_compare_to": versions.compare_versions,
    **_every("major", versions.part_of(0)),
    **_every("minor", versions.part_of(1)),
    **_every("patch", versions.part_of(2)),
    # networks
    **_every("url", network.to_url),
    **_every("isURL", network.is_url),
    **_every("getScheme", network.scheme_of),
    **_every("getHost", network.host_of),
    **_every("getHostname", network.hostname_of),
    **_every("getPort", network.port_of),
    **_every("getEscapedPath", network.escaped_path_of),
    **_every("getQuery", network.query_of),
    "string_to_ip": network.to_ip,
    "cidr_ip": network.cidr_ip,
    **_every("family", network.family),
    **_every("ip.isCanonical", network.is_canonical),
    **_every("isUnspecified", network.is_unspecified),
    **_every("isLoopback", network.is_loopback),
    **_every("isLinkLocalMulticast", network.is_link_local_multicast),
    **_every("isLinkLocalUnicast", network.is_link_local_unicast),
    **_every("isGlobalUnicast", network.is_global_unicast),
    **_every("isIP", network.is_ip),
    **_every("cidr", network.to_cidr),
    **_every("containsIP", network.contains_ip),
    **_every("containsCIDR", network.contains_cidr),
    **_every("prefixLength", network.prefix_length),
    **_every("masked", network.masked),
    **_every("isCIDR", network.is_cidr),
    # authorization
    **_every("path", authorization.for_path),
    **_every("group", authorization.for_group),
    **_every("serviceAccount", authorization.for_account),
    **_every("resource", authorization.for_resource),
    **{
        overload: narrowed
        for function, field in _NARROWING.items()
        for overload, narrowed in _every(function, authorization.narrowed_by(field)).items()
    },
    **_every("check", authorization.decided),
    **_every("allowed", lambda decision: decision.held.allowed),
    **_every("reason", lambda decision: decision.held.reason),
    **_every("errored", lambda decision: bool(decision.held.error)),
    **_every("error", lambda decision: decision.held.error),
    # formats
    **_every("validate", named_formats.validate),
    **_every("format.named", named_formats.named),
    **{f"format.{name}": (lambda name=name: named_formats.format_of(name)) for name in FORMAT_NAMES},
}

# Functions that are folded into a constant if their arguments are constants, beside conversions: they are pure.
PURE: Final = frozenset({"quantity", "isQuantity", "semver", "isSemver"})
CONVERSIONS: Final = frozenset(
    {"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"}
)

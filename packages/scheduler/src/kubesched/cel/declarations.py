"""The functions that a device selector may call: names, overloads, signatures.

From the tables below to `Function`s, which the checker resolves calls against and the planner dispatches through. A
signature is `id (arguments) -> result`, or `id target.(arguments) -> result` for a member function. The libraries are
the ones of Kubernetes' base environment for stored expressions, which has all of them under any gates.
"""

# upstream: apiserver/pkg/cel/environment/base.go, library/*.go, dynamic-resource-allocation/cel/compile.go (v1.36);
# upstream: cel-go common/stdlib/standard.go, cel/library.go, ext/*.go (v0.26)

from typing import Final, NamedTuple

from kubesched.cel.types import Type, parse_type, split_types


class Overload(NamedTuple):
    """One signature of a function; a member's first argument is its target."""

    id: str
    member: bool
    arguments: tuple[Type, ...]
    result: Type
    parameters: tuple[Type, ...]


class Function(NamedTuple):
    """A function with its overloads, in the order in which they are tried."""

    name: str
    overloads: tuple[Overload, ...]


_COMPARED: Final = (
    ("bool", "bool"),
    ("int", "int"),
    ("int", "double"),
    ("int", "uint"),
    ("uint", "uint"),
    ("uint", "double"),
    ("uint", "int"),
    ("double", "double"),
    ("double", "int"),
    ("double", "uint"),
    ("string", "string"),
    ("bytes", "bytes"),
    ("timestamp", "timestamp"),
    ("duration", "duration"),
)
_IDS: Final = {"int": "int64", "uint": "uint64"}


def _comparisons(name: str) -> str:
    """Return the overloads of an order operator."""
    lines = []
    for left, right in _COMPARED:
        ids = [_IDS.get(left, left)] if left == right else [_IDS.get(left, left), _IDS.get(right, right)]
        lines.append(f"{'_'.join([name, *ids])} ({left}, {right}) -> bool")
    return "\n".join(lines)


# The reference's lists of types that can be ordered and summed, in its order.
_ORDERED: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_SUMMED: Final = ("int", "uint", "double", "duration")


def _per_type(pattern: str, names: tuple[str, ...] = _ORDERED) -> str:
    """Return one overload per type."""
    return "\n".join(pattern.replace("$", name) for name in names)


_ARITHMETIC: Final = {
    "_?_:_": "conditional (bool, A, A) -> A",
    "_&&_": "logical_and (bool, bool) -> bool",
    "_||_": "logical_or (bool, bool) -> bool",
    "!_": "logical_not (bool) -> bool",
    "@not_strictly_false": "not_strictly_false (bool) -> bool",
    "_==_": "equals (A, A) -> bool",
    "_!=_": "not_equals (A, A) -> bool",
    "_+_": """
        add_bytes (bytes, bytes) -> bytes
        add_double (double, double) -> double
        add_duration_duration (duration, duration) -> duration
        add_duration_timestamp (duration, timestamp) -> timestamp
        add_timestamp_duration (timestamp, duration) -> timestamp
        add_int64 (int, int) -> int
        add_list (list(A), list(A)) -> list(A)
        add_string (string, string) -> string
        add_uint64 (uint, uint) -> uint""",
    "_/_": """
        divide_double (double, double) -> double
        divide_int64 (int, int) -> int
        divide_uint64 (uint, uint) -> uint""",
    "_%_": """
        modulo_int64 (int, int) -> int
        modulo_uint64 (uint, uint) -> uint""",
    "_*_": """
        multiply_double (double, double) -> double
        multiply_int64 (int, int) -> int
        multiply_uint64 (uint, uint) -> uint""",
    "-_": """
        negate_double (double) -> double
        negate_int64 (int) -> int""",
    "_-_": """
        subtract_double (double, double) -> double
        subtract_duration_duration (duration, duration) -> duration
        subtract_int64 (int, int) -> int
        subtract_timestamp_duration (timestamp, duration) -> timestamp
        subtract_timestamp_timestamp (timestamp, timestamp) -> duration
        subtract_uint64 (uint, uint) -> uint""",
    "_<_": _comparisons("less"),
    "_<=_": _comparisons("less_equals"),
    "_>_": _comparisons("greater"),
    "_>=_": _comparisons("greater_equals"),
    "_[_]": """
        index_list (list(A), int) -> A
        index_map (map(A, B), A) -> B
        optional_list_index_int (optional(list(V)), int) -> optional(V)
        optional_map_index_value (optional(map(K, V)), K) -> optional(V)""",
    "@in": """
        in_list (A, list(A)) -> bool
        in_map (A, map(A, B)) -> bool""",
    "size": """
        size_bytes (bytes) -> int
        bytes_size bytes.() -> int
        size_list (list(A)) -> int
        list_size list(A).() -> int
        size_map (map(A, B)) -> int
        map_size map(A, B).() -> int
        size_string (string) -> int
        string_size string.() -> int""",
}

_CONVERSIONS: Final = {
    "type": "type (A) -> type(A)",
    "bool": """
        bool_to_bool (bool) -> bool
        string_to_bool (string) -> bool""",
    "bytes": """
        bytes_to_bytes (bytes) -> bytes
        string_to_bytes (string) -> bytes""",
    "double": """
        double_to_double (double) -> double
        int64_to_double (int) -> double
        string_to_double (string) -> double
        uint64_to_double (uint) -> double""",
    "duration": """
        duration_to_duration (duration) -> duration
        int64_to_duration (int) -> duration
        string_to_duration (string) -> duration""",
    "dyn": "to_dyn (A) -> dyn",
    "int": """
        int64_to_int64 (int) -> int
        double_to_int64 (double) -> int
        duration_to_int64 (duration) -> int
        string_to_int64 (string) -> int
        timestamp_to_int64 (timestamp) -> int
        uint64_to_int64 (uint) -> int""",
    "string": """
        string_to_string (string) -> string
        bool_to_string (bool) -> string
        bytes_to_string (bytes) -> string
        double_to_string (double) -> string
        duration_to_string (duration) -> string
        int64_to_string (int) -> string
        timestamp_to_string (timestamp) -> string
        uint64_to_string (uint) -> string
        ip_to_string (IP) -> string
        cidr_to_string (CIDR) -> string""",
    "timestamp": """
        timestamp_to_timestamp (timestamp) -> timestamp
        int64_to_timestamp (int) -> timestamp
        string_to_timestamp (string) -> timestamp""",
    "uint": """
        uint64_to_uint64 (uint) -> uint
        double_to_uint64 (double) -> uint
        int64_to_uint64 (int) -> uint
        string_to_uint64 (string) -> uint""",
}


def _time_part(part: str, *, of_duration: bool = False) -> str:
    """Return the overloads of a function that reads part of a time."""
    lines = [f"timestamp_to_{part} timestamp.() -> int", f"timestamp_to_{part}_with_tz timestamp.(string) -> int"]
    return "\n".join([*lines, f"duration_to_{part} duration.() -> int"] if of_duration else lines)


_TIMES: Final = {
    "getFullYear": _time_part("year"),
    "getMonth": _time_part("month"),
    "getDayOfYear": _time_part("day_of_year"),
    "getDayOfMonth": _time_part("day_of_month"),
    "getDate": _time_part("day_of_month_1_based"),
    "getDayOfWeek": _time_part("day_of_week"),
    "getHours": _time_part("hours", of_duration=True),
    "getMinutes": _time_part("minutes", of_duration=True),
    "getSeconds": _time_part("seconds", of_duration=True),
    "getMilliseconds": _time_part("milliseconds", of_duration=True),
}

_STRINGS: Final = {
    "contains": "contains_string string.(string) -> bool",
    "endsWith": "ends_with_string string.(string) -> bool",
    "startsWith": "starts_with_string string.(string) -> bool",
    "matches": """
        matches (string, string) -> bool
        matches_string string.(string) -> bool""",
    "find": "string_find_string string.(string) -> string",
    "findAll": """
        string_find_all_string string.(string) -> list(string)
        string_find_all_string_int string.(string, int) -> list(string)""",
    "charAt": "string_char_at_int string.(int) -> string",
    "indexOf": """
        list_a_index_of_int list(A).(A) -> int
        string_index_of_string string.(string) -> int
        string_index_of_string_int string.(string, int) -> int""",
    "lastIndexOf": """
        list_a_last_index_of_int list(A).(A) -> int
        string_last_index_of_string string.(string) -> int
        string_last_index_of_string_int string.(string, int) -> int""",
    "lowerAscii": "string_lower_ascii string.() -> string",
    "upperAscii": "string_upper_ascii string.() -> string",
    "trim": "string_trim string.() -> string",
    "replace": """
        string_replace_string_string string.(string, string) -> string
        string_replace_string_string_int string.(string, string, int) -> string""",
    "split": """
        string_split_string string.(string) -> list(string)
        string_split_string_int string.(string, int) -> list(string)""",
    "substring": """
        string_substring_int string.(int) -> string
        string_substring_int_int string.(int, int) -> string""",
    "join": """
        list_join list(string).() -> string
        list_join_string list(string).(string) -> string""",
    "format": "string_format string.(list(dyn)) -> string",
    "strings.quote": "strings_quote (string) -> string",
    "jsonpatch.escapeKey": "string_jsonpatch_escapeKey_string (string) -> string",
}

_LISTS: Final = {
    "isSorted": _per_type("list_$_is_sorted_bool list($).() -> bool"),
    "sum": _per_type("list_$_sum_$ list($).() -> $", _SUMMED),
    "max": _per_type("list_$_max_$ list($).() -> $"),
    "min": _per_type("list_$_min_$ list($).() -> $"),
    "slice": "list_slice list(T).(int, int) -> list(T)",
    "flatten": """
        list_flatten list(list(T)).() -> list(T)
        list_flatten_int list(dyn).(int) -> list(dyn)""",
    "sort": _per_type("list_$_sort list($).() -> list($)"),
    "@sortByAssociatedKeys": _per_type("list_$_sortByAssociatedKeys list(T).(list($)) -> list(T)"),
    "lists.range": "lists_range (int) -> list(int)",
    "reverse": "list_reverse list(T).() -> list(T)",
    "distinct": "list_distinct list(T).() -> list(T)",
    "sets.contains": "list_sets_contains_list (list(T), list(T)) -> bool",
    "sets.equivalent": "list_sets_equivalent_list (list(T), list(T)) -> bool",
    "sets.intersects": "list_sets_intersects_list (list(T), list(T)) -> bool",
    "cel.@mapInsert": """
        @mapInsert_map_key_value (map(K, V), K, V) -> map(K, V)
        @mapInsert_map_map (map(K, V), map(K, V)) -> map(K, V)""",
}

_OPTIONALS: Final = {
    "optional.of": "optional_of (V) -> optional(V)",
    "optional.ofNonZeroValue": "optional_ofNonZeroValue (V) -> optional(V)",
    "optional.none": "optional_none () -> optional(V)",
    "value": "optional_value optional(V).() -> V",
    "hasValue": "optional_hasValue optional(V).() -> bool",
    "or": "optional_or_optional optional(V).(optional(V)) -> optional(V)",
    "orValue": "optional_orValue_value optional(V).(V) -> V",
    "_?._": "select_optional_field (dyn, string) -> optional(V)",
    "_[?_]": """
        list_optindex_optional_int (list(V), int) -> optional(V)
        optional_list_optindex_optional_int (optional(list(V)), int) -> optional(V)
        map_optindex_optional_value (map(K, V), K) -> optional(V)
        optional_map_optindex_optional_value (optional(map(K, V)), K) -> optional(V)""",
    "last": "list_last list(V).() -> optional(V)",
    "first": "list_first list(V).() -> optional(V)",
    "optional.unwrap": "optional_unwrap (list(optional(V))) -> list(V)",
    "unwrapOpt": "optional_unwrapOpt list(optional(V)).() -> list(V)",
}

_KUBERNETES: Final = {
    "quantity": "string_to_quantity (string) -> Quantity",
    "isQuantity": "is_quantity_string (string) -> bool",
    "sign": "quantity_sign (Quantity) -> int",
    "isGreaterThan": """
        quantity_is_greater_than Quantity.(Quantity) -> bool
        semver_is_greater_than Semver.(Semver) -> bool""",
    "isLessThan": """
        quantity_is_less_than Quantity.(Quantity) -> bool
        semver_is_less_than Semver.(Semver) -> bool""",
    "compareTo": """
        quantity_compare_to Quantity.(Quantity) -> int
        semver_compare_to Semver.(Semver) -> int""",
    "asApproximateFloat": "quantity_get_float Quantity.() -> double",
    "asInteger": "quantity_get_int Quantity.() -> int",
    "isInteger": "quantity_is_integer Quantity.() -> bool",
    "add": """
        quantity_add Quantity.(Quantity) -> Quantity
        quantity_add_int Quantity.(int) -> Quantity""",
    "sub": """
        quantity_sub Quantity.(Quantity) -> Quantity
        quantity_sub_int Quantity.(int) -> Quantity""",
    "semver": """
        string_to_semver (string) -> Semver
        string_bool_to_semver (string, bool) -> Semver""",
    "isSemver": """
        is_semver_string (string) -> bool
        is_semver_string_bool (string, bool) -> bool""",
    "major": "semver_major Semver.() -> int",
    "minor": "semver_minor Semver.() -> int",
    "patch": "semver_patch Semver.() -> int",
    "includes": "dra_includes_dyn_dyn dyn.(dyn) -> bool",
}

_NETWORK: Final = {
    "url": "string_to_url (string) -> URL",
    "isURL": "is_url_string (string) -> bool",
    "getScheme": "url_get_scheme URL.() -> string",
    "getHost": "url_get_host URL.() -> string",
    "getHostname": "url_get_hostname URL.() -> string",
    "getPort": "url_get_port URL.() -> string",
    "getEscapedPath": "url_get_escaped_path URL.() -> string",
    "getQuery": "url_get_query URL.() -> map(string, list(string))",
    "ip": """
        string_to_ip (string) -> IP
        cidr_ip CIDR.() -> IP""",
    "family": "ip_family IP.() -> int",
    "ip.isCanonical": "ip_is_canonical (string) -> bool",
    "isUnspecified": "ip_is_unspecified IP.() -> bool",
    "isLoopback": "ip_is_loopback IP.() -> bool",
    "isLinkLocalMulticast": "ip_is_link_local_multicast IP.() -> bool",
    "isLinkLocalUnicast": "ip_is_link_local_unicast IP.() -> bool",
    "isGlobalUnicast": "ip_is_global_unicast IP.() -> bool",
    "isIP": "is_ip (string) -> bool",
    "cidr": "string_to_cidr (string) -> CIDR",
    "containsIP": """
        cidr_contains_ip_string CIDR.(string) -> bool
        cidr_contains_ip_ip CIDR.(IP) -> bool""",
    "containsCIDR": """
        cidr_contains_cidr_string CIDR.(string) -> bool
        cidr_contains_cidr CIDR.(CIDR) -> bool""",
    "prefixLength": "cidr_prefix_length CIDR.() -> int",
    "masked": "cidr_masked CIDR.() -> CIDR",
    "isCIDR": "is_cidr (string) -> bool",
}

FORMAT_NAMES: Final = (
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
)
_FORMATS: Final = {
    "validate": "format-validate NamedFormat.(string) -> optional(list(string))",
    "format.named": "format-named (string) -> optional(NamedFormat)",
    **{f"format.{name}": f"format.{name} () -> NamedFormat" for name in FORMAT_NAMES},
}

# Only policies have values to call these on.
_AUTHORIZATION: Final = {
    "path": "authorizer_path Authorizer.(string) -> PathCheck",
    "group": "authorizer_group Authorizer.(string) -> GroupCheck",
    "serviceAccount": "authorizer_serviceaccount Authorizer.(string, string) -> Authorizer",
    "resource": "groupcheck_resource GroupCheck.(string) -> ResourceCheck",
    "subresource": "resourcecheck_subresource ResourceCheck.(string) -> ResourceCheck",
    "namespace": "resourcecheck_namespace ResourceCheck.(string) -> ResourceCheck",
    "name": "resourcecheck_name ResourceCheck.(string) -> ResourceCheck",
    "check": """
        pathcheck_check PathCheck.(string) -> Decision
        resourcecheck_check ResourceCheck.(string) -> Decision""",
    "errored": "decision_errored Decision.() -> bool",
    "error": "decision_error Decision.() -> string",
    "allowed": "decision_allowed Decision.() -> bool",
    "reason": "decision_reason Decision.() -> string",
    "fieldSelector": "authorizer_fieldselector ResourceCheck.(string) -> ResourceCheck",
    "labelSelector": "authorizer_labelselector ResourceCheck.(string) -> ResourceCheck",
}


def _overload(line: str) -> Overload:
    """Return the overload that a line declares."""
    identifier, _, signature = line.strip().partition(" ")
    left, _, result = signature.rpartition(" -> ")
    # the last group in brackets holds the arguments; the target comes before it and a dot
    start = _opening_bracket(left)
    target = left[:start].rstrip(".")
    texts = [*([target] if target else []), *split_types(left[start + 1 : -1])]
    arguments = tuple(map(parse_type, texts))
    found: dict[Type, None] = {}
    for each in (parse_type(result), *arguments):
        _collect_parameters(each, found)
    return Overload(identifier, bool(target), arguments, parse_type(result), tuple(found))


def _opening_bracket(text: str) -> int:
    depth = 0
    for position in range(len(text) - 1, -1, -1):
        depth += (text[position] == ")") - (text[position] == "(")
        if depth == 0:
            return position
    raise AssertionError(text)


def _collect_parameters(described: Type, found: dict[Type, None]) -> None:
    if described.kind == "param":
        found[described] = None
    for each in described.parameters:
        _collect_parameters(each, found)


FUNCTIONS: Final[dict[str, Function]] = {
    name: Function(name, tuple(_overload(line) for line in lines.strip().splitlines()))
    for table in (
        _ARITHMETIC,
        _CONVERSIONS,
        _TIMES,
        _STRINGS,
        _LISTS,
        _OPTIONALS,
        _KUBERNETES,
        _NETWORK,
        _FORMATS,
        _AUTHORIZATION,
    )
    for name, lines in table.items()
}

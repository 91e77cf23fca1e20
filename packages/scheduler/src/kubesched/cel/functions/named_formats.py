"""Named formats of texts: `format.dns1123Label().validate('x')`."""

# upstream: apiserver/pkg/cel/library/format.go, apimachinery/pkg/util/validation (v1.36), kube-openapi strfmt

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Final, NamedTuple

from kubesched.api.labels import label_key_problems, label_value_problems, subdomain_problems
from kubesched.cel import types
from kubesched.cel.functions.network import Url, parse_request_uri
from kubesched.cel.values import NONE, Opaque, Optional

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_1035: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_LABEL_RULE: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with"
    f" an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)
_LABEL_1035_RULE: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character,"
    " and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is"
    f" '{_LABEL_1035}')"
)
_UUID: Final = re.compile("[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME: Final = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))")

Validate = Callable[[str], Sequence[str]]


class NamedFormat(NamedTuple):
    """A format: its name, its validation, and the length of the pattern that its cost is computed from."""

    name: str
    validate: Validate
    pattern_length: int


def _too_long(text: str) -> list[str]:
    return ["must be no more than 63 bytes"] if len(text.encode()) > 63 else []


def _label_problems(text: str) -> list[str]:
    problems = _too_long(text)
    if not re.fullmatch(_LABEL, text):
        dotted = not subdomain_problems(text[:253])
        problems.append("must not contain dots" if dotted else _LABEL_RULE)
    return problems


def label_1035_problems(text: str) -> list[str]:
    """Return the problems of a text as an RFC 1035 label."""
    return [*_too_long(text), *([] if re.fullmatch(_LABEL_1035, text) else [_LABEL_1035_RULE])]


def _of_prefix(validate: Validate) -> Validate:
    """Return the validation of a name prefix, to which a suffix will be appended."""

    def apply(text: str) -> Sequence[str]:
        # the reference masks the last two characters, not the dash alone
        return validate(text[:-2] + "a" if len(text) > 1 and text.endswith("-") else text)

    return apply


def _uri_problems(text: str) -> list[str]:
    found = parse_request_uri(text)
    return [] if isinstance(found, Url) else [found]


def _unless(valid: Callable[[str], bool], problem: str) -> Validate:
    return lambda text: [] if valid(text) else [problem]


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    try:
        # year 0 is a leap year, as year 4 is
        return found is not None and bool(date(int(found[1]) or 4, int(found[2]), int(found[3])))
    except ValueError:
        return False


def _is_datetime(text: str) -> bool:
    parts = text.lower().split("t")
    if len(text) < 4 or len(parts) < 2 or not _is_date(parts[0]):
        return False
    found = _TIME.fullmatch(parts[1])
    return found is not None and found[1] <= "23" and found[2] <= "59" and found[3] <= "59"


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


_FORMATS: Final[dict[str, NamedFormat]] = {
    "dns1123Label": NamedFormat("DNS1123Label", _label_problems, 30),
    "dns1123Subdomain": NamedFormat("DNS1123Subdomain", subdomain_problems, 60),
    "dns1035Label": NamedFormat("DNS1035Label", label_1035_problems, 30),
    "qualifiedName": NamedFormat("QualifiedName", label_key_problems, 60),
    "dns1123LabelPrefix": NamedFormat("DNS1123LabelPrefix", _of_prefix(_label_problems), 30),
    "dns1123SubdomainPrefix": NamedFormat("DNS1123SubdomainPrefix", _of_prefix(subdomain_problems), 60),
    "dns1035LabelPrefix": NamedFormat("DNS1035LabelPrefix", _of_prefix(label_1035_problems), 30),
    "labelValue": NamedFormat("LabelValue", label_value_problems, 40),
    "uri": NamedFormat("URI", _uri_problems, 1103),
    "uuid": NamedFormat(
        "uuid", _unless(lambda text: bool(_UUID.fullmatch(text)), "does not match the UUID format"), 82
    ),
    "byte": NamedFormat("byte", _unless(_is_base64, "invalid base64"), 84),
    "date": NamedFormat("date", _unless(_is_date, "invalid date"), 73),
    "datetime": NamedFormat("datetime", _unless(_is_datetime, "invalid datetime"), 73),
}


def format_of(name: str) -> Opaque:
    """Return the format of a known name."""
    held = _FORMATS[name]
    return Opaque(types.NAMED_FORMAT, held, held.name)


def named(name: str) -> Optional:
    """Return the format of a name, absent if it is unknown."""
    return Optional(format_of(name)) if name in _FORMATS else NONE


def validate(form: Opaque, text: str) -> Optional:
    """Return the problems of a text, absent if there are none."""
    problems = list(form.held.validate(text))
    return Optional(problems) if problems else NONE

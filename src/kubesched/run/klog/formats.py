"""Log lines as Kubernetes components write them: klog's text, and JSON.

From a severity, a message and keys with values to one line. Pure functions. Values that are API objects are shown by
name only, so that nothing of their contents gets into a log.
"""

# upstream: klog/v2/internal/{buffer,serialize}, component-base/logs/json/json.go (v1.36)

from collections.abc import Callable, Mapping, Set
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from kubesched.api.go_text import quote, to_json
from kubesched.api.meta import ApiObject
from kubesched.core.cluster.pod_info import PodInfo

INFO, WARNING, ERROR = "I", "W", "E"


class Entry(NamedTuple):
    """What is to be logged: `folder/file`, `line` say from where, `level` how verbose one has to be to see it."""

    severity: str
    level: int
    message: str
    values: Mapping[str, Any]
    error: str | None
    file: str
    line: int
    moment: datetime


Format = Callable[[Entry, int], str]


def text_line(entry: Entry, pid: int) -> str:
    """Return an entry in klog's format, line feed included."""
    moment = entry.moment
    header = f"{entry.severity}{moment:%m%d %H:%M:%S}.{moment.microsecond:06d} {pid:7d} "
    where = entry.file.rpartition("/")[2]
    error = {} if entry.error is None else {"err": entry.error}
    pairs = "".join(f" {key}{_text_value(value)}" for key, value in {**error, **entry.values}.items())
    return f"{header}{where}:{entry.line}] {quote(entry.message)}{pairs}\n"


def json_line(entry: Entry, pid: int) -> str:
    """Return an entry as JSON, line feed included."""
    fields: dict[str, Any] = {"ts": entry.moment.timestamp() * 1000.0}
    values = dict(entry.values)
    if "logger" in values:
        fields["logger"] = values.pop("logger")
    fields |= {"caller": f"{entry.file}:{entry.line}", "msg": entry.message}
    if entry.severity != ERROR:
        fields["v"] = entry.level
    for key, value in values.items():
        fields[key] = _json_value(value)
    if entry.error is not None:
        fields["err"] = entry.error
    return msgspec.json.encode(fields).decode() + "\n"


def _text_value(value: Any) -> str:
    if isinstance(value, (PodInfo, ApiObject)):
        return f"={quote(value.full_name)}"
    if isinstance(value, str):
        return _lines(value) if "\n" in value else f"={quote(value)}"
    if isinstance(value, BaseException):
        return _text_value(str(value))
    return f"={to_json(_plain(value))}"


def _lines(text: str) -> str:
    """Return a text of several lines, set off from what follows."""
    body = "".join(f"\t{line}\n" for line in text.removesuffix("\n").split("\n"))
    return f"=<\n{body} >"


def _json_value(value: Any) -> Any:
    if isinstance(value, (PodInfo, ApiObject)):
        return {"name": value.name, "namespace": value.namespace} if value.namespace else {"name": value.name}
    return str(value) if isinstance(value, BaseException) else _plain(value)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; sets are written as Go's are."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Set):
        return {member: {} for member in sorted(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return str(value)

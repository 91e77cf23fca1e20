"""Log lines in the formats of Kubernetes components: klog's text and JSON, as formatters of standard `logging`.

    LogRecord ──▶ Entry (severity, verbosity, message, keys and values) ──▶ one line

API objects are written by name only, so that nothing of their contents gets into a log. Credentials are hidden in
warnings, errors, and all records of other loggers than the scheduler's.
"""

# upstream: klog/v2/internal/{buffer,serialize}, component-base/logs/json/json.go (v1.36)

import logging
import traceback
from collections.abc import Callable, Mapping, Set
from datetime import datetime
from functools import partial
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec

from kubesched.api.go_text import quote, to_json
from kubesched.api.meta import ApiObject
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.run.klog.secrets import without_secrets

INFO, WARNING, ERROR = "I", "W", "E"
# the attribute of a record with the values and the error of the scheduler's own messages
KLOG_VALUES = "klog_values"
# klog's verbosity of logging.DEBUG, as klog has it for slog's
DEBUG_VERBOSITY = 4
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class LogEntry(NamedTuple):
    """A message for the log: `file` (`folder/name`) and `line` are its caller's, `level` is its verbosity."""

    severity: str
    level: int
    message: str
    values: Mapping[str, Any]
    error: str | None
    file: str
    line: int
    moment: datetime


Format = Callable[[LogEntry, int], str]


# -- levels


def level_of(verbosity: int) -> int:
    """Return the level of `logging` that stands for a verbosity of klog."""
    if verbosity < DEBUG_VERBOSITY:
        return logging.INFO - verbosity
    return max(1, logging.DEBUG - (verbosity - DEBUG_VERBOSITY))


def lowest_level_of(verbosity: int) -> int:
    """Return the lowest level of `logging` that is written at a verbosity."""
    return logging.DEBUG + 1 if verbosity == DEBUG_VERBOSITY - 1 else level_of(verbosity)


def verbosity_of(level: int) -> int:
    """Return the verbosity at which records of a level are written."""
    if level > logging.DEBUG:
        return min(max(0, logging.INFO - level), DEBUG_VERBOSITY - 1)
    return DEBUG_VERBOSITY + logging.DEBUG - level


def _severity(level: int) -> str:
    return ERROR if level >= logging.ERROR else WARNING if level >= logging.WARNING else INFO


# -- records


class KlogFormatter(logging.Formatter):
    """Formats a record as a line, line feed included."""

    def __init__(self, line: Format) -> None:
        super().__init__()
        self._line = line

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        return self._line(entry_of(record, self.moment(record)), record.process or 0)

    def moment(self, record: logging.LogRecord) -> datetime:
        """Return when a record was made."""
        return datetime.fromtimestamp(record.created)


def entry_of(record: logging.LogRecord, moment: datetime) -> LogEntry:
    """Return the entry of a record; secrets are hidden in warnings, errors and records of other loggers."""
    own = getattr(record, KLOG_VALUES, None)
    message, (values, error) = _message(record), own if own is not None else _foreign_values(record)
    if own is None or record.levelno >= logging.WARNING:
        message, error = without_secrets(message), None if error is None else without_secrets(error)
    path = PurePath(record.pathname)
    severity, verbosity = _severity(record.levelno), verbosity_of(record.levelno)
    return LogEntry(
        severity, verbosity, message, values, error, f"{path.parent.name}/{path.name}", record.lineno, moment
    )


def _message(record: logging.LogRecord) -> str:
    """Return the message of a record, with its arguments even if they do not match the format."""
    try:
        return record.getMessage()
    except Exception:
        return f"{record.msg} {record.args}"


def _foreign_values(record: logging.LogRecord) -> tuple[dict[str, Any], str | None]:
    """Return the values of another logger's record: its name, `extra` and traceback; and the error, if there is one."""
    extra = {key: _hidden(value) for key, value in vars(record).items() if key not in _STANDARD}
    values = extra if record.name == "root" else {"logger": record.name, **extra}
    raised = record.exc_info[1] if record.exc_info else None
    if raised is None:
        return values, None
    lines = "".join(traceback.format_exception(raised))
    return {**values, "traceback": without_secrets(lines)}, f"{type(raised).__name__}: {raised}"


def _hidden(value: Any) -> Any:
    """Return a value of another logger without secrets."""
    if isinstance(value, (PodInfo, ApiObject, bool, int, float)) or value is None:
        return value
    return without_secrets(str(value))


# -- lines


def text_line(entry: LogEntry, pid: int) -> str:
    """Return an entry in klog's format, line feed included."""
    moment = entry.moment
    header = f"{entry.severity}{moment:%m%d %H:%M:%S}.{moment.microsecond:06d} {pid:7d} "
    where = entry.file.rpartition("/")[2]
    error = {} if entry.error is None else {"err": entry.error}
    pairs = "".join(f" {key}{_text_value(value)}" for key, value in {**error, **entry.values}.items())
    return f"{header}{where}:{entry.line}] {quote(entry.message)}{pairs}\n"


def json_line(entry: LogEntry, pid: int) -> str:
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


FORMATTERS: Mapping[str, Callable[[], KlogFormatter]] = {
    "text": partial(KlogFormatter, text_line),
    "json": partial(KlogFormatter, json_line),
}

"""The log: messages with keys and values, as verbose as asked for.

From whoever has something to say to standard error, in klog's text format or as JSON. What is said at a level that
nobody asked for costs a comparison. Texts from elsewhere are searched for secrets, which are never written.
"""

# upstream: component-base/logs/api/v1, klog/v2 (v1.36)

import fnmatch
import os
import re
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import PurePath
from typing import Any, NamedTuple, TextIO

import msgspec

from kubesched.api.quantity import quantity_of
from kubesched.config.feature_gates import FeatureGates
from kubesched.errors import KubeschedError
from kubesched.run.go_flags import Given
from kubesched.run.klog.formats import ERROR, INFO, WARNING, Entry, Format, json_line, text_line
from kubesched.run.klog.writer import LogWriter

FORMATS: Mapping[str, Format] = {"text": text_line, "json": json_line}
VMODULE_SYNTAX = "expect comma-separated list of filename=N"
CLOSE_SECONDS = 2.0
HIDDEN = "[hidden]"
_SECRETS = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), HIDDEN),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"), HIDDEN),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}"), rf"\1 {HIDDEN}"),
    (re.compile(r"://[^/\s:@]+:[^/\s@]+@"), f"://{HIDDEN}@"),
    (
        re.compile(
            r"(?i)\b(password|passwd|(?:[\w-]*[_-])?(?:token|secret|key-data))(['\"]?\s*[=:]\s*)['\"]?[^\s'\",;}]+"
        ),
        rf"\1\2{HIDDEN}",
    ),
)


class LogOptionError(KubeschedError):
    """Logging flags that cannot be honoured."""


class ModuleLevel(NamedTuple):
    """How verbose the files are whose names match a pattern."""

    pattern: str
    level: int


class LogOptions(msgspec.Struct, frozen=True):
    """How to log; with `split` only errors go to standard error, the rest to standard output."""

    format: str = "text"
    verbosity: int = 0
    modules: tuple[ModuleLevel, ...] = ()
    split: bool = False


def read_log_options(flags: Given, gates: FeatureGates) -> LogOptions:
    """Return what the logging flags amount to; LogOptionError names each that is wrong."""
    chosen = flags["logging-format"]
    problems = []
    if chosen not in FORMATS:
        problems.append(f'--logging-format: "{chosen}" is not supported; use "text" or "json"')
    if flags["log-flush-frequency"].nanoseconds <= 0:
        problems.append("--log-flush-frequency: must be greater than zero")
    if flags["v"] < 0:
        problems.append("-v: must not be negative")
    if flags["vmodule"] and chosen == "json":
        problems.append(
            '--vmodule: only supported for the text log format; leave it out or use --logging-format="text"'
        )
    if chosen == "json" and not gates.enabled("LoggingBetaOptions"):
        problems.append('--logging-format: "json" needs --feature-gates=LoggingBetaOptions=true')
    alpha = gates.enabled("LoggingAlphaOptions")
    for name in FORMATS:
        buffered = flags[f"log-{name}-info-buffer-size"]
        given = {
            f"--log-{name}-split-stream": flags[f"log-{name}-split-stream"],
            f"--log-{name}-info-buffer-size": bool(buffered) and not quantity_of(buffered).is_zero(),
        }
        for flag, used in given.items():
            if used and not alpha:
                problems.append(f"{flag}: needs --feature-gates=LoggingAlphaOptions=true")
    try:
        modules = parse_vmodule(flags["vmodule"])
    except ValueError as error:
        problems.append(f"--vmodule: {error}")
    if problems:
        raise LogOptionError("; ".join(problems))
    return LogOptions(chosen, flags["v"], modules, flags[f"log-{chosen}-split-stream"])


def parse_vmodule(text: str) -> tuple[ModuleLevel, ...]:
    """Return the levels in a text such as `scheduling_queue=5,leading*=4`; ValueError if there is something else."""
    modules = []
    for part in filter(None, text.split(",")):
        pattern, equals, level = part.partition("=")
        if not pattern or not equals or not re.fullmatch(r"-?[0-9]{1,9}", level):
            raise ValueError(f"syntax error in {part!r}: {VMODULE_SYNTAX}")
        if level.startswith("-"):
            raise ValueError(f"negative value for vmodule level in {part!r}")
        modules.append(ModuleLevel(pattern, int(level)))
    return tuple(modules)


def without_secrets(text: str) -> str:
    """Return a text with everything hidden that looks like a credential."""
    for pattern, shown in _SECRETS:
        text = pattern.sub(shown, text)
    return text


class Levels:
    """How verbose the log is, by file; may be changed while the process runs."""

    def __init__(self, options: LogOptions) -> None:
        self.verbosity = options.verbosity
        self._modules = options.modules
        self._level_of: dict[str, int] = {}

    def enabled(self, level: int, depth: int) -> bool:
        """Return whether a level is written as far as the file of a caller is concerned."""
        if level <= self.verbosity or not self._modules:
            return level <= self.verbosity
        file = sys._getframe(depth).f_code.co_filename
        highest = self._level_of.get(file)
        if highest is None:
            stem = PurePath(file).stem
            matching = (module.level for module in self._modules if fnmatch.fnmatchcase(stem, module.pattern))
            highest = self._level_of[file] = next(matching, 0)
        return level <= highest


class Log:
    """Takes messages; `with_values` and `with_name` give logs that say more with each of them."""

    def __init__(
        self,
        options: LogOptions,
        put: Callable[[str], None],
        put_error: Callable[[str], None],
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._format = FORMATS[options.format]
        self.levels = Levels(options)
        self._put = put
        self._put_error = put_error
        self._now = now
        self._pid = os.getpid()
        self._values: dict[str, Any] = {}

    def with_values(self, **values: Any) -> "Log":
        """Return a log that adds these values to each message."""
        made = Log.__new__(Log)
        made.__dict__ = {**self.__dict__, "_values": {**self._values, **values}}
        return made

    def with_name(self, name: str) -> "Log":
        """Return a log under a name, after the names it has already."""
        known = self._values.get("logger")
        return self.with_values(logger=f"{known}.{name}" if known else name)

    def enabled(self, level: int, depth: int = 1) -> bool:
        """Return whether messages of a level are written, as far as the caller's file is concerned."""
        return self.levels.enabled(level, depth + 1)

    def info(self, message: str, /, v: int = 0, **values: Any) -> None:
        """Say something, at a level."""
        if self.enabled(v, 2):
            self._write(INFO, v, message, values, None)

    def warning(self, message: str, /, **values: Any) -> None:
        """Say that something is not as it should be, and goes on all the same."""
        self._write(WARNING, 0, without_secrets(message), values, None)

    def error(self, problem: BaseException | str | None, message: str, /, **values: Any) -> None:
        """Say that something went wrong."""
        shown = None if problem is None else without_secrets(str(problem))
        self._write(ERROR, 0, without_secrets(message), values, shown)

    def _write(self, severity: str, level: int, message: str, values: Mapping[str, Any], problem: str | None) -> None:
        frame = sys._getframe(2)
        path = PurePath(frame.f_code.co_filename)
        place = f"{path.parent.name}/{path.name}"
        everything = {**self._values, **values}
        entry = Entry(severity, level, message, everything, problem, place, frame.f_lineno, self._now())
        (self._put_error if severity == ERROR else self._put)(self._format(entry, self._pid))


class Logs:
    """The log of a process with its writers; `close` it at the end."""

    def __init__(self, options: LogOptions, out: TextIO | None = None, errors: TextIO | None = None) -> None:
        to_errors = LogWriter(errors or sys.stderr)
        self._writers = [to_errors]
        if options.split:
            self._writers.append(LogWriter(out or sys.stdout))
        self.log = Log(options, self._writers[-1].put, to_errors.put)

    def flush(self) -> None:
        """Wait for what was said to be written, but not for long."""
        for writer in self._writers:
            writer.flush(CLOSE_SECONDS)

    def close(self) -> None:
        """Write what is left and end."""
        for writer in self._writers:
            writer.close(CLOSE_SECONDS)

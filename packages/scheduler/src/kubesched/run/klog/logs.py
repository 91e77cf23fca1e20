"""The log of the process, on Python's standard `logging`.

    Log (messages of the scheduler) ────┐
    logging.getLogger("my_plugin") ─────┼──▶ root logger ──▶ KlogHandler ──▶ LogWriter, a thread ──▶ standard error
    loggers of libraries ───────────────┘     verbosity       klog text or JSON

klog's verbosity is a level of `logging`: V(0) is INFO, V(4) is DEBUG, V(1) to V(3) lie between them, V(5) and more
below. A message above the configured verbosity costs a comparison.
"""

# upstream: component-base/logs/api/v1, klog/v2 (v1.36)

import fnmatch
import logging
import sys
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, TextIO

from kubesched.run.klog.formats import FORMATTERS, KLOG_VALUES, level_of, lowest_level_of, verbosity_of
from kubesched.run.klog.options import LogOptions
from kubesched.run.klog.writer import LogWriter

CLOSE_SECONDS = 2.0
_LOGGER = logging.getLogger("kubesched")
# without a KlogHandler on the root logger nothing is written
_LOGGER.addHandler(logging.NullHandler())


class KlogHandler(logging.Handler):
    """Hands lines in klog's format to `put`, and lines of errors to `put_error`; neither may block."""

    def __init__(self, options: LogOptions, put: Callable[[str], None], put_error: Callable[[str], None]) -> None:
        super().__init__()
        self.setFormatter(FORMATTERS[options.format]())
        self._put = put
        self._put_error = put_error
        self._verbosity = options.verbosity
        self._modules = options.modules
        self._verbosity_of_file: dict[str, int] = {}
        self._logger: logging.Logger | None = None
        self._level_before = logging.NOTSET

    def install(self, logger: logging.Logger) -> None:
        """Handle the records of a logger and its children, up to the configured verbosity."""
        self._logger, self._level_before = logger, logger.level
        logger.addHandler(self)
        self.set_verbosity(self._verbosity)

    def uninstall(self) -> None:
        """Remove the handler from its logger, and restore the logger's level."""
        if self._logger is not None:
            self._logger.removeHandler(self)
            self._logger.setLevel(self._level_before)
            self._logger = None

    def set_verbosity(self, verbosity: int) -> None:
        """Write messages up to a verbosity from now on; `--vmodule` still raises it for single files."""
        self._verbosity = verbosity
        if self._logger is not None:
            self._logger.setLevel(lowest_level_of(max(verbosity, *(module.level for module in self._modules), 0)))

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is written, by the verbosity of its file."""
        verbosity = verbosity_of(record.levelno)
        return verbosity <= self._verbosity or verbosity <= self._module_verbosity(record.pathname)

    def _module_verbosity(self, file: str) -> int:
        """Return the verbosity that `--vmodule` has for a file."""
        if not self._modules:
            return 0
        found = self._verbosity_of_file.get(file)
        if found is None:
            stem = PurePath(file).stem
            matching = (module.level for module in self._modules if fnmatch.fnmatchcase(stem, module.pattern))
            found = self._verbosity_of_file[file] = next(matching, 0)
        return found

    def emit(self, record: logging.LogRecord) -> None:
        """Queue the line of a record."""
        (self._put_error if record.levelno >= logging.ERROR else self._put)(self.format(record))


class Log:
    """Messages with keys and values; `with_values` and `with_name` return logs that add some to each message."""

    def __init__(self, logger: logging.Logger, handler: KlogHandler, values: Mapping[str, Any] | None = None) -> None:
        self._logger = logger
        self._handler = handler
        self._values = dict(values or {})

    def with_values(self, **values: Any) -> "Log":
        """Return a log that adds these values to each message."""
        return Log(self._logger, self._handler, {**self._values, **values})

    def with_name(self, name: str) -> "Log":
        """Return a log under a name, after the names it has already."""
        known = self._values.get("logger")
        return self.with_values(logger=f"{known}.{name}" if known else name)

    def set_verbosity(self, verbosity: int) -> None:
        """Write messages up to a verbosity from now on."""
        self._handler.set_verbosity(verbosity)

    def enabled(self, v: int) -> bool:
        """Return whether messages of a verbosity are written, for some file at least."""
        return self._logger.isEnabledFor(level_of(v))

    def info(self, message: str, /, v: int = 0, **values: Any) -> None:
        """Log a message at a verbosity."""
        if self.enabled(v):
            self._log(level_of(v), message, values)

    def warning(self, message: str, /, **values: Any) -> None:
        """Log a problem that the scheduler can handle."""
        self._log(logging.WARNING, message, values)

    def error(self, problem: BaseException | str | None, message: str, /, **values: Any) -> None:
        """Log an error, with its cause under the key `err`."""
        self._log(logging.ERROR, message, values, None if problem is None else str(problem))

    def _log(self, level: int, message: str, values: Mapping[str, Any], problem: str | None = None) -> None:
        extra = {KLOG_VALUES: ({**self._values, **values}, problem)}
        # the caller of `info`, `warning` or `error` is where the message comes from
        self._logger.log(level, message, extra=extra, stacklevel=3)


class Logs:
    """The log of a process: a handler on the root logger, and its writers; `close` it at the end."""

    def __init__(self, options: LogOptions, out: TextIO | None = None, errors: TextIO | None = None) -> None:
        to_errors = LogWriter(errors or sys.stderr)
        self._writers = [to_errors]
        if options.split:
            self._writers.append(LogWriter(out or sys.stdout))
        self._handler = KlogHandler(options, self._writers[-1].put, to_errors.put)
        self._handler.install(logging.getLogger())
        self.log = Log(_LOGGER, self._handler)

    def flush(self) -> None:
        """Wait until the messages so far are written, but not for long."""
        for writer in self._writers:
            writer.flush(CLOSE_SECONDS)

    def close(self) -> None:
        """Remove the handler, and write the queued lines."""
        self._handler.uninstall()
        for writer in self._writers:
            writer.close(CLOSE_SECONDS)

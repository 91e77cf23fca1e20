"""The logging flags: `-v`, `--vmodule`, `--logging-format` and the flags of split streams.

From parsed flags to `LogOptions`; LogOptionError names each flag that is wrong.
"""

# upstream: component-base/logs/api/v1 (v1.36)

import re
from typing import NamedTuple

import msgspec

from kubesched.api.quantity import quantity_of
from kubesched.config.feature_gates import FeatureGates
from kubesched.errors import KubeschedError
from kubesched.run.go_flags import ParsedFlags

FORMATS = ("text", "json")
VMODULE_SYNTAX = "expect comma-separated list of filename=N"


class LogOptionError(KubeschedError):
    """Invalid logging flags."""


class ModuleLevel(NamedTuple):
    """The verbosity of the files whose names match a pattern."""

    pattern: str
    level: int


class LogOptions(msgspec.Struct, frozen=True):
    """How to log; with `split` only errors go to standard error, the rest to standard output."""

    format: str = "text"
    verbosity: int = 0
    modules: tuple[ModuleLevel, ...] = ()
    split: bool = False


def read_log_options(flags: ParsedFlags, gates: FeatureGates) -> LogOptions:
    """Return the options that the logging flags give; LogOptionError names each flag that is wrong."""
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

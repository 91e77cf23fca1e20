"""The findings of the checks of a plugin.

From the checks to authors: a report with one result a check, and as text, a line a check with its findings below it.
"""

from dataclasses import dataclass
from enum import Enum


class Outcome(Enum):
    """The outcome of a check."""

    PASSED = "ok"
    FAILED = "FAILED"
    # the plugin lacks such hooks, or an earlier check failed
    SKIPPED = "skipped"
    # no failure, but a note for the author
    WARNED = "warning"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check: its subject, its outcome, and its findings in lines."""

    check: str
    outcome: Outcome
    findings: tuple[str, ...] = ()
    # figures, or why it was skipped
    note: str = ""

    @property
    def text(self) -> str:
        """Return the line of the check, and its findings below it."""
        note = f" ({self.note})" if self.note else ""
        head = f"{self.check}: {self.outcome.value}{note}"
        return "\n".join([head, *(f"  {line}" for finding in self.findings for line in finding.splitlines())])


@dataclass(frozen=True, slots=True)
class PluginReport:
    """The results of all checks of a plugin; true if no check failed."""

    plugin: str
    results: tuple[CheckResult, ...]

    @property
    def ok(self) -> bool:
        """Return whether no check failed."""
        return not any(result.outcome is Outcome.FAILED for result in self.results)

    def __bool__(self) -> bool:
        return self.ok

    @property
    def findings(self) -> tuple[str, ...]:
        """Return the findings, a text each."""
        return tuple(
            finding for result in self.results if result.outcome is Outcome.FAILED for finding in result.findings
        )

    @property
    def text(self) -> str:
        """Return the report as text."""
        return "\n".join([f"plugin {self.plugin}", *(result.text for result in self.results)])

    def __repr__(self) -> str:
        # shown by a failed `assert check_plugin(...)`; without -vv pytest leaves out its middle
        return self.text

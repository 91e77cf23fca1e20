"""Findings of an examination: the check, the result, and the fix.

Values: one finding, and the answer of the whole examination, as `-o json` prints it.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final

from kubesched.reports.answers import Answer
from kubesched.reports.plain_words import number

OK: Final = "ok"
WARN: Final = "warn"
FAIL: Final = "fail"


@dataclass(frozen=True, slots=True)
class Finding(Answer):
    """One line: the check, its level (`ok`, `warn` or `fail`), the observation, and the fix."""

    check: str
    level: str
    what: str
    fix: str = ""

    def line(self) -> str:
        """Return the finding as one line."""
        return f"{self.level:4}  {self.check}: {self.what}" + (f"; {self.fix}" if self.fix else "")


@dataclass(frozen=True, slots=True)
class DoctorAnswer(Answer):
    """All findings, and whether one of them is a failure."""

    ROWS: ClassVar[str] = "findings"

    summary: str
    ready: bool
    origin: str
    findings: tuple[Finding, ...]


def answer_of(origin: str, findings: Iterable[Finding]) -> DoctorAnswer:
    """Return the answer of an examination."""
    found = tuple(findings)
    levels = Counter(finding.level for finding in found)
    good = number(levels[OK], "check") + " passed"
    bad = [f"{levels[level]} {word}" for level, word in ((FAIL, "failed"), (WARN, "to look at")) if levels[level]]
    verdict = "kubesched cannot take over yet" if levels[FAIL] else "kubesched can take over"
    return DoctorAnswer(f"{verdict}: {', '.join([good, *bad])}.", not levels[FAIL], origin, found)


def ok(check: str, what: str) -> Finding:
    """Return a finding without a problem."""
    return Finding(check, OK, what)


def warn(check: str, what: str, fix: str) -> Finding:
    """Return a finding that you should read before you switch."""
    return Finding(check, WARN, what, fix)


def fail(check: str, what: str, fix: str) -> Finding:
    """Return a finding that has to be fixed before you switch."""
    return Finding(check, FAIL, what, fix)

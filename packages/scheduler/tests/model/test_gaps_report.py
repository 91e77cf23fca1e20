"""What an answer does not know: one line about kinds that may not be read, and a section about all gaps."""

from kubesched.model.cluster_objects import Gap
from kubesched.model.gaps_report import gaps_section, unread_kinds
from kubesched.reports.blocks import Details, Paragraph, Report, Section, Table
from kubesched.reports.terminal import as_terminal_text


def forbidden(kind: str, uncertain: str) -> Gap:
    return Gap(kind, f'{kind.lower()}s is forbidden: User "anna" cannot list resource "{kind.lower()}s"', uncertain)


FORBIDDEN = [forbidden(f"Kind{number}", f"uncertain {min(number, 3)}") for number in range(5)]
OTHER = Gap("an object", "it cannot be read", "answers ignore it")


def test_kinds_that_may_not_be_read_are_one_line() -> None:
    (line,) = unread_kinds([OTHER, *FORBIDDEN])
    assert line.text == (
        "You may not read 5 kinds (Kind0, Kind1, Kind2 and 2 more), so the answer leaves them out: uncertain 0, "
        "uncertain 1, and 2 more uncertainties. `kubesched explain rights` prints a ClusterRole that grants the right "
        "to read them."
    )
    assert list(unread_kinds([OTHER])) == []


def test_a_terminal_lists_the_other_gaps_alone() -> None:
    report = Report("t", [Paragraph("x")], list(gaps_section([OTHER, *FORBIDDEN])))
    text = as_terminal_text(report, colour=False)
    assert "an object" in text
    assert "forbidden" not in text
    only_forbidden = Report("t", [Paragraph("x")], list(gaps_section(FORBIDDEN)))
    assert as_terminal_text(only_forbidden, colour=False) == "x\n"


def test_the_section_has_every_gap() -> None:
    (section,) = gaps_section([OTHER, *FORBIDDEN])
    assert isinstance(section, Section)
    table, details = section.blocks
    assert isinstance(table, Table)
    assert isinstance(details, Details)
    (folded,) = details.blocks
    assert isinstance(folded, Table)
    assert (details.title, len(table.rows), len(folded.rows)) == ("5 kinds that you may not read", 1, 5)
    assert list(gaps_section([])) == []

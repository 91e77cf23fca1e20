"""A report with a block of every kind, and names that would like to be more than names."""

from kubesched.reports.blocks import (
    Bars,
    Block,
    Commands,
    Details,
    Facts,
    Item,
    Items,
    NameList,
    Paragraph,
    Report,
    Section,
    Table,
    Tone,
    Toned,
)

# texts that are markup, commands or steering somewhere
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title><h1>big",
    "`code` **bold** _under_ ~~gone~~",
    "[a](javascript:alert(1)) ![b](http://example.com/b.png)",
    "https://example.com www.example.com",
    "a|b|c",
    "# heading",
    "1. first",
    "- entry\n\n> quoted",
    "\x1b[31mred\x1b[0m\x07\x9b2J",
    "\u202egnp.exe",
    "\ud800 alone",
    "[red]rich[/red]",
    "``` fence",
    "&amp; &lt;",
)


def every_block(name: str = "web", rows: int = 3) -> Report:
    """Return a report in which a name occurs in every place that takes a text."""
    lead: list[Block] = [
        Paragraph(f"Pod {name} does not fit.", Tone.BAD),
        Facts([(name, "4 CPUs"), ("priority", Toned(name, Tone.WARN))]),
    ]
    table = Table(
        ("NODES", "REASON"),
        [(str(number), f"{name} {number}") for number in range(rows)],
        title=name,
        numeric=frozenset({"NODES"}),
        most=3,
    )
    items = Items([Item(name, [name, Toned(name, Tone.MUTED)], [f"kubectl delete pod '{name}'"])], numbered=True)
    bars = Bars([(name, 1, name), ("memory", 2, "2 of 4")], whole=4, title=name)
    pods = Table(("POD", "NODES"), [(name, NameList([name, "n1", "n2"], 2)), (f"{name}-2", name)], about="POD")
    sections = [
        Section(f"Why {name}", [table]),
        Section("Do", [items, bars, Commands([name]), Paragraph(name)]),
        Section("More", [pods, Details(name, [Paragraph(name), Table(("NODE",), [(name,), ("n2",)], about="NODE")])]),
    ]
    return Report(f"Pod {name}", lead, sections)

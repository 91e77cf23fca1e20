"""Cells of Markdown tables."""


def cell(text: str) -> str:
    """Return a text as it may stand in a cell."""
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;")

"""How wide the columns of a table are on a terminal.

From texts to widths: all in one line if there is room; else words are kept whole where that is possible, and columns
that lack little get it first.
"""

from collections.abc import Sequence

from rich.cells import cell_len


def column_widths(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return a width for each column of texts, all together at most `room`, at least 1 each."""
    wanted = [max((cell_len(text) for text in column), default=1) for column in columns]
    if sum(wanted) <= room:
        return wanted
    least = [max((cell_len(word) for text in column for word in text.split()), default=1) for column in columns]
    if sum(least) > room:
        return _at_most(least, room)
    widths, left = list(least), room - sum(least)
    lacks = sorted((want - has, place) for place, (want, has) in enumerate(zip(wanted, least, strict=True)))
    for served, (lack, place) in enumerate(lacks):
        share = min(lack, left // (len(lacks) - served))
        widths[place] += share
        left -= share
    return widths


def _at_most(widths: Sequence[int], room: int) -> list[int]:
    """Return widths of which the largest are cut to one size, so that they fit."""
    cut = max(widths)
    while cut > 1 and sum(min(width, cut) for width in widths) > room:
        cut -= 1
    return [min(width, cut) for width in widths]

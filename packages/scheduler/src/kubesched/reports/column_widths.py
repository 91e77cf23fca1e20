"""How wide the columns of a table are on a terminal.

From texts to widths. If the table is too wide, whole words are kept where possible, and columns that lack only a few
characters get them first.
"""

from collections.abc import Sequence

from rich.cells import cell_len

# a longer word in a header is broken; words in cells are kept longer
LONGEST_HEAD = 12


def column_widths(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return a width for each column of texts (header first) so that the table is at most `room` wide."""
    wanted = [max((cell_len(text) for text in column), default=1) for column in columns]
    if sum(wanted) <= room:
        return wanted
    least = [max(min(_longest_word(head), LONGEST_HEAD), *map(_longest_word, cells), 1) for head, *cells in columns]
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
    """Return the widths, with the largest cut to one common size so that they fit."""
    cut = max(widths)
    while cut > 1 and sum(min(width, cut) for width in widths) > room:
        cut -= 1
    return [min(width, cut) for width in widths]


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)

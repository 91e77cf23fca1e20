"""Folders on a command line.

In: a text. Out: the path of a folder that may not exist yet; exit code 2 if the text is empty.
"""

from pathlib import Path
from typing import Any

import click


class FolderPath(click.Path):
    """A path that must not be empty: Python takes an empty one for the current folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        if value == "":
            self.fail("is empty; give the path of a folder", param, ctx)
        return super().convert(value, param, ctx)

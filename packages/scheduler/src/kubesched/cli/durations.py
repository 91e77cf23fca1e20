"""Durations as options.

In: a word such as 30s. Out: seconds.
"""

import click

from kubesched.config.golang import parse_duration


class DurationType(click.ParamType[float]):
    """A duration such as 30s or 2h."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return seconds."""
        if isinstance(value, float):
            return value
        try:
            seconds = parse_duration(str(value)).seconds
        except ValueError:
            seconds = -1.0
        if seconds < 0:
            self.fail(f"{value!r} is not a duration such as 30s or 2h", param, ctx)
        return seconds

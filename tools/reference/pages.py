"""All pages by their names."""

from collections.abc import Callable, Mapping

from tools.reference import commands, configuration, errors, metrics

PAGES: Mapping[str, Callable[[], str]] = {
    **commands.pages(),
    "configuration.md": configuration.page,
    "errors.md": errors.page,
    "metrics.md": metrics.page,
}

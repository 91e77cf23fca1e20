"""All pages by their names."""

from tools.reference import commands, configuration, errors, metrics


def pages() -> dict[str, str]:
    """Return the text of each page."""
    return {
        "commands.md": commands.page(),
        "configuration.md": configuration.page(),
        "errors.md": errors.page(),
        "metrics.md": metrics.page(),
    }

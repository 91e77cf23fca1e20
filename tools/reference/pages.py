"""All pages by their names."""

from tools.reference import commands, configuration, metrics


def pages() -> dict[str, str]:
    """Return the text of each page."""
    return {
        "commands.md": commands.page(),
        "configuration.md": configuration.page(),
        "metrics.md": metrics.page(),
    }

"""Pages of the documentation that come from the code: `python -m tools.reference docs/reference` writes them.

From commands, metrics and the structs of the configuration to Markdown. A test compares.
"""

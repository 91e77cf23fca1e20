"""The built-in kinds: their strategies, and one declaration each (`declarations`)."""

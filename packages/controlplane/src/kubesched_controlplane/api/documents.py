"""Documents: objects as dicts and lists, decoded from JSON."""

from typing import Any

Document = dict[str, Any]

"""Objects as dicts and lists, as JSON has them."""

from typing import Any

Document = dict[str, Any]

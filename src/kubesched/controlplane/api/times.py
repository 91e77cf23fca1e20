"""Times as objects carry them."""

from datetime import datetime


def timestamp(moment: datetime) -> str:
    """Return a time as objects carry it."""
    return moment.isoformat(timespec="seconds")[:19] + "Z"


def micro_timestamp(moment: datetime) -> str:
    """Return a time as fields of the type MicroTime carry it."""
    return moment.isoformat(timespec="microseconds")[:26] + "Z"


def moment(text: str) -> datetime:
    """Return the time that an object carries."""
    return datetime.fromisoformat(text)

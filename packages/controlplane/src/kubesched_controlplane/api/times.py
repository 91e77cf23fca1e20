"""Timestamps of objects."""

from datetime import datetime


def timestamp(moment: datetime) -> str:
    """Format a time as metav1.Time: RFC 3339 with seconds."""
    return moment.isoformat(timespec="seconds")[:19] + "Z"


def micro_timestamp(moment: datetime) -> str:
    """Format a time as metav1.MicroTime: RFC 3339 with microseconds."""
    return moment.isoformat(timespec="microseconds")[:26] + "Z"


def moment(text: str) -> datetime:
    """Parse a timestamp of an object."""
    return datetime.fromisoformat(text)

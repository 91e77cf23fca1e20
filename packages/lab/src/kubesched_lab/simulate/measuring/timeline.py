"""Samples over time, with a limit of some hundreds: beyond it every other sample is dropped.

From samples at equal intervals to a list at larger ones, so that a year takes as much memory as an hour.
"""

from kubesched_lab.simulate.measuring.sampling import Sample

MOST = 256


class Timeline:
    """The samples, and the seconds between them."""

    def __init__(self, seconds: float = 1.0) -> None:
        self.samples: list[Sample] = []
        self.seconds = seconds

    def add(self, sample: Sample) -> None:
        """Add a sample; the next one is due `seconds` later."""
        self.samples.append(sample)
        if len(self.samples) >= MOST:
            del self.samples[1::2]
            self.seconds *= 2

"""Rate limits: so many requests a second, with a reserve for bursts.

From the configured QPS and burst to how long a request has to wait, on the loop's clock.
"""

# upstream: client-go/util/flowcontrol/throttle.go (v1.36)

import asyncio


class RateLimiter:
    """A token bucket; a rate of 0 or less is no limit."""

    def __init__(self, per_second: float, burst: int) -> None:
        self._per_second = per_second
        self._burst = float(max(burst, 1))
        self._left = self._burst
        self._counted_at = 0.0

    def delay(self, now: float) -> float:
        """Take a token for one request out of the bucket; return how many seconds the request has to wait."""
        if self._per_second <= 0:
            return 0.0
        self._left = min(self._burst, self._left + (now - self._counted_at) * self._per_second)
        self._counted_at = now
        self._left -= 1.0
        return max(0.0, -self._left / self._per_second)

    async def turn(self) -> float:
        """Wait until a request may be sent; return the seconds waited."""
        seconds = self.delay(asyncio.get_running_loop().time())
        if seconds > 0:
            await asyncio.sleep(seconds)
        return seconds

"""Random sizes and times, from a short notation.

    10m                                        always the same
    {exponential: 10m}                         the mean
    {lognormal: {median: 10m, sigma: 1.5}}     many small, some large
    {uniform: [1m, 5m]}
    {choice: {"500m": 3, "2": 1}}              three of four times 500m

From values of YAML to functions of a random generator. Numbers are rounded (to milliseconds, milli-CPU, mebibytes), so
that the last bit of a logarithm, which differs between machines, makes no difference.
"""

from collections.abc import Callable, Mapping
from math import exp, log
from random import Random
from typing import Any

from kubesched.api.quantity import InvalidQuantityError, milli_value_of, value_of
from kubesched.config.golang import parse_duration
from kubesched_lab.simulate.errors import TraceError

# parses a text into a number of units: milliseconds, milli-CPU, bytes
Draw = Callable[[Random], int]
Unit = Callable[[Any], int]

MEBIBYTE = 1 << 20
_FORMS = (
    "a value, {exponential: MEAN}, {lognormal: {median: M, sigma: S}}, {uniform: [LEAST, MOST]} "
    "or {choice: {VALUE: WEIGHT}}"
)


def milliseconds(value: Any) -> int:
    """Return a duration (10m, 90s, or a number of seconds) in milliseconds."""
    seconds = parse_duration(value).seconds if isinstance(value, str) else float(value)
    if not 0 <= seconds < 1e12 or isinstance(value, bool):
        raise ValueError(value)
    return round(seconds * 1000)


def milli_cpu(value: Any) -> int:
    """Return a quantity of CPU in thousandths."""
    return _positive(milli_value_of(str(value)))


def whole(value: Any) -> int:
    """Return a quantity as a whole number, such as bytes."""
    return _positive(value_of(str(value)))


def _positive(number: int) -> int:
    if number < 0:
        raise ValueError(number)
    return number


def distribution(value: Any, unit: Unit, where: str, step: int = 1) -> Draw:
    """Return a function that draws from a distribution; raises TraceError, which begins with `where`."""

    def read(part: Any) -> int:
        try:
            return unit(part)
        except (ValueError, TypeError, InvalidQuantityError, OverflowError):
            raise TraceError(f"{where}: cannot read {part!r}; expected something like {_example(unit)}") from None

    def rounded(number: float) -> int:
        return max(step, round(min(number, 1e18) / step) * step)

    if not isinstance(value, Mapping):
        fixed = read(value)
        return lambda random: fixed
    if len(value) != 1:
        raise TraceError(f"{where}: expected {_FORMS}")
    [(form, of)] = value.items()
    if form == "exponential":
        mean = read(of)
        return lambda random: rounded(random.expovariate(1.0) * mean)
    if form == "lognormal" and isinstance(of, Mapping) and set(of) <= {"median", "sigma", "largest"} and "median" in of:
        middle, sigma = read(of["median"]), of.get("sigma", 1.0)
        largest = read(of["largest"]) if "largest" in of else 10**18
        if not isinstance(sigma, int | float) or not 0 <= sigma <= 10:
            raise TraceError(f"{where}: sigma is {sigma!r}; expected a number from 0 to 10")
        mu = log(max(middle, 1))
        return lambda random: min(rounded(exp(random.gauss(mu, sigma))), largest)
    if form == "uniform" and isinstance(of, list) and len(of) == 2:
        least, most = read(of[0]), read(of[1])
        if most < least:
            raise TraceError(f"{where}: uniform goes from {of[0]} to {of[1]}, which is less")
        return lambda random: random.randint(least // step, most // step) * step
    if form == "choice" and isinstance(of, Mapping) and of:
        values, weights = [read(each) for each in of], list(of.values())
        if not all(isinstance(weight, int | float) and weight > 0 for weight in weights):
            raise TraceError(f"{where}: the weights of a choice are positive numbers")
        return lambda random: random.choices(values, weights)[0]
    raise TraceError(f"{where}: expected {_FORMS}")


def _example(unit: Unit) -> str:
    return "10m" if unit is milliseconds else "500m" if unit is milli_cpu else "1Gi"

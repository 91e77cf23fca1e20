"""The beta distribution with a given mean and standard deviation, for many nodes at once.

In: arrays of means, deviations and thresholds between 0 and 1. Out: the probability that a value is below.
"""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# margin of the deviation below the largest that a beta distribution can have
MOST_VARIANCE = 0.99
# of the continued fraction
MOST_STEPS = 500
PRECISION = 1e-12
TINY = 1e-300
SMALLEST = 5e-324
# up to this number, values are computed one by one
FEW = 25


def at_most_possible(mean: Array, deviation: Array) -> Array:
    """Return the deviations, limited to the largest that a beta distribution with these means can have."""
    smallest: Array = np.minimum(deviation, np.sqrt(MOST_VARIANCE * mean * (1 - mean)))
    return smallest


def probability_below(threshold: Array, mean: Array, deviation: Array) -> Array:
    """Return the probability that a value is at most the threshold; means and deviations are above 0."""
    scale = mean * (1 - mean) / deviation**2 - 1
    return regularized_incomplete_beta(threshold, mean * scale, (1 - mean) * scale)


def regularized_incomplete_beta(x: Array, a: Array, b: Array) -> Array:
    """Return I_x(a, b) for a, b > 0 and x from 0 to 1."""
    if len(x) <= FEW:
        return np.array([_of_one(*each) for each in zip(x.tolist(), a.tolist(), b.tolist(), strict=True)], np.float64)
    # the fraction converges fast below the mean; beyond it, I_x(a, b) = 1 - I_(1-x)(b, a)
    beyond = x > (a + 1) / (a + b + 2)
    x, a, b = np.where(beyond, 1 - x, x), np.where(beyond, b, a), np.where(beyond, a, b)
    # 0 and 1 are handled at the end; here they only need logarithms
    inside = np.clip(x, SMALLEST, 1 - 1e-16)
    front = a * np.log(inside) + b * np.log1p(-inside) + _log_gamma(a + b) - _log_gamma(a) - _log_gamma(b)
    value = np.exp(front) / a * _fraction(inside, a, b)
    value = np.where(x <= 0, 0.0, np.where(x >= 1, 1.0, value.clip(0, 1)))
    result: Array = np.where(beyond, 1 - value, value)
    return result


def _of_one(x: float, a: float, b: float) -> float:
    """Return I_x(a, b) as a Python number, which is faster than arrays for a few values."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _of_one(1 - x, b, a)
    front = a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    numerator, denominator = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or TINY)
    value = denominator
    for step in range(1, MOST_STEPS):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            denominator = 1 / ((1 + term * denominator) or TINY)
            numerator = (1 + term / numerator) or TINY
            factor = numerator * denominator
            value *= factor
        if abs(factor - 1) < PRECISION:
            break
    return min(max(math.exp(front) / a * value, 0.0), 1.0)


def _log_gamma(values: Array) -> Array:
    return np.fromiter(map(math.lgamma, values.tolist()), np.float64, len(values))


def _fraction(x: Array, a: Array, b: Array) -> Array:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    numerator = np.ones_like(x)
    denominator = 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = denominator.copy()
    for step in range(1, MOST_STEPS):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            denominator = 1 / _not_zero(1 + term * denominator)
            numerator = _not_zero(1 + term / numerator)
            factor = numerator * denominator
            value *= factor
        if np.abs(factor - 1).max(initial=0) < PRECISION:
            break
    return value


def _not_zero(values: Array) -> Array:
    safe: Array = np.where(np.abs(values) < TINY, TINY, values)
    return safe

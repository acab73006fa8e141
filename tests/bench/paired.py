# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""By how much something changes what is measured, from pairs with and without it. Pure.

The ratio of a pair is what was measured with it by what was measured without it, one right after
the other. If it multiplies a measurement by c, and both measurements of a pair vary in the same way
whatever that way is, the logarithms of the ratios are spread evenly around that of c. This is all
that Wilcoxon's signed ranks need: the estimate is the median of the means of all two ratios, each
with itself as well (Hodges and Lehmann), and the interval lies between two of these means. Which
two follows from counting: there are 2^n ways to give signs to n ranks.

Why not a t interval: runs on a machine that others share have a few very slow ones, which would make
it as wide as they are far out. Nothing here depends on how far that is.
"""

import itertools
import math
import statistics
from typing import NamedTuple, Optional

LEVEL = 0.95


class Change(NamedTuple):
    """Of the true ratio; without bounds if there are too few pairs for an interval."""

    ratio: float
    low: Optional[float]
    high: Optional[float]


def ways_by_sum(pairs):
    """How many sets of the ranks 1 to @pairs have the sum 0, 1, 2 and so on."""
    ways = [1]
    for rank in range(1, pairs + 1):
        with_it = [0] * rank + ways
        ways = [a + b for a, b in itertools.zip_longest(ways, with_it, fillvalue=0)]
    return ways


def outside(pairs, level=LEVEL):
    """How many means lie outside of the interval on each side; None if no interval is that sure."""
    tail = (1 - level) / 2 * 2**pairs
    below = 0
    for total, ways in enumerate(ways_by_sum(pairs)):
        below += ways
        if below > tail:
            return total or None
    raise AssertionError("all ways together are more than a tail of them")


def change(pairs, level=LEVEL):
    """@pairs: (with, without), at least one."""
    logs = []
    for with_it, without in pairs:
        if not (0 < with_it < math.inf and 0 < without < math.inf):
            raise ValueError(f"{with_it} and {without} are no measurements")
        logs.append(math.log(with_it / without))
    means = sorted((a + b) / 2 for a, b in itertools.combinations_with_replacement(logs, 2))
    left_out = outside(len(logs), level)
    ratio = math.exp(statistics.median(means))
    if not left_out:
        return Change(ratio, None, None)
    return Change(ratio, math.exp(means[left_out - 1]), math.exp(means[-left_out]))

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of tests/bench/paired.py: intervals that are known, and samples that were spoilt."""

import math
import pathlib
import random
import statistics
import sys
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
import paired  # noqa: E402

# Two-sided critical values of signed ranks at 5 %, as textbooks print them
CRITICAL = {6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 15: 25, 20: 52, 25: 89, 30: 137}


def as_in_textbooks():
    for pairs, value in CRITICAL.items():
        assert paired.outside(pairs) == value + 1, (pairs, paired.outside(pairs))
    assert all(paired.outside(pairs) is None for pairs in range(1, 6))


def few_pairs_have_no_interval():
    assert paired.change([(2.0, 1.0)] * 5) == (2.0, None, None)
    # Six that agree in their sign are just enough: the interval is from end to end.
    found = paired.change([(100 + i, 100.0) for i in (3, 1, 5, 2, 6, 4)])
    assert math.isclose(found.low, 1.01) and math.isclose(found.high, 1.06), found


def made_up(lot, ratio, pairs=30):
    """Most vary by 3 %; one run in ten takes up to five times as long."""
    def run():
        return lot.lognormvariate(0, 0.03) * (lot.uniform(1, 5) if lot.random() < 0.1 else 1)

    return [(ratio * run(), run()) for _ in range(pairs)]


def known_ratios_lie_inside():
    lot, samples = random.Random(1), 400
    found = [(ratio, paired.change(made_up(lot, ratio))) for ratio in (1, 1.05, 0.8) for _ in range(samples // 3)]
    inside = sum(c.low <= ratio <= c.high for ratio, c in found) / len(found)
    assert 0.92 <= inside <= 0.98, inside
    # Runs that are far out do not make it wide: they move means by their number, not by their length.
    width = statistics.median(c.high / c.low for _, c in found)
    assert width < 1.1, width


def a_spoilt_sample_is_noticed():
    lot = random.Random(2)
    sample = made_up(lot, 1)
    found = paired.change(sample)
    assert found.low < 1 < found.high, found
    slower = paired.change([(1.1 * a, b) for a, b in sample])
    assert slower.low > 1 and math.isclose(slower.ratio, 1.1 * found.ratio), slower
    turned = paired.change([(b, a) for a, b in sample])
    assert math.isclose(turned.low, 1 / found.high) and math.isclose(turned.ratio, 1 / found.ratio), turned
    # The same times, but of other pairs: what they have in common is lost.
    drifting = [(2**i, 2.0**i) for i in range(30)]
    assert paired.change(drifting) == (1, 1, 1)
    mixed = [a for a, _ in drifting]
    lot.shuffle(mixed)
    wide = paired.change(list(zip(mixed, (b for _, b in drifting))))
    assert wide.high / wide.low > 10, wide


def what_is_no_measurement_is_refused():
    for bad in (0, -1.0, math.nan, math.inf):
        for pair in ((bad, 1.0), (1.0, bad)):
            try:
                paired.change([(1.0, 1.0)] * 9 + [pair])
            except ValueError:
                continue
            raise AssertionError(f"{pair} was taken")


def main():
    for test in (as_in_textbooks, few_pairs_have_no_interval, known_ratios_lie_inside,
                 a_spoilt_sample_is_noticed, what_is_no_measurement_is_refused):
        name = test.__name__.replace("_", " ")
        try:
            test()
        except (AssertionError, ArithmeticError, LookupError, TypeError, ValueError):
            print(f"not ok paired: {name}: {traceback.format_exc().splitlines()[-1]}")
        else:
            print(f"ok paired: {name}")


main()

"""Random numbers as a pure function of where they are needed, so that worlds can be shared.

A draw belongs to (seed, run, purpose, round, arm) and is computed by hashing those with the
finaliser of SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators",
2014).
Every policy therefore meets the same world, any number of threads gives the same numbers, and work
can be resumed anywhere.

The functions run interpreted on Python integers and compiled on ``uint64``; the masks keep the
first within 64 bits and cost the second nothing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Bits = Any
"""64 bits: an int when interpreted, a uint64 when compiled."""

MASK = 0xFFFFFFFFFFFFFFFF
GOLDEN = 0x9E3779B97F4A7C15
ROUND_STEP = 0xD1B54A32D192ED03
ARM_STEP = 0xABC98388FB8FAC03
DELAY_SALT = 0x8CB92BA72F3D8DD7
SIGNAL_SALT = 0x8EBC6AF09C88C6E3

SQUEEZE = 0.0331
"""Marsaglia & Tsang's: what is accepted by it without a logarithm would be accepted with one."""


def mix(x: Bits) -> Bits:
    """SplitMix64's finaliser: a bijection of 64 bits whose output passes for random."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def bits_at(key: Bits, round_: Bits, arm: Bits) -> Bits:
    """The 64 bits of ``key`` at (round, arm)."""
    return mix((key + round_ * ROUND_STEP + arm * ARM_STEP) & MASK)


def following(bits: Bits) -> Bits:
    """The next 64 bits after ``bits``, for draws that need several."""
    return mix((bits + GOLDEN) & MASK)


def as_bits(count: int) -> Bits:
    """A number >= 0, such as a round, as an argument of `bits_at`."""
    return int(np.uint64(count))  # an int when interpreted, a uint64 when compiled


def unit(bits: Bits) -> float:
    """The 53 upper bits as a float in [0, 1)."""
    return (bits >> 11) * 1.1102230246251565e-16


def run_key(base: Bits, run: Bits) -> Bits:
    """The key of one run of a simulation, from the simulation's base key."""
    return mix((base + mix((run * GOLDEN) & MASK)) & MASK)


def base_keys(seed: int) -> tuple[int, int]:
    """Two unrelated base keys: one for the world, one for the policy's own randomness."""
    world, policy = np.random.SeedSequence(seed).generate_state(2, np.uint64)
    return int(world), int(policy)


def normal(bits: Bits) -> tuple[float, Bits]:
    """A standard normal draw (Box & Muller 1958) and the bits to go on from."""
    bits = following(bits)
    radius = math.sqrt(-2.0 * math.log(1.0 - unit(bits)))
    bits = following(bits)
    return radius * math.cos(2.0 * math.pi * unit(bits)), bits


def gamma(shape: float, bits: Bits) -> tuple[float, Bits]:
    """A Gamma(shape, 1) draw and the bits to go on from.

    Marsaglia & Tsang 2000; boosted below shape 1.
    """
    boost = 1.0
    if shape < 1.0:
        bits = following(bits)
        boost = (1.0 - unit(bits)) ** (1.0 / shape)
        shape = shape + 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x, bits = normal(bits)
        v = 1.0 + c * x
        v = v * v * v  # not ** 3, which compiled and interpreted code round differently
        bits = following(bits)
        u = 1.0 - unit(bits)
        square = x * x
        if v > 0.0 and u < 1.0 - SQUEEZE * square * square:
            return boost * d * v, bits
        if v > 0.0 and math.log(u) < 0.5 * square + d - d * v + d * math.log(v):
            return boost * d * v, bits


def beta(a: float, b: float, bits: Bits) -> float:
    """A Beta(a, b) draw: G_a / (G_a + G_b)."""
    x, bits = gamma(a, bits)
    y, bits = gamma(b, bits)
    if x + y > 0.0:
        return x / (x + y)
    at_one = unit(following(bits)) < a / (a + b)  # both underflowed: tiny shapes, mass at the ends
    return 1.0 if at_one else 0.0

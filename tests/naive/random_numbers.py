"""Random numbers: a hash of where they are needed."""

from __future__ import annotations

import math

import numpy as np

M64 = 2**64


def mix(x):
    """The finaliser of SplitMix64."""
    x = (x ^ (x // 2**30)) * 0xBF58476D1CE4E5B9 % M64
    x = (x ^ (x // 2**27)) * 0x94D049BB133111EB % M64
    return x ^ (x // 2**31)


def bits_at(key, round_, stream):
    return mix((key + round_ * 0xD1B54A32D192ED03 + stream * 0xABC98388FB8FAC03) % M64)


def following(bits):
    return mix((bits + 0x9E3779B97F4A7C15) % M64)


def unit(bits):
    """The upper 53 bits as a fraction of 2^53."""
    return (bits // 2**11) / 2**53


def keys(seed, run):
    """(world, ties, the policy's own randomness) of one run."""
    world, policy = (int(k) for k in np.random.SeedSequence(seed).generate_state(2, np.uint64))
    of_run = mix(run * 0x9E3779B97F4A7C15 % M64)
    ties = mix((policy + of_run) % M64)
    return mix((world + of_run) % M64), ties, following(ties)


class Draws:
    """A sequence of draws that starts after ``bits``."""

    def __init__(self, bits):
        self.bits = bits

    def unit(self):
        self.bits = following(self.bits)
        return unit(self.bits)

    def normal(self):  # Box & Muller
        radius = math.sqrt(-2 * math.log(1 - self.unit()))
        return radius * math.cos(2 * math.pi * self.unit())

    def gamma(self, shape):  # Marsaglia & Tsang
        boost = 1.0
        if shape < 1:
            boost, shape = (1 - self.unit()) ** (1 / shape), shape + 1
        d = shape - 1 / 3
        while True:
            x = self.normal()
            v = (1 + x / math.sqrt(9 * d)) ** 3
            w = 1 - self.unit()
            if v > 0 and math.log(w) < x * x / 2 + d - d * v + d * math.log(v):
                return boost * d * v

    def beta(self, a, b):
        x, y = self.gamma(a), self.gamma(b)
        return x / (x + y)

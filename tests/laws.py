"""Delay laws that several test files share, with their counterparts in SciPy."""

from __future__ import annotations

from scipy import stats

import patientbandits as pb

HALVES = pb.Mixture(
    [pb.Pareto(0.3), pb.Mixture([pb.LogNormal(50, 2), pb.Never()], [0.9, 0.1])], [0.5, 0.5]
)


SCIPY = [
    (pb.Pareto(0.7), stats.pareto(0.7), 0),
    (pb.Pareto(1.3, 4.5), stats.pareto(1.3, scale=4.5), 0),
    (pb.Pareto(0.7, rounding="floor"), stats.pareto(0.7), 1),
    (pb.Lomax(0.4, 10), stats.lomax(0.4, scale=10), 0),
    (pb.Lomax(2, 0.3, "floor"), stats.lomax(2, scale=0.3), 1),
    (pb.Weibull(0.6, 20), stats.weibull_min(0.6, scale=20), 0),
    (pb.LogNormal(8, 1.2), stats.lognorm(1.2, scale=8), 0),
    (pb.LogLogistic(12, 0.8), stats.burr12(0.8, 1, scale=12), 0),
    (pb.LogLogistic(0.4, 3), stats.burr12(3, 1, scale=0.4), 0),
    (pb.Geometric(0.13), stats.geom(0.13), 0),
    (pb.UniformDelay(3, 40), stats.randint(3, 41), 0),
    (pb.Fixed(6), stats.randint(6, 7), 0),
    (pb.NoDelay(), stats.randint(0, 1), 0),
]


EVERY = [law for law, _, _ in SCIPY] + [
    pb.Empirical([0, 3, 3, 17]),
    pb.Empirical([9, 2], [1, 5]),
    pb.Never(),
    HALVES,
    pb.Within(pb.LogNormal(8, 1.2), 25),
    pb.problems.ThinnedPareto(),
]

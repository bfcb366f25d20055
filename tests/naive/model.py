"""The model of late conversions once more, from its definition: plain Python, one loop per sum."""

from __future__ import annotations

import functools
import itertools
import math

from scipy.stats import beta

from naive.sums import plain_sum

LEVELS = (
    *(0.003, 0.006, 0.01, 0.016, 0.025, 0.04, 0.06, 0.09, 0.13, 0.19),
    *(0.27, 0.36, 0.46, 0.56, 0.66, 0.76, 0.85, 0.92, 0.97, 0.995),
)
MEANS = (0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
PHI, MOST, DOUBT, LEAST = 0.4, 2.0, 2.0, 0.05
CAUTION, MOST_TO_COME = 0.3, 0.5
RHO, SIGMA = 0.3, 0.8


def ends(last):
    """Where bins end, up to the first end at or beyond ``last``."""
    found = []
    j = 0
    while not found or found[-1] < last:
        t = 2 ** (j / 4)
        if not found or math.floor(t + 1e-9) > math.floor(found[-1] + 1e-9):
            found.append(t)
        j += 1
    return found


def shapes():
    """(P(D > t) as a function of t / median, weight, points between medians)"""
    found = []
    tails = {a: math.exp(-(math.log(a / 0.4) ** 2) / 2) for a in (0.2, 0.4, 0.8, 1.6)}
    for k, share in ((1.0, 0.6), (2.0, 0.4)):
        for tail, weight in tails.items():
            a = tail / k
            survival = lambda x, a=a, k=k: (1 + (2 ** (1 / a) - 1) * x**k) ** -a  # noqa: E731
            found.append((survival, 0.45 * share * weight / plain_sum(tails.values()), 3))
    for k, share in ((0.6, 0.2), (1.0, 0.35), (1.5, 0.25), (2.5, 0.2)):
        found.append((lambda x, k=k: 0.5 ** (x**k), 0.3 * share, 3))
    for s in (0.5, 0.9, 1.5):
        found.append((lambda x, s=s: normal_above(math.log(x) / s), 0.1 / 3, 3))
    found.append((lambda x: max(1 - x / 2, 0.0), 0.05, 3))
    found.append((lambda x: normal_above(math.log(x) / 0.12), 0.1, 2))
    return found


def normal_above(z):
    return 0.5 * math.erfc(z / math.sqrt(2))


@functools.cache
def laws(oldest):
    """(P(D > t), prior, name) of every law, for an oldest age: the grid's point there or next."""
    point = math.ceil(4 * math.log2(oldest) - 1e-9)
    oldest = 2 ** (point / 4)
    found = []
    for number, (survival, weight, step) in enumerate(shapes()):
        for j in range(-6, point + 21, step):
            m = 2 ** (j / 4)
            prior = weight * step * m**-0.2 * max(m / oldest, 1.0) ** -2
            law = lambda t, m=m, survival=survival: survival(t / m)  # noqa: E731
            found.append((law, prior, (number, j)))
    total = plain_sum(prior for _, prior, _ in found)
    return [(survival, prior / total, name) for survival, prior, name in found]


@functools.cache
def log_steps(ends):
    """{(law, level): for each bin, log P(comes in it | not before), log P(stays | not before)}"""
    found = {}
    for number, (survival, _, _) in enumerate(laws(ends[-1])):
        curve = [1 - survival(t) for t in ends]
        for level, mu in enumerate(LEVELS):
            before = 0.0
            steps = []
            for share in curve:
                gain = max(share - before, 1e-13)
                came = math.log(mu * gain / (1 - mu * before))
                stayed = math.log((1 - mu * share) / (1 - mu * before))
                steps.append((came, stayed))
                before = share
            found[number, level] = steps
    return found


@functools.cache
def beta_weights(mean):
    a, b = (1, (1 - mean) / mean) if mean <= 0.5 else (2.5 * mean / (1 - mean), 2.5)
    below = lambda x: float(beta.cdf(x, a, b))  # noqa: E731
    edges = [0.0, *((x + y) / 2 for x, y in itertools.pairwise(LEVELS)), 1.0]
    raw = [below(y) - below(x) + 1e-9 for x, y in itertools.pairwise(edges)]
    return [w / plain_sum(raw) for w in raw]


class Arm:
    """Whole ages of pulls that wait and whole delays of those that converted."""

    def __init__(self, ages, delays, window=None):
        self.ends = ends(max([1, *ages, *delays]))
        if window is not None and self.ends[-1] > window:
            self.ends = [t for t in self.ends if t < window] + [window]
        self.converted = []
        self.exposed = []
        lower = 0
        for t in self.ends:
            upper = math.floor(t + 1e-9)
            self.converted.append(plain_sum(lower < max(d, 1) <= upper for d in delays))
            passed = plain_sum(x > upper for x in [*ages, *delays])
            inside = [(x - lower) / (upper - lower) for x in ages if lower < x <= upper]
            self.exposed.append(passed + plain_sum(inside))
            lower = upper
        self.laws = laws(self.ends[-1])
        self.curves = [[1 - survival(t) for t in self.ends] for survival, _, _ in self.laws]
        prior = beta_weights(1 / 2.5)
        self.likely = [self.likely_in(b) for b in range(len(self.ends))]
        self.cells = self.weigh([1 / (1 + PHI * x) for x in self.likely], prior)
        self.misfit = self.excess(self.mean_hazards(self.cells)[0])
        self.told_means = functools.cache(self.tell_means)

    def likely_in(self, b):
        """The conversions that the hazard of up to five bins would bring in the middle one."""
        near = slice(max(b - 2, 0), b + 3)
        came = plain_sum(self.converted[near])
        risk = came + plain_sum(self.exposed[near])
        return (self.converted[b] + self.exposed[b]) * came / risk if risk else 0.0

    def weigh(self, weights, level_prior):
        """{(law, level): prior times likelihood}"""
        logs = {}
        for (number, level), steps in log_steps(tuple(self.ends)).items():
            total = math.log(self.laws[number][1]) + math.log(level_prior[level])
            for b, (came, stayed) in enumerate(steps):
                total += weights[b] * (self.converted[b] * came + self.exposed[b] * stayed)
            logs[number, level] = total
        top = max(logs.values())
        return {cell: math.exp(x - top) for cell, x in logs.items()}

    def mean_hazards(self, cells, end=None):
        """(hazards of the cells' mean curve, share of the rest that converts by ``end`` or ever,
        how unsure what is to come is)"""
        total = plain_sum(cells.values())
        by_law = [0.0] * len(self.laws)
        for (number, level), weight in cells.items():
            by_law[number] += weight * LEVELS[level] / total
        curve = [0.0]
        for b in range(len(self.ends)):
            curve.append(plain_sum(w * c[b] for w, c in zip(by_law, self.curves, strict=True)))
        last = plain_sum(by_law)
        if end is not None:
            shares = [1 - survival(end) for survival, _, _ in self.laws]
            last = plain_sum(w * s for w, s in zip(by_law, shares, strict=True))
        hazards = [(y - x) / (1 - x) for x, y in itertools.pairwise(curve)]
        left = 1 - curve[-1]
        tail = max(last - curve[-1], 0.0) / left
        return hazards, tail, self.unsure(cells, end)

    def unsure(self, cells, end):
        """Standard deviation over mean of mu (F(end) - F(oldest age))."""
        at_end = [1.0 if end is None else 1 - survival(end) for survival, _, _ in self.laws]
        total = plain_sum(cells.values())
        mean = square = 0.0
        for (number, level), weight in cells.items():
            gap = LEVELS[level] * (at_end[number] - self.curves[number][-1])
            mean += weight * gap / total
            square += weight * gap**2 / total
        return math.sqrt(max(square - mean**2, 0.0)) / mean if mean > 1e-9 else 0.0

    def excess(self, hazards):
        """phi beyond its floor"""
        top = bottom = variance = 0.0
        for c, e, h in zip(self.converted, self.exposed, hazards, strict=True):
            n = c + e
            mean = n * h
            spread = n * max(h, LEAST)
            top += ((c - mean) ** 2 - mean * (1 - h)) / (1 + spread)
            bottom += mean * spread / (1 + spread)
            variance += (2 * mean**2 + mean) / (1 + spread) ** 2
        return min(max(top - DOUBT * math.sqrt(variance), 0.0) / max(bottom, 1.0), MOST)

    def left_for_choice(self, expected, phi):
        """Who stays, without the model's hazards for a doubling from where few pulls have come."""
        counts = [(c, c + e) for c, e in zip(self.converted, self.exposed, strict=True)]
        left = 1.0
        last = None
        for b, (c, n) in enumerate(counts):
            if b > 0 and last is None and n < 0.2 * counts[0][1] * left:
                last = 2 * self.ends[b - 1]
            h = expected[b]
            r = 1 / (phi * max(h, LEAST))
            if last is not None and self.ends[b] <= last * (1 + 1e-9):
                h = 0.0
            left *= 1 - (c + r * h) / (n + r)
        return left

    def told_laws(self):
        """{law: log(1 - rho + rho L(law))}, and what it tells of all others; nothing on a misfit"""
        if self.misfit > 0:
            return {}, 0.0
        total = plain_sum(self.cells.values())
        by_law = [0.0] * len(self.laws)
        for (number, _), weight in self.cells.items():
            by_law[number] += weight
        found = {}
        for w, (_, prior, name) in zip(by_law, self.laws, strict=True):
            found[name] = math.log(1 - RHO + RHO * w / total / prior)
        return found, math.log(1 - RHO)

    def tell_means(self):
        prior = beta_weights(1 / 2.5)
        found = []
        for mean in MEANS:
            ratio = [g / p for g, p in zip(beta_weights(mean), prior, strict=True)]
            total = plain_sum(weight * ratio[level] for (_, level), weight in self.cells.items())
            found.append(math.log(total))
        return found


def fit(arms, i, end=None):
    """Arm i's (hazards, tail, misfit, rate, rate for the choice).

    None for an arm that is silent.
    """
    hazards, tail, misfit, rate, _, for_choice = fit_with_doubt(arms, i, end)
    return hazards, tail, misfit, rate, for_choice


def fit_with_doubt(arms, i, end=None):
    """The same, with how unsure what is to come is before the last."""
    arm = arms[i]
    others = [other for j, other in enumerate(arms) if j != i and other is not None]
    law_factor = [1.0] * len(arm.laws)
    level_factor = [1.0] * len(LEVELS)
    if len(arms) > 1:
        told = [other.told_laws() for other in others]
        said = [plain_sum(t.get(name, rest) for t, rest in told) for _, _, name in arm.laws]
        q = [math.exp(x - max(said)) for x in said]
        mean = plain_sum(x * prior for x, (_, prior, _) in zip(q, arm.laws, strict=True))
        law_factor = [1 - RHO + RHO * x / mean for x in q]
        means = [other.told_means() for other in others]
        said = [plain_sum(row[m] for row in means) for m in range(len(MEANS))]
        w = [math.exp(x - max(said)) for x in said]
        prior = beta_weights(1 / 2.5)
        mixed = [beta_weights(m) for m in MEANS]
        for level in range(len(LEVELS)):
            g = plain_sum(x * row[level] for x, row in zip(w, mixed, strict=True)) / plain_sum(w)
            level_factor[level] = 1 - SIGMA + SIGMA * g / prior[level]
    factor = lambda cell: law_factor[cell[0]] * level_factor[cell[1]]  # noqa: E731
    cells = {cell: weight * factor(cell) for cell, weight in arm.cells.items()}
    expected, tail, unsure = arm.mean_hazards(cells, end)
    phi = min(PHI + arm.misfit, MOST)
    if arm.misfit > 0:
        power = min(0.3 * arm.misfit, 1.0)
        weights = [
            (t / arm.ends[-1]) ** power / (1 + phi * x)
            for t, x in zip(arm.ends, arm.likely, strict=True)
        ]
        again = arm.weigh(weights, beta_weights(1 / 2.5))
        again = {cell: weight * factor(cell) for cell, weight in again.items()}
        _, tail, unsure = arm.mean_hazards(again, end)
    hazards = []
    left = 1.0
    for c, e, h in zip(arm.converted, arm.exposed, expected, strict=True):
        r = 1 / (phi * max(h, LEAST))
        hazards.append((c + r * h) / (c + e + r))
        left *= 1 - hazards[-1]
    chosen_left = arm.left_for_choice(expected, phi)
    to_come = chosen_left * tail / (1 + CAUTION * unsure**2)
    for_choice = 1 - chosen_left + min(to_come, MOST_TO_COME * (1 - chosen_left))
    return hazards, tail, arm.misfit, 1 - left * (1 - tail), unsure, for_choice


def chances(centres, spreads, cells=48):
    """P(each of these normal variables is the largest), by cells: those of PatientThompson."""
    below = lambda x, k: 1 - normal_above((x - centres[k]) / spreads[k])  # noqa: E731
    arms = range(len(centres))
    best = max(arms, key=lambda k: (centres[k], -k))
    low = max(centres[k] - 6 * spreads[k] for k in arms)
    high = max(centres[k] + 6 * spreads[k] for k in arms)
    near = [centres[best] + 6 * spreads[best] * (2 * j / cells - 1) for j in range(cells + 1)]
    wide = [low + (high - low) * j / cells for j in range(1, cells + 2)]
    edges = sorted(near + wide)
    found = [0.0] * len(centres)
    for left, right in itertools.pairwise(edges):
        if right <= low:
            continue
        middle = [(below(left, k) + below(right, k)) / 2 for k in arms]
        for k in arms:
            others = math.prod(max(middle[j], 1e-200) for j in arms if j != k)
            found[k] += max(below(right, k) - below(left, k), 0.0) * others
    total = plain_sum(found)
    return [(x / total + 1e-7) / (1 + 1e-7 * len(found)) for x in found]

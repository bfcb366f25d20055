"""Ratios of rates from the odds of the visits among those who converted, and the common prior."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm, t

from naive.model import chances
from naive.sums import plain_sum

TAUS = (0.01, 0.02, 0.04, 0.07, 0.11, 0.16, 0.23, 0.33, 0.5, 0.8)


MANY = 16
"""With more arms the policy does without matrices, and with one value of m for each of tau."""


def fit(visitors, mass, conversions, weights, begin):
    """(logs, errors) of the arms, strata in rows, by the definition; ``begin``: where many arms'
    logs begin."""
    mass = np.array(mass)
    came = np.array(conversions, float)
    weights = np.array(weights)
    use = (came.sum(axis=1) > 0) & ((mass > 0).sum(axis=1) > 1)
    mass, came, weights = mass[use], came[use], weights[use]
    visitors = np.array(visitors, float)[use]
    arms = mass.shape[1]
    centred = 0.02 * (np.eye(arms) - 1 / arms)
    came = came * weights[:, None]
    usual = came.sum(axis=1, keepdims=True) * mass / mass.sum(axis=1, keepdims=True)
    total = usual.sum(axis=0)
    came = came + 0.5 * usual / np.where(total > 0, total, 1)
    events = came.sum(axis=1)
    if arms > MANY:
        return fit_many(visitors, mass, came, events, total > 0, weights, begin)
    beta = np.zeros(arms)
    for _ in range(200):
        shares = mass * np.exp(beta)
        shares /= shares.sum(axis=1, keepdims=True)
        gradient = (came - events[:, None] * shares).sum(axis=0) - centred @ beta
        curve = np.array(centred)
        for c, q in zip(events, shares, strict=True):
            curve += c * (np.diag(q) - np.outer(q, q))
        step = np.linalg.pinv(curve, hermitian=True) @ gradient
        beta += step / max(1.0, np.abs(step).max())
        if np.abs(step).max() < 1e-11:
            break
    noise = np.array(centred)
    for w, c, q, n in zip(weights, events, shares, visitors, strict=True):
        rates = np.minimum(c * q / np.maximum(w * n, 1e-12), 1)
        away = np.eye(arms) - np.outer(q, np.ones(arms))
        noise += away @ np.diag(w * c * q * (1 - rates)) @ away.T
    inverse = np.linalg.pinv(curve, hermitian=True)
    return [float(b) for b in beta], errors_of(inverse @ noise @ inverse)


def fit_many(visitors, mass, came, events, shown, weights, begin):
    """Each arm's log rises by that of its conversions over those to be expected; its variance is
    that of its own score, as if the others' were as likely in every stratum."""
    logs = list(begin)
    arms = range(len(logs))
    wins = came.sum(axis=0)

    def shares():
        weighted = mass * np.exp(np.array(logs) - max(logs))
        return weighted / weighted.sum(axis=1, keepdims=True)

    for _ in range(60):
        expected = events @ shares()
        steps = [
            min(max(math.log(wins[k] / expected[k]), -2.0), 2.0) if shown[k] else 0.0 for k in arms
        ]
        logs = [b + step for b, step in zip(logs, steps, strict=True)]
        if max(map(abs, steps)) < 1e-7:
            break
    errors = []
    for k, q in enumerate(shares().T):
        expected = events * q
        rates = np.minimum(expected / np.maximum(weights * visitors[:, k], 1e-12), 1)
        own = weights * expected * (1 - rates) * (1 - q) ** 2
        noise = 0.02 + (own + q**2 * weights * events * (1 - q)).sum()
        spared = 1 - (expected * q).sum() / expected.sum() if expected.sum() > 0 else 1.0
        errors.append(math.sqrt(noise * max(spared, 0.05)) / (0.02 + (expected * (1 - q)).sum()))
    return logs, errors


def errors_of(variance):
    """Independent errors that give, by least squares, the variances of all contrasts."""
    arms = len(variance)
    of = lambda i, j: max(variance[i][i] + variance[j][j] - 2 * variance[i][j], 0.0)  # noqa: E731
    if arms == 2:
        return [math.sqrt(of(0, 1) / 2)] * 2
    rows = [plain_sum(of(i, j) for j in range(arms)) for i in range(arms)]
    found = []
    for i in range(arms):
        own = (rows[i] - plain_sum(rows) / (2 * (arms - 1))) / (arms - 2)
        found.append(math.sqrt(max(own, 0.05 * min(of(i, j) for j in range(arms) if j != i))))
    return found


def with_values(logs, errors, values):
    """(logs, errors, whether values differ) of what a visitor brings."""
    everything = [v for row in values for v in row]
    if max(everything) - min(everything) < 1e-6:
        return logs, errors, False
    degrees = max(len(everything) - sum(bool(row) for row in values), 1)
    scatter = misses = 0.0
    for row in filter(None, values):
        mean = plain_sum(row) / len(row)
        scatter += plain_sum((v / mean - 1) ** 2 for v in row)
        middle = plain_sum(math.log(v) for v in row) / len(row)
        misses += plain_sum((math.log(v) - middle) ** 2 for v in row)
    cv2 = max(scatter / degrees, math.exp(min(misses / degrees, 20)) - 1)
    if cv2 < 1e-9:  # of each arm all alike: nothing is known of how they scatter
        return logs, errors, False
    stretch = 5.765473 if degrees == 1 else t.ppf(0.975, degrees) / norm.ppf(0.975)
    mean = lambda row: plain_sum(row) / len(row)  # noqa: E731
    logs = [
        b + math.log(mean(row if len(row) >= 2 else everything))
        for b, row in zip(logs, values, strict=True)
    ]
    errors = [
        math.sqrt(s**2 + cv2 * stretch**2 / max(len(row), 1))
        for s, row in zip(errors, values, strict=True)
    ]
    return logs, errors, True


def best(logs, errors, scale):
    """P(best) under the common prior, each value of tau and m in turn."""
    arms = range(len(logs))
    steps = np.gradient(TAUS)
    fits, means, totals = [], [], []
    for tau, step in zip(TAUS, steps, strict=True):
        w = [1 / (errors[k] ** 2 + tau**2) for k in arms]
        m = plain_sum(w[k] * logs[k] for k in arms) / plain_sum(w)
        fit = math.log(step) - 2 * math.log(1 + (tau / scale) ** 2 / 3)
        fit += plain_sum(math.log(w[k]) for k in arms) / 2 - math.log(plain_sum(w)) / 2
        fits.append(fit - plain_sum(w[k] * (logs[k] - m) ** 2 for k in arms) / 2)
        means.append(m)
        totals.append(plain_sum(w))
    weights = [math.exp(fit - max(fits)) for fit in fits]
    if len(logs) == 2:
        return best_of_two(logs, errors, weights)
    won = [0.0 for _ in arms]
    least, nodes = 0.02, ((-math.sqrt(3), 1 / 6), (0.0, 2 / 3), (math.sqrt(3), 1 / 6))
    if len(logs) > MANY:
        least, nodes = 0.1, ((0.0, 1.0),)
    for tau, weight, m, total in zip(TAUS, weights, means, totals, strict=True):
        if weight < least:
            continue
        for node, part in nodes:
            middle = m + node / math.sqrt(total)
            q = [1 / errors[k] ** 2 + 1 / tau**2 for k in arms]
            centres = [(logs[k] / errors[k] ** 2 + middle / tau**2) / q[k] for k in arms]
            shares = chances(centres, [1 / math.sqrt(x) for x in q], 24)
            won = [x + weight * part * share for x, share in zip(won, shares, strict=True)]
    return [x / plain_sum(won) for x in won]


def best_of_two(logs, errors, weights):
    """The closed form."""
    d, v = logs[1] - logs[0], errors[0] ** 2 + errors[1] ** 2
    second = 0.0
    for tau, weight in zip(TAUS, weights, strict=True):
        spread = 2 * tau**2 * v / (v + 2 * tau**2)
        second += weight * norm.cdf(d * spread / v / math.sqrt(spread))
    second /= plain_sum(weights)
    return [1 - second, second]

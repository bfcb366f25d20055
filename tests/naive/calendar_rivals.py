# ruff: noqa: N806  (the names are the papers')
"""Rivals on problems with a calendar, and the oracle that is told the factors."""

from __future__ import annotations

import math

import numpy as np

from naive.random_numbers import Draws
from naive.worlds import phase_of, survival


def draws(view, mean, information):
    """A draw from N(mean, information^-1): mean + x with L' x = z, L L' = information."""
    z = [Draws(bits).normal() for bits in view.random]
    return mean + np.linalg.solve(np.linalg.cholesky(information).T, z)


def deconfounded_thompson(view, arm, window, day):
    days = max((view.t - window) // day, 0)
    old = [p for p in view.pulls if p.s <= days * day]
    paid = {p.s: p.visible(view.t - p.s) * (p.delay <= window) for p in old}
    rate = (sum(paid.values()) + 1) / (len(old) + 2)
    information, score = np.eye(view.K), np.zeros(view.K)
    for d in range(days):
        own = [p for p in old if (p.s - 1) // day == d]
        seen = np.array([[p.arm == k for k in range(view.K)] for p in own], float)
        within = seen - seen.mean(axis=0)
        information += within.T @ within / (rate * (1 - rate))
        score += within.T @ [paid[p.s] for p in own] / (rate * (1 - rate))
    return draws(view, np.linalg.solve(information, score), information)[arm]


def events(view, window):
    """(arm, those at risk by arm) of each conversion; in a round the newest pull comes first."""
    known = [p for p in view.pulls if p.visible(view.t - p.s) and p.delay <= window]
    known.sort(key=lambda p: (p.heard, -p.s))
    for place, p in enumerate(known):
        gone = {q.s for q in known[:place]}
        waiting = [
            q
            for q in view.pulls
            if q.s not in gone and q.s < p.heard and (q.s + window >= p.heard - 1 or q is p)
        ]
        yield p.arm, np.array([sum(q.arm == k for q in waiting) for k in range(view.K)])


def partial_likelihood_thompson(view, arm, window, spread):
    beta = np.zeros(view.K)
    observed = list(events(view, window))
    for _ in range(60):
        score, information = -beta / spread**2, np.eye(view.K) / spread**2
        for k, at_risk in observed:
            q = at_risk * np.exp(beta) / (at_risk @ np.exp(beta))
            score, information = (
                score + (np.arange(view.K) == k) - q,
                information + np.diag(q) - np.outer(q, q),
            )
        step = np.linalg.solve(information, score)
        beta = beta + step / max(1, np.abs(step).max())
    return draws(view, beta, information)[arm]


def calendar_oracle(view, arm, problem, horizon, step):
    window = problem.get("window", horizon)

    def curve(t):
        return survival(phase_of(problem, t)[1][arm])

    def factor(t):
        rate = [
            phase_of(problem, s)[0][arm] * (1 - curve(s)(window) if "window" in problem else 1)
            for s in (t, 1)
        ]
        return rate[0] / rate[1]

    def arrived(t, age):
        whole = 1 - curve(t)(window) if "window" in problem else 1
        return (1 - curve(t)(min(age, window))) / whole

    last = (view.t - 1) // step * step + 1
    E = math.fsum(factor(p.s) * arrived(p.s, last - p.s) for p in view.of(arm) if p.s < last)
    y = sum(p.visible(view.t - p.s) > 0 for p in view.of(arm))
    return Draws(view.random[arm]).gamma(4 * (1 + y)) / (4 * (1 + E)) * factor(view.t)

# ruff: noqa: N806  (the names are the paper's)
"""Indices that are upper bounds, from the whole history."""

from __future__ import annotations

import math

from naive.sums import plain_sum
from naive.worlds import survival


def width(view, n, kind):
    L = math.log(2 * view.K * view.T**3)
    return {
        "paper": math.sqrt(2 * L / n),
        "tight": math.sqrt(L / (2 * n)),
        "published": math.sqrt(math.log(view.T) / (2 * n)),
    }[kind]


def patient(view, arm, alpha, width, bias):
    n = view.n(arm)
    b = {
        "paper": lambda: 2 * n ** -min(alpha, 0.5),
        "published": lambda: n ** -min(alpha, 0.5),
        "sum": lambda: plain_sum(v**-alpha for v in range(1, n + 1)) / n,
        "aged": lambda: plain_sum(max(view.t - p.s, 1) ** -alpha for p in view.of(arm)) / n,
    }[bias]()
    return view.mean(arm) + globals()["width"](view, n, width) + b


def scheduled(view, arm, width):
    t = max(view.t, 16)
    return patient(view, arm, math.log(math.log(t)) / math.log(t), width, "paper")


def alpha_low(view, c, alpha_floor, mean_floor, penalty, ratio, use_floor, **_):
    floor = min(alpha_floor, 0.5) if use_floor else 0.0
    count, reached = [0] * view.K, {}
    for p in view.pulls:  # J: the arm pulled most; of several the one that came there first
        count[p.arm] += 1
        reached.setdefault(count[p.arm], p.arm)
    N = max(count)
    J = reached.get(N)
    D = N // 2
    d = math.floor((ratio or (c / 2) ** (1 / alpha_floor)) * D)

    def m(x):
        old = [p for p in view.of(J) if p.s <= view.t - x]
        return plain_sum(p.visible(x) for p in old) / len(old)

    if d == 0 or not any(p.s <= view.t - D for p in view.of(J)):
        return floor
    late = m(D) - m(d)
    hat = min(-math.log(late) / math.log(N), 0.5) if late > 0 else 0.5
    if penalty == "paper":
        penalty = math.log(16 * math.sqrt(math.log(2 * view.K * view.T**3)) / (c * mean_floor))
    return max(hat - penalty / math.log(N), 0.0, floor)


def adapt(view, arm, width, bias, **parameters):
    return patient(view, arm, alpha_low(view, **parameters), width, bias)


def ducb_sums(view, arm, law, window, mode):
    """(pulls, S, N~) of D-UCB."""
    tau = lambda m: 1 - survival(law)(m)  # noqa: E731
    pulls, t = view.of(arm), view.t
    if mode == "uncensored":
        return len(pulls), view.S(arm), plain_sum(tau(t - p.s) for p in pulls)
    if mode == "discard":
        pulls = [p for p in pulls if t - p.s >= window]
    paid = plain_sum(p.visible(min(t - p.s, window)) for p in pulls)
    if mode == "wait":
        paid = plain_sum(p.visible(window) for p in pulls if t - p.s >= window)
        return len(pulls), paid, len(pulls) * tau(window)
    return len(pulls), paid, plain_sum(tau(min(t - p.s, window)) for p in pulls)


def ducb(view, arm, law, window, mode, exploration):
    if mode == "wait" and view.t <= window + view.K:
        return math.inf if arm == (view.t - 1) % view.K else -math.inf
    N, S, weight = ducb_sums(view, arm, law, window, mode)
    if weight == 0:
        return math.inf
    if mode == "wait":
        return S / weight + math.sqrt(exploration * math.log(view.t) / N)
    return S / weight + math.sqrt(N / weight) * math.sqrt(math.log(view.t) / (2 * weight))


def largest(fits, low, high):
    """max{q in [low, high] : fits(q)} by bisection; fits(low) holds."""
    if fits(high):
        return high
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def xlog(x, y):
    """x log(x / y), 0 for x = 0."""
    return x * math.log(x / y) if x > 0 else 0.0


def dklucb(view, arm, law, window, mode, exploration):
    _, S, weight = ducb_sums(view, arm, law, window, mode)
    if weight == 0:
        return math.inf
    p, level = min(S / weight, 1.0), math.log(view.t) / weight
    return largest(lambda q: q <= p or xlog(p, q) + q - p <= level, p, 10 + 10 * level)


def klucb(view, arm, c):
    n, p, log_t = view.n(arm), view.mean(arm), math.log(view.t)
    level = log_t + (c * math.log(log_t) if log_t > 1 else 0)
    if p >= 1:
        return 1.0
    return largest(
        lambda q: q <= p or (q < 1 and n * (xlog(p, q) + xlog(1 - p, 1 - q)) <= level), p, 1.0
    )


def patient_kl(view, arm, alpha, scale, envelope, c):
    law = envelope or (
        {"law": "Pareto", "tail": alpha, "scale": 1.0, "rounding": "ceil"}
        if scale == 1
        else {"law": "Lomax", "tail": alpha, "scale": scale, "rounding": "ceil"}
    )
    n, p, log_t = view.n(arm), view.mean(arm), math.log(view.t)
    v = plain_sum(1 - survival(law)(view.t - pull.s) for pull in view.of(arm)) / n
    if v <= 0:
        return math.inf
    level = log_t + (c * math.log(log_t) if log_t > 1 else 0)
    return largest(
        lambda q: (
            q * v <= p or (q * v < 1 and n * (xlog(p, q * v) + xlog(1 - p, 1 - q * v)) <= level)
        ),
        p,
        1 / v,
    )

"""Lower bounds: Theorems 4 and 5, Theorem B, the price of a window, and E, of being late."""

from __future__ import annotations

import math

from patientbandits.errors import choice, number, positive, require, whole
from patientbandits.theory.upper import FORMS


def lower_bound(horizon: int, alpha: float, form: str = "corrected") -> float:
    """T^(1-alpha) / 4        (Theorem 4; printed: / 8)

    For any policy, on one of the two problems of `problems.hidden_pair` (printed:
    `problems.indistinguishable_pair`).
    """
    horizon = whole("lower_bound", "horizon", horizon, 2)
    share = {"corrected": 4, "printed": 8}[choice("lower_bound", "form", form, FORMS)]
    return horizon ** (1 - positive("lower_bound", "alpha", alpha)) / share


def no_adaptation_bound(horizon: int, alpha: float, level: float = 0.25) -> float:
    """(1 - sqrt(M))^2 T^(1-alpha)        (Theorem 5, in its right form)

    A policy with regret of at most M T^(1-alpha) on all problems with alpha, 1/4 <= M < 1, has at
    least this much on a problem without any delay. M is ``level``. As printed the class, regret
    below T^(1-alpha) / 8, is empty: by Theorem 4 there is no policy with M < 1/4. It says something
    for alpha < 1/2: beyond, the class is empty for large T, since without delays sqrt(2 T) / 27 is
    lost.
    """
    owner = "no_adaptation_bound"
    rule = "level must be in [1/4, 1)"
    require(0.25 <= number(owner, "level", level) < 1, owner, rule, level=level)
    return (1 - math.sqrt(level)) ** 2 * 4 * lower_bound(horizon, alpha)


def window_bound(horizon: int, window: int, alpha: float) -> float:
    """T w^-alpha / 4        (Theorem B)

    What a policy loses, against the total means, that is never shown a reward later than w: on one
    of the two problems `problems.hidden_pair(w, alpha)`, whatever the policy.
    """
    owner = "window_bound"
    horizon = whole(owner, "horizon", horizon, 1)
    window = whole(owner, "window", window, 1)
    return horizon * window ** -positive(owner, "alpha", alpha) / 4


def waiting_bound(horizon: int, window: int, gap: float) -> float:
    """gap (w ^ T) / 2        (Theorem B, second part)

    What any policy loses, even against the rates within the window, on one of two problems: two
    arms with this gap that pay after exactly w rounds, and the same arms swapped.
    """
    owner = "waiting_bound"
    horizon = whole(owner, "horizon", horizon, 1)
    window = whole(owner, "window", window, 0)
    rule = "gap must be in (0, 1]"
    require(0 < number(owner, "gap", gap) <= 1, owner, rule, gap=gap)
    return gap * min(window, horizon) / 2


def frontier_bound(late: int, extra: float, place: float, share: float) -> float:
    """(1 - s) p (1 - x) m        (Theorem E)

    What a policy loses at least in world B_m, where arm 2 pays ``extra`` p more, ``late`` m rounds
    later, and arm 1 lies at ``place`` s of p, if by m it loses the ``share`` x of s p m in world A,
    where nothing more comes. To a policy both worlds are one until m.
    """
    owner = "frontier_bound"
    late = whole(owner, "late", late, 1)
    for name, value in (("extra", extra), ("place", place), ("share", share)):
        rule = f"{name} must be in [0, 1]"
        require(0 <= number(owner, name, value) <= 1, owner, rule, **{name: value})
    return (1 - place) * extra * (1 - share) * late

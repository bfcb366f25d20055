"""The paper's problems, by name.

Preset "literal": delays ceil-Pareto, as the text says. Preset "published": D = ceil(10 * Lomax),
which with the published index gives the heights of the paper's figures (found by fitting, not
stated by the authors).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from patientbandits.errors import choice, number, positive, require, whole
from patientbandits.problems.delays import Delay, Fixed, Lomax, Mixture, NoDelay, Pareto
from patientbandits.problems.problem import Problem

PRESETS = ("published", "literal")
PUBLISHED_SCALE = 10.0


def paper_delay(tail: float, preset: str = "literal") -> Delay:
    """The paper's delay law with this tail index."""
    if choice("paper_delay", "preset", preset, PRESETS) == "literal":
        return Pareto(tail)
    return Lomax(tail, PUBLISHED_SCALE)


def alpha_sweep(preset: str = "literal") -> Problem:
    """Figure 1: two close arms, the better one much slower."""
    return Problem([0.5, 0.55], [paper_delay(1.0, preset), paper_delay(0.3, preset)])


def gap_sweep(gap: float = 0.2, tail: float = 0.3, preset: str = "literal") -> Problem:
    """Figure 2: means 0.4 and 0.4 + gap, tails 1 and ``tail``."""
    return Problem(
        [0.4, 0.4 + positive("gap_sweep", "gap", gap)],
        [paper_delay(1.0, preset), paper_delay(tail, preset)],
    )


def homogeneous(preset: str = "literal") -> Problem:
    """Figure 3: the same delays for both arms."""
    return Problem([0.6, 0.8], paper_delay(0.7, preset))


def heterogeneous(preset: str = "literal") -> Problem:
    """Figure 4: the better arm has the much heavier tail."""
    return Problem([0.6, 0.8], [paper_delay(1.0, preset), paper_delay(0.3, preset)])


@dataclass(frozen=True)
class ThinnedPareto(Delay):
    """S(m) = 0.7 (1 + m)^-0.3 for m >= 1, and S(0) = S(1).

    Arm 1 of the published adaptive experiment.
    """

    def survival_at(self, m: int) -> float:
        return 0.7 * (1.0 + max(m, 1)) ** -0.3


def adaptive(preset: str = "literal") -> Problem:
    """Section 8.3 of the published version: one common tail index 0.3, c = 0.7."""
    return Problem([0.6, 0.8], [ThinnedPareto(), paper_delay(0.3, preset)])


def indistinguishable_pair(horizon: int, alpha: float) -> tuple[Problem, Problem]:
    """Problems A and B of Theorem 4: p = T^-alpha, q = p / (4 - 2p).

    Arm 1 pays 1/2 at once. Arm 2 pays 1/2 - q at once in A; in B it pays 1/2 + q, of which the
    share p arrives only after T. What arrives in time has the same law in both, so no policy can
    tell them apart; yet the best arms differ.
    """
    horizon = whole("indistinguishable_pair", "horizon", horizon, 2)
    p = horizon ** -positive("indistinguishable_pair", "alpha", alpha)
    q = p / (4 - 2 * p)
    late = Mixture([NoDelay(), Fixed(horizon)], [1 - p, p])
    return Problem([0.5, 0.5 - q]), Problem([0.5, 0.5 + q], [NoDelay(), late])


def hidden_pair(window: int, alpha: float, share: float = 0.5) -> tuple[Problem, Problem]:
    """Problems A and B that nobody can tell apart who sees no reward later than w: p = w^-alpha.

    Arm 1 pays 1 - share p at once. Arm 2 pays 1 - p at once in A; in B it always pays, but with
    probability p only after w + 1. What is seen has the same law in both; the gaps are
    (1 - share) p and share p. With w = T and share 1/2 they give Theorem 4 with twice its constant,
    with share sqrt(M) Theorem 5 (`theory.no_adaptation_bound`), with w < T `theory.window_bound`.
    """
    owner = "hidden_pair"
    window = whole(owner, "window", window, 1)
    p = window ** -positive(owner, "alpha", alpha)
    require(0 < number(owner, "share", share) < 1, owner, "share must be in (0, 1)", share=share)
    late = Mixture([NoDelay(), Fixed(window + 1)], [1 - p, p])
    at_once = 1 - share * p
    return Problem([at_once, 1 - p]), Problem([at_once, 1.0], [NoDelay(), late])


PROBLEMS: dict[str, Callable[..., Problem]] = {
    "alpha_sweep": alpha_sweep,
    "gap_sweep": gap_sweep,
    "homogeneous": homogeneous,
    "heterogeneous": heterogeneous,
    "adaptive": adaptive,
    "theorem4_a": lambda horizon=1000, alpha=0.3: indistinguishable_pair(horizon, alpha)[0],
    "theorem4_b": lambda horizon=1000, alpha=0.3: indistinguishable_pair(horizon, alpha)[1],
}
"""What a study file may name."""

"""The paper's claims, each as a check computed from the data, with its verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from patientbandits.paper.experiments import GAP_TAILS, WINDOWS, Series
from patientbandits.paper.studies import LONG_TAILS, WORST_ALPHAS, WORST_HORIZONS

HOLDS, PARTLY, FAILS = "holds", "holds in part", "does not hold"
Curves = Mapping[str, Series]


@dataclass(frozen=True)
class Claim:
    """What the paper says, what the data say, and why they differ if they do."""

    source: str
    statement: str
    verdict: str
    measured: str
    why: str = ""


def verdict(*checks: bool) -> str:
    return HOLDS if all(checks) else PARTLY if any(checks) else FAILS


def gaps(curve: Series) -> tuple[float, ...]:
    """The gaps of the curve's problem."""
    problem = curve.results[0].problem
    assert problem is not None
    return problem.gaps


def random_regret(curve: Series) -> float:
    """Expected regret at the horizon of pulling every arm equally often."""
    return float(np.mean(gaps(curve))) * float(curve.results[0].rounds[-1])


def alpha_sweep(curves: Curves, preset: str) -> list[Claim]:
    """Claim 1: a U shape, with its minimum near 0.3."""
    curve = curves["PatientBandits"]
    best = int(np.argmin(curve.mean))
    drop = curve.results[0].minus(curve.results[best])
    rise = curve.results[-1].minus(curve.results[best])
    falls, rises = drop.interval()[0][-1] > 0, rise.interval()[0][-1] > 0
    at = f"{curve.x[best]:.2f}"
    flat = [x for x, m in zip(curve.x, curve.mean, strict=True) if m <= curve.mean[best] * 1.01]
    shape = Claim(
        "Figure 1",
        "Regret first falls, then rises with alpha",
        verdict(bool(falls), bool(rises)),
        f"{curve.mean[0]:.1f} at {curve.x[0]:.2f}, {curve.mean[best]:.1f} at {at}, {curve.mean[-1]:.1f} at "
        f"{curve.x[-1]:.2f}; paired differences "
        f"to the minimum {drop.mean()[-1]:+.1f} and {rise.mean()[-1]:+.1f}",
    )
    place = Claim(
        "Figure 1",
        "The regret is least near alpha = 0.3, the tail of the slow arm",
        verdict(min(flat) <= 0.3 <= max(flat)),
        f"least at {at}; within 1 % of it from {min(flat):.2f} to {max(flat):.2f}",
        "The bonus n^-alpha pushes exploration hardest at alpha = 1/log n, about 0.13 here, whatever the delays; the published plot "
        "has its minimum at 0.13 to 0.18 as well.",
    )
    claims = [shape, place]
    if preset == "literal":
        random_play = random_regret(curve)
        claims.append(
            Claim(
                "Figure 1",
                "PatientBandits with the printed constants learns on this problem within 3000 rounds",
                verdict(curve.mean[best] < random_play),
                f"best {curve.mean[best]:.1f}, playing at random {random_play:.0f}",
                "The confidence bonus of the printed constants stays above the gap of 0.05 for the whole horizon.",
            )
        )
    return claims


def gap_sweep(curves: Curves, preset: str) -> list[Claim]:
    """Claim 2: rises, then falls with the gap; a smaller tail means more regret, a higher peak and a later one."""
    ordered = [curves[f"alpha2={tail}"] for tail in GAP_TAILS]
    peaks = [int(np.argmax(curve.mean)) for curve in ordered]
    interior = [0 < peak < len(curve.x) - 1 for peak, curve in zip(peaks, ordered, strict=True)]
    heights = [float(curve.mean[peak]) for peak, curve in zip(peaks, ordered, strict=True)]
    places = [float(curve.x[peak]) for peak, curve in zip(peaks, ordered, strict=True)]
    above = [float(np.mean(slow.mean > fast.mean)) for slow, fast in pairwise(ordered)]
    tails = ", ".join(f"{tail}" for tail in GAP_TAILS)
    return [
        Claim(
            "Figure 2",
            "Regret rises, then falls with the gap",
            verdict(*interior),
            f"peak inside the range for {sum(interior)} of {len(interior)} curves",
        ),
        Claim(
            "Figure 2",
            "The smaller the tail, the larger the regret",
            verdict(min(above) >= 0.9),
            f"between neighbouring curves the slower one is above at {100 * min(above):.0f} % of the gaps or more",
        ),
        Claim(
            "Figure 2",
            "The smaller the tail, the higher the peak and the larger the gap where it is",
            verdict(
                heights == sorted(heights, reverse=True), places == sorted(places, reverse=True)
            ),
            f"for tails {tails}: heights {', '.join(f'{h:.0f}' for h in heights)} at gaps {', '.join(f'{p:.2f}' for p in places)}",
        ),
    ]


def slope(curve: Series, start: float, end: float) -> float:
    """Regret per round between two rounds."""
    return (curve.at(end) - curve.at(start)) / (end - start)


def homogeneous(curves: Curves, preset: str) -> list[Claim]:
    """Claim 3: comparable at the best calibrations; D-UCB has linear phases that last longer for larger m."""
    patient, ducb = curves["PatientBandits alpha=0.5"], curves["D-UCB m=50"]
    ratio = patient.mean[-1] / ducb.mean[-1]
    gap_rate = (
        random_regret(ducb) / ducb.x[-1]
    )  # regret per round while both arms are played in turn
    lengths = []
    for window in WINDOWS:
        curve = curves[f"D-UCB m={window}"]
        linear = curve.x[curve.mean >= 0.85 * gap_rate * curve.x]
        lengths.append(float(linear.max()) if linear.size else 0.0)
    return [
        Claim(
            "Figure 3",
            "PatientBandits and D-UCB are comparable at their best calibrations (alpha 0.5, m 50), PatientBandits slightly worse",
            verdict(0.5 <= ratio <= 2, ratio > 1),
            f"regret {patient.mean[-1]:.1f} against {ducb.mean[-1]:.1f}: {ratio:.2f} times",
            "With the printed constants the confidence bonus is twice as wide as the proof needs, and the bias bonus is added on top."
            if ratio > 2
            else "D-UCB's published curves are not fully specified; the reading used here (mode wait) is somewhat worse than the "
            "published one at m 50.",
        ),
        Claim(
            "Figure 3",
            "D-UCB starts with a linear phase that lasts longer for larger m",
            verdict(lengths == sorted(lengths) and lengths[-1] > lengths[0]),
            f"regret stays within 15 % of taking turns until round {', '.join(f'{length:.0f}' for length in lengths)} "
            f"for m = {', '.join(map(str, WINDOWS))}",
        ),
    ]


def heterogeneous(curves: Curves, preset: str) -> list[Claim]:
    """Claim 4: D-UCB linear, PatientBandits sublinear."""

    def ratio(name: str) -> float:
        curve = curves[name]
        return (
            slope(curve, 4000, 5000) / slope(curve, 0, 1000)
            if name.startswith("Patient")
            else slope(curve, 4000, 5000) / max(gaps(curve))
        )

    ducb = [ratio(f"D-UCB m={window}") for window in WINDOWS]
    patient = [ratio(f"PatientBandits alpha={alpha}") for alpha in (0.1, 0.5)]
    worst = min(curve.mean[-1] for name, curve in curves.items() if name.startswith("D-UCB"))
    best = min(curve.mean[-1] for name, curve in curves.items() if name.startswith("Patient"))
    return [
        Claim(
            "Figure 4",
            "D-UCB, told one law for all arms, has linear regret",
            verdict(*(r > 0.8 for r in ducb)),
            f"in the last 1000 rounds it pulls the worse arm in {', '.join(f'{100 * r:.0f} %' for r in ducb)} of them "
            f"(m = {', '.join(map(str, WINDOWS))})",
            ""
            if all(r > 0.8 for r in ducb)
            else "With delays this short (scale 1) a window of 100 or more waits out enough of the slow arm's rewards.",
        ),
        Claim(
            "Figure 4",
            "PatientBandits has sublinear regret",
            verdict(*(r < 0.8 for r in patient)),
            f"regret per round in the last 1000 rounds is {' and '.join(f'{r:.2f}' for r in patient)} of that in the "
            "first 1000 (alpha = 0.1, 0.5)",
        ),
        Claim(
            "Figure 4",
            "PatientBandits ends below every D-UCB",
            verdict(best < worst),
            f"best PatientBandits {best:.0f}, best D-UCB {worst:.0f}",
        ),
    ]


def adaptive(curves: Curves, preset: str) -> list[Claim]:
    """Claim 8: Adapt close to the oracle's alpha and better than two wrong ones; alpha_low tends to alpha."""
    oracle, low, high = (
        float(curves[f"PatientBandits alpha={alpha}"].mean[-1]) for alpha in (0.3, 0.1, 0.6)
    )
    claims = []
    for name, what in (
        ("Adapt-PatientBandits as printed", "as printed"),
        ("Adapt-PatientBandits", "variant d = cD/2, penalty 1"),
    ):
        curve = curves[name]
        regret, trace = float(curve.mean[-1]), curve.results[0].trace
        estimate = float(trace.mean(axis=0)[-1]) if trace is not None else float("nan")
        why = ""
        if preset == "published":
            why = "The delays of this preset, of scale 10, break Assumption 2 with c = 0.7, on which the estimate rests."
        if name.endswith("printed"):
            why = (
                "As printed alpha_low is 0 until N > 256 log(2KT^3) / (c mean_floor)^2, about 42 000 pulls, and d is 0 "
                "until D > 36 000: within this "
                "horizon the policy is UCB plus a constant, so the published plot of alpha_low cannot come from the printed formula."
            )
        claims += [
            Claim(
                "Section 8.3",
                f"Adapt-PatientBandits ({what}) comes close to the oracle alpha = 0.3 and beats alpha = 0.1 and 0.6",
                verdict(abs(regret / oracle - 1) < 0.15, regret < low, regret < high),
                f"{regret:.0f} against {oracle:.0f} (0.3), {low:.0f} (0.1), {high:.0f} (0.6)",
                why
                if name.endswith("printed")
                else ""
                if regret < high
                else "A larger alpha than the true one does better here: its smaller bias bonus wastes less.",
            ),
            Claim(
                "Section 8.3",
                f"alpha_low ({what}) tends to alpha = 0.3",
                verdict(abs(estimate - 0.3) < 0.05),
                f"{estimate:.3f} at round 10 000",
                why,
            ),
        ]
    return claims


def classical(curves: Sequence[Series]) -> list[Claim]:
    """Claim 5: a classical UCB has linear regret when alpha < 1/2."""
    parts, ends = [], []
    for curve in curves:
        local = np.gradient(np.log(curve.mean), np.log(curve.x))
        linear = curve.x[local >= 0.85]
        parts.append(
            f"{curve.name}: slope of log regret {local[0]:.2f} at t = {curve.x[0]:.0f}, {local[-1]:.2f} at t = {curve.x[-1]:.0f}, "
            f"linear until about t = {linear.max() if linear.size else 0:.0f}"
        )
        ends.append(bool(local[-1] >= 0.85))
    return [
        Claim(
            "Section 7",
            "A classical UCB has linear regret when alpha < 1/2",
            verdict(*ends),
            "; ".join(parts),
            "It is fooled only while the share of the better arm's rewards that is still missing exceeds the gap. An "
            "arm that is pulled on, even rarely, shows "
            "an ever larger share, so with these gaps the linear phase ends, and the regret settles.",
        )
    ]


def log_growth(curves: Sequence[Series]) -> list[Claim]:
    """Claim 6: delays do not change the order in T."""
    ends = [float(np.diff(np.log(c.mean))[-1] / np.diff(np.log(c.x))[-1]) for c in curves]
    return [
        Claim(
            "Theorem 2",
            "At long horizons regret grows like log T, whatever alpha",
            verdict(*(end < 0.15 for end in ends)),
            f"local exponent of T over the last decade: "
            f"{', '.join(f'{end:.2f} (tail {tail})' for end, tail in zip(ends, LONG_TAILS, strict=True))}; log T itself "
            f"has {1 / np.log(curves[0].x[-1]):.2f} there",
        )
    ]


def worst_exponents(curves: Sequence[Series]) -> dict[float, tuple[list[float], float]]:
    """alpha -> (worst mean regret over the gaps, horizon by horizon; fitted exponent of T)."""
    found = {}
    for alpha in WORST_ALPHAS:
        worst = [float(c.mean.max()) for c in curves if c.name.startswith(f"alpha {alpha} ")]
        found[alpha] = worst, float(np.polyfit(np.log(WORST_HORIZONS), np.log(worst), 1)[0])
    return found


def worst_case(curves: Sequence[Series]) -> list[Claim]:
    """Claim 7: the worst regret over gaps grows like T^(1 - alpha ^ 1/2)."""
    fits = worst_exponents(curves)
    theory = {alpha: 1 - min(alpha, 0.5) for alpha in fits}
    shown = ", ".join(
        f"{fit:.2f} against {theory[alpha]:.2f} (alpha {alpha})" for alpha, (_, fit) in fits.items()
    )
    slower = [fits[a][1] for a in WORST_ALPHAS if a <= 0.5]
    return [
        Claim(
            "Theorem 3",
            "The worst regret over the gaps grows no faster than T^(1 - alpha ^ 1/2), up to logarithms",
            verdict(*(fit <= theory[alpha] + 0.06 for alpha, (_, fit) in fits.items())),
            f"fitted exponent over T = 1000 to 300 000: {shown}",
        ),
        Claim(
            "Theorems 3 and 4",
            "It does grow at about that rate: faster the smaller alpha below 1/2, not faster than sqrt(T) above",
            verdict(
                slower == sorted(slower, reverse=True),
                all(fit >= theory[alpha] - 0.12 for alpha, (_, fit) in fits.items()),
            ),
            f"fitted exponents: {shown}",
            "For small alpha the exponent is still rising with T at these horizons.",
        ),
    ]


CHECKS = {
    "alpha_sweep": alpha_sweep,
    "gap_sweep": gap_sweep,
    "homogeneous": homogeneous,
    "heterogeneous": heterogeneous,
    "adaptive": adaptive,
}
STUDY_CHECKS = {"classical": classical, "log_growth": log_growth, "worst_case": worst_case}

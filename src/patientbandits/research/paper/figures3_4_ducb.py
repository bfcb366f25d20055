"""Figures 3 and 4: PatientBandits against D-UCB, which is told the law of the delays."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

import numpy as np

from patientbandits.inference import ratio_interval
from patientbandits.plotting import Panel
from patientbandits.policies import DUCB, Policy
from patientbandits.problems import Problem
from patientbandits.problems import catalogue as problems
from patientbandits.research.paper.claims import (
    Claim,
    Measured,
    all_of,
    chosen_on,
    mean_of,
    numbers_shown,
    tested_on,
    verdict,
    verdict_if,
)
from patientbandits.research.paper.curve import (
    PATIENT_COLORS,
    Curve,
    Curves,
    Series,
    over_rounds,
    patient,
    patient_name,
)
from patientbandits.research.paper.experiment import PublishedFigure

D_UCB_TAIL = 0.7
"""Tail of the law that D-UCB is told."""

PATIENT_ALPHAS = (0.1, 0.5)
WINDOWS = (10, 50, 100, 200)
WINDOW_COLORS = dict(zip(WINDOWS, ("#e0a100", "#d1495b", "#7b4ea3", "#5a3a22"), strict=True))


def ducb_name(window: int) -> str:
    """Name of D-UCB with this window in the published figures."""
    return f"D-UCB m={window}"


class AgainstDUCB(PublishedFigure):
    """The policies of both figures."""

    horizon = 5000
    runs = 400
    xlabel = "round"
    ylabel = "regret"

    @abstractmethod
    def problem(self, preset: str) -> Problem:
        """The arms."""

    def curves(self, preset: str) -> list[Curve]:
        law = problems.paper_delay(D_UCB_TAIL, preset)
        policies: dict[str, Policy] = {}
        colors = {}
        for alpha in PATIENT_ALPHAS:
            policies[patient_name(alpha)] = patient(alpha, preset)
            colors[patient_name(alpha)] = PATIENT_COLORS[alpha]
        for window, color in WINDOW_COLORS.items():
            policies[ducb_name(window)] = DUCB(law, window, "wait")
            colors[ducb_name(window)] = color
        return over_rounds(self.problem(preset), policies, colors, self.horizon, self.runs)

    def panel(self, preset: str, curves: Curves) -> Panel:
        panel = super().panel(preset, curves)
        if one_flattens_the_rest(list(curves.values())):
            return replace(panel, yscale="log")
        return panel


def one_flattens_the_rest(curves: list[Series]) -> bool:
    """True if a curve ends so high that a linear axis would hide the others."""
    ends = [curve.last for curve in curves]
    return max(ends) > 3 * float(np.median(ends))


class Homogeneous(AgainstDUCB):
    """Figure 3: D-UCB is told the exact law. Claim 3: comparable, and D-UCB has linear phases."""

    name = "homogeneous"
    heading = "The same delays for both arms"
    text = (
        f"Means 0.6 and 0.8, tails {D_UCB_TAIL}, horizon {AgainstDUCB.horizon}, "
        f'{AgainstDUCB.runs} runs. D-UCB (mode "wait") is told the exact law of the delays and '
        "waits m rounds (LaTeX Figure 3)."
    )

    def problem(self, preset: str) -> Problem:
        return problems.homogeneous(preset)

    def claims(self, curves: Curves, preset: str) -> list[Claim]:
        return [self.comparable(curves), self.linear_phases(curves)]

    def comparable(self, curves: Curves) -> Claim:
        """Fails if one has more than twice the regret of the other: that is what comparable means.

        In part: comparable, but PatientBandits is not the worse one.
        """
        patient_regret = curves[patient_name(0.5)]
        ducb_regret = curves[ducb_name(50)]
        ours = patient_regret.results[0].final
        theirs = ducb_regret.results[0].final
        ratio = Measured(*ratio_interval(ours, theirs))
        comparable = all_of(ratio.above(1 / COMPARABLE), ratio.below(COMPARABLE))
        return Claim(
            source="Figure 3",
            statement=(
                "PatientBandits and D-UCB are comparable at their best calibrations "
                "(alpha 0.5, m 50), PatientBandits slightly worse"
            ),
            verdict=verdict_if(comparable, ratio.above(1)),
            measured=(
                f"regret {patient_regret.last:.1f} against {ducb_regret.last:.1f}: {ratio} times; "
                f"comparable means within a factor of {COMPARABLE:g}"
            ),
            why=(
                "D-UCB's published curves are not fully specified; the reading used here (mode "
                "wait) is somewhat worse than the published one at m 50. With the printed "
                "constants the confidence bonus is twice as wide as the proof needs, and the bias "
                "bonus is added on top."
            ),
        )

    def linear_phases(self, curves: Curves) -> Claim:
        """Fails if a larger window has a shorter phase, or all last equally long."""
        lengths = [linear_phase(curves[ducb_name(window)]) for window in WINDOWS]
        return Claim(
            source="Figure 3",
            statement="D-UCB starts with a linear phase that lasts longer for larger m",
            verdict=verdict(lengths == sorted(lengths) and lengths[-1] > lengths[0]),
            measured=(
                "regret is that of taking turns, as far as the intervals tell, until round "
                f"{numbers_shown(lengths, '.0f')} for m = {', '.join(map(str, WINDOWS))} "
                "(one round in fifty is recorded)"
            ),
            why="In mode wait the arms are pulled in turn until round m + K, by definition.",
        )


COMPARABLE = 2.0
"""Regrets within this factor are called comparable."""


def linear_phase(curve: Series) -> float:
    """The last recorded round up to which regret is not below that of taking turns.

    Who begins decides about one pull: that much less is not below.
    """
    in_turn = curve.random_regret() / curve.x[-1] * curve.x
    below = np.flatnonzero(curve.high < in_turn - max(curve.gaps))
    if len(below) == 0:
        return float(curve.x[-1])
    # It is below from the first recorded round on: there is no linear phase.
    if below[0] == 0:
        return 0.0
    return float(curve.x[below[0] - 1])


class Heterogeneous(AgainstDUCB):
    """Figure 4: D-UCB is told one law for both. Claim 4: it is linear, PatientBandits is not."""

    name = "heterogeneous"
    heading = "The better arm is the slow one"
    text = (
        f"Means 0.6 and 0.8, tails 1 and 0.3, horizon {AgainstDUCB.horizon}, "
        f"{AgainstDUCB.runs} runs. D-UCB is told the tail {D_UCB_TAIL} for both arms "
        "(LaTeX Figure 4)."
    )

    def problem(self, preset: str) -> Problem:
        return problems.heterogeneous(preset)

    def claims(self, curves: Curves, preset: str) -> list[Claim]:
        ducb = [curves[ducb_name(window)] for window in WINDOWS]
        patients = [curves[patient_name(alpha)] for alpha in PATIENT_ALPHAS]
        return [
            self.ducb_is_linear(ducb),
            self.patient_is_sublinear(patients),
            self.patient_ends_below(patients, ducb),
        ]

    def ducb_is_linear(self, curves: list[Series]) -> Claim:
        """Claim that fails for an m if it pulls the worse arm in less than half of the last rounds.

        In the limit D-UCB with a fixed m prefers the arm with the larger mu tau(m): its regret is
        linear if and only if that is the worse one. Then the share tends to 1, otherwise to 0.
        """
        shares = [late_share(curve) for curve in curves]
        return Claim(
            source="Figure 4",
            statement="D-UCB, told one law for all arms, has linear regret",
            verdict=verdict(*(share.above(0.5) for share in shares)),
            measured=(
                "share of pulls of the worse arm in the last 1000 rounds: "
                f"{'; '.join(map(str, shares))} (m = {', '.join(map(str, WINDOWS))})"
            ),
            why=(
                "For a fixed m its regret is linear if and only if the better arm has the smaller "
                f"mu tau(m). Better against worse arm: {'; '.join(seen_within(curves[0]))}."
            ),
        )

    def patient_is_sublinear(self, curves: list[Series]) -> Claim:
        """Fails if regret grows at least like t over the last half of the rounds."""
        exponents = [curve.growth(2500, 5000) for curve in curves]
        return Claim(
            source="Figure 4",
            statement="PatientBandits has sublinear regret",
            verdict=verdict(*(growth.below(1) for growth in exponents)),
            measured=(
                "exponent of t over the last 2500 rounds: "
                f"{'; '.join(map(str, exponents))} "
                f"(alpha = {', '.join(map(str, PATIENT_ALPHAS))})"
            ),
            why="Below 1 is sublinear; that it is logarithmic cannot be seen within 5000 rounds.",
        )

    def patient_ends_below(self, patients: list[Series], ducb: list[Series]) -> Claim:
        """Claim that fails for an m if the better alpha, chosen on half the runs, is not below."""
        ends = np.column_stack([curve.results[0].final for curve in patients])
        best = int(np.argmin(chosen_on(ends).mean(axis=0)))
        ours = tested_on(ends)[:, best]
        differences = [mean_of(ours - tested_on(curve.results[0].final)) for curve in ducb]
        return Claim(
            source="Figure 4",
            statement="PatientBandits ends below every D-UCB",
            verdict=verdict(*(difference.below(0) for difference in differences)),
            measured=(
                f"alpha = {PATIENT_ALPHAS[best]} minus D-UCB: "
                f"{'; '.join(map(str, differences))} (m = {', '.join(map(str, WINDOWS))})"
            ),
        )


def late_share(curve: Series) -> Measured:
    """Share of the last 1000 rounds in which the worse of two arms is pulled."""
    result = curve.results[0]
    last = int(result.rounds[-1])
    return mean_of((result[:, last] - result[:, last - 1000]) / (1000 * max(curve.gaps)))


def seen_within(curve: Series) -> list[str]:
    """mu tau(m) of the better and of the worse of two arms, for every window."""
    problem = curve.problem
    worse, better = np.argsort(problem.means)
    words = []
    for window in WINDOWS:
        seen = [problem.means[arm] * problem.delays[arm].cdf(window) for arm in (better, worse)]
        words.append(f"{seen[0]:.2f} against {seen[1]:.2f} (m = {window})")
    return words

"""Problems of the suite that were chosen for what they test, and the kinds that they are of.

Every kind of trouble that delays make is among them at least once; the paper's problems come first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from patientbandits.errors import InputError, whole
from patientbandits.problems import Beta, Problem, Scaled, Shift, TwoPoint, gradual
from patientbandits.problems import catalogue as problems
from patientbandits.problems.delays import (
    Fixed,
    Geometric,
    LogLogistic,
    LogNormal,
    Lomax,
    Mixture,
    UniformDelay,
    Weibull,
)

HOPELESS = "hopeless"
SLOW_BEST = "slow arm best"
SLOW_WORST = "slow arm worst"
DIRECTIONS = (SLOW_BEST, SLOW_WORST)
PROBLEM_KINDS = {
    SLOW_BEST: "the better arm is the slow one",
    SLOW_WORST: "the worse arm is the slow one",
    "heavy tails": "delays have heavy tails, and some take longer than anybody waits",
    "same delays": "all arms have the same delays",
    "no delay": "rewards come at once",
    "light tails": "every reward comes within a known time, or delays have light tails",
    "rare": "rewards are rare (1 to 5 %)",
    "many arms": "there are ten arms or more",
    "values": "rewards are amounts, not just 0 or 1",
    "window": "only rewards within a window count",
    "drifting": "rates or delays change on the way",
    "batches": "what has come is heard of every few hundred rounds",
    "dependent": "the delay depends on the reward",
    "constant": "nothing changes, though it might",
    "common": "the rates of all arms rise and fall together",
    "arms change": "arms change places, or one of them wears off",
    "delays change": "delays become longer on the way",
    "random": "nobody has chosen the problem: it was drawn at random",
    HOPELESS: "delays hide just what would tell the arms apart (Theorem 4)",
}
"""kind of problem -> how to recognise it"""

SUITE_RUNS = 120
USUAL_HORIZON = 5000
QUICK_SUITE_RUNS = 20


@dataclass(frozen=True)
class Case:
    """A problem of the suite."""

    name: str
    what: str
    """one sentence for people"""
    tests: str
    """what it tests"""
    problem: Problem
    horizon: int = USUAL_HORIZON
    kinds: tuple[str, ...] = ()
    """of `PROBLEM_KINDS`; a kind of your own is its own description"""
    runs: int = SUITE_RUNS
    quick: bool = False
    """whether --quick plays it"""

    def __post_init__(self) -> None:
        if not isinstance(self.problem, Problem):
            raise InputError(f"Case: problem must be a Problem; got problem={self.problem!r}.")
        whole("Case", "horizon", self.horizon, self.problem.arms)
        whole("Case", "runs", self.runs, 2)

    @property
    def counted(self) -> bool:
        """True if regret says anything: not if all arms are equally good."""
        return any(max(phase.gaps) > 0 for _, phase in self.problem.phases_until(self.horizon))


def kinds_of(cases: Iterable[Case]) -> list[str]:
    """The kinds that problems of the suite are of, in their order."""
    return list(dict.fromkeys(chain.from_iterable(case.kinds for case in cases)))


def usual_cases() -> tuple[Case, ...]:
    """The paper's problems first."""
    return (*_paper_cases(), *_delay_cases(), *_arm_and_reward_cases(), *_trap_cases())


def _paper_cases() -> tuple[Case, ...]:
    """The paper's experiments."""
    published = "published"
    return (
        Case(
            name="alpha_sweep",
            what="Two close arms (0.50 and 0.55); the better one is much slower.",
            tests="the paper's first experiment: a small gap hidden behind a heavy tail",
            problem=problems.alpha_sweep(published),
            horizon=3000,
            kinds=("heavy tails",),
            quick=True,
        ),
        Case(
            name="gap_sweep",
            what="Arms of 0.4 and 0.6; the better one is much slower.",
            tests="the paper's second experiment, at one gap and tail",
            problem=problems.gap_sweep(0.2, 0.3, published),
            horizon=3000,
            kinds=("heavy tails",),
        ),
        Case(
            name="homogeneous",
            what="Arms of 0.6 and 0.8 with the same moderately heavy delays.",
            tests=(
                "the paper's third experiment: patience that is not needed to find the better arm"
            ),
            problem=problems.homogeneous(published),
            kinds=("same delays",),
            quick=True,
        ),
        Case(
            name="heterogeneous",
            what=(
                "Arms of 0.6 and 0.8; half of the better arm's rewards take longer than 90 rounds."
            ),
            tests="the paper's fourth experiment: a better arm that looks worse for a long time",
            problem=problems.heterogeneous(published),
            kinds=("heavy tails",),
            quick=True,
        ),
        Case(
            name="adaptive",
            what="Arms of 0.6 and 0.8, both with tail 0.3, on different scales.",
            tests=(
                "the paper's fifth experiment: learning how slow the arms are, over a longer time"
            ),
            problem=problems.adaptive(published),
            horizon=10_000,
            kinds=("heavy tails",),
            runs=60,
        ),
        Case(
            name="heterogeneous_literal",
            what="The same as heterogeneous, with the shorter delays that the paper's text states.",
            tests="Assumption 1 holding exactly with alpha 0.3",
            problem=problems.heterogeneous("literal"),
            horizon=3000,
            kinds=("heavy tails",),
        ),
    )


def _delay_cases() -> tuple[Case, ...]:
    """Delays of other shapes, and none."""
    return (
        Case(
            name="no_delay",
            what="Arms of 0.6 and 0.8; every reward comes at once.",
            tests="the price of patience where none is needed",
            problem=Problem([0.6, 0.8]),
            kinds=("no delay",),
            quick=True,
        ),
        Case(
            name="light_tails",
            what="Rewards come after 20 rounds on average, the better arm's after 100.",
            tests="delays that are over soon, of another shape than PatientThompson assumes",
            problem=Problem([0.5, 0.6], [Geometric(1 / 20), Geometric(1 / 100)]),
            kinds=("light tails",),
            quick=True,
        ),
        Case(
            name="log_normal",
            what=(
                "As often met with customers: half come within 30 rounds, or 150 for the "
                "better arm; some take thousands."
            ),
            tests="log-normal delays: between light and heavy",
            problem=Problem([0.3, 0.4], [LogNormal(30, 1.5), LogNormal(150, 1.5)]),
            kinds=("light tails",),
        ),
        Case(
            name="fixed_apart",
            what="Every reward takes exactly 10 rounds, or exactly 500 for the better arm.",
            tests="fixed and very different delays: no tail bound holds for any alpha",
            problem=Problem([0.5, 0.6], [Fixed(10), Fixed(500)]),
            kinds=("light tails",),
        ),
        Case(
            name="two_modes",
            what=(
                "Some rewards come within a few rounds, the others after 400 to 600; the "
                "better arm has more of the late kind."
            ),
            tests="delays with two modes, which no single power law describes",
            problem=Problem([0.4, 0.5], [_two_modes(0.8), _two_modes(0.3)]),
            kinds=("light tails",),
        ),
    )


def _two_modes(early: float) -> Mixture:
    """The share ``early`` comes within a few rounds, the others after 400 to 600."""
    return Mixture([Geometric(0.2), UniformDelay(400, 600)], [early, 1 - early])


def _arm_and_reward_cases() -> tuple[Case, ...]:
    """Rare rewards, many arms, amounts."""
    return (
        Case(
            name="low_rates",
            what="Four arms that pay in 1, 2, 3 and 5 of 100 cases, late.",
            tests="conversions that are rare as well as late",
            problem=Problem(
                [0.01, 0.02, 0.03, 0.05], [Lomax(tail, 10) for tail in (1.0, 0.7, 0.5, 0.5)]
            ),
            horizon=10_000,
            kinds=("rare",),
            runs=60,
        ),
        Case(
            name="ten_arms",
            what=(
                "Ten arms from 0.30 to 0.75; delays differ from arm to arm, the best arm's are "
                "the heaviest."
            ),
            tests="more arms",
            problem=Problem(
                [0.3 + 0.05 * i for i in range(10)],
                [*(Lomax((1.0, 0.5, 0.7)[i % 3], 10) for i in range(9)), Lomax(0.4, 10)],
            ),
            kinds=("many arms",),
            runs=60,
        ),
        Case(
            name="fifty_arms",
            what="Fifty arms from 0.2 to 0.7 with three kinds of delays.",
            tests="many arms for the time there is",
            problem=Problem(
                [0.2 + 0.5 * ((7 * i) % 50) / 49 for i in range(50)],
                [Lomax((1.0, 0.7, 0.4)[i % 3], 5) for i in range(50)],
            ),
            kinds=("many arms",),
            runs=30,
        ),
        Case(
            name="beta_rewards",
            what="Every pull pays some amount between 0 and 1, late; 0.5 and 0.6 on average.",
            tests="continuous rewards: no pull stays silent for good",
            problem=Problem([0.5, 0.6], [Lomax(1.0, 10), Lomax(0.4, 10)], Beta(4)),
            kinds=("values",),
        ),
        Case(
            name="sale_values",
            what=(
                "Frequent small sales (0.2 each) against rare large ones (1.0 each), which are "
                "worth more on average."
            ),
            tests="rewards of different size, which counting conversions would misjudge",
            problem=Problem([0.12, 0.2], Lomax(0.7, 10), [Scaled(0.2), Scaled(1.0)]),
            kinds=("values",),
        ),
    )


def _trap_cases() -> tuple[Case, ...]:
    """Problems in which patience is wasted, or nothing can be known."""
    harmless, hidden = problems.indistinguishable_pair(3000, 0.3)
    return (
        Case(
            name="equal_means",
            what="Two arms of 0.5, one fast, one slow: nothing can be lost.",
            tests=(
                "whether the slow arm is treated unfairly: regret is 0, shown is the share of pulls"
            ),
            problem=Problem([0.5, 0.5], [Lomax(1.0, 10), Lomax(0.3, 10)]),
        ),
        Case(
            name="slow_is_worst",
            what="Arms of 0.8 and 0.6; the worse one is much slower.",
            tests="patience spent on an arm that does not deserve it",
            problem=Problem([0.8, 0.6], [Lomax(1.0, 10), Lomax(0.3, 10)]),
            kinds=("heavy tails",),
            quick=True,
        ),
        Case(
            name="theorem4_a",
            what=(
                "Arms of 0.5 and a little less, no delays: the harmless one of Theorem 4's two "
                "problems."
            ),
            tests=(
                "the same view as theorem4_b, with the other arm best: nobody can do well on both"
            ),
            problem=harmless,
            horizon=3000,
            kinds=(HOPELESS,),
        ),
        Case(
            name="theorem4_b",
            what=(
                "The same to the eye as theorem4_a; but the second arm is better: some of its "
                "rewards come after the end."
            ),
            tests="the same view as theorem4_a, with the other arm best",
            problem=hidden,
            horizon=3000,
            kinds=(HOPELESS,),
        ),
    )


def shape_cases() -> tuple[Case, ...]:
    """The better arm is the slow one in all but the last; the mirror has it the other way round."""
    return (
        Case(
            name="bounded",
            what="Every reward comes within 40 rounds, or between 200 and 600 for the better arm.",
            tests="delays with an end, beyond which nothing is to be hoped for",
            problem=Problem([0.35, 0.45], [UniformDelay(0, 40), UniformDelay(200, 600)]),
            kinds=("light tails",),
        ),
        Case(
            name="stretched",
            what="Stretched exponential delays: half within 20 rounds, 150 for the better arm.",
            tests="tails between exponential and power law",
            problem=Problem([0.25, 0.3], [Weibull(0.6, 37), Weibull(0.6, 276)]),
            kinds=("light tails",),
        ),
        Case(
            name="log_logistic",
            what="Three arms: half of it comes within 10, 40 and 200 rounds, the best arm's last.",
            tests="power laws with a mode: few rewards at once, few very late, most in between",
            problem=Problem(
                [0.4, 0.5, 0.6],
                [LogLogistic(10, 1.5), LogLogistic(40, 1.5), LogLogistic(200, 1.5)],
            ),
            kinds=("heavy tails",),
        ),
        Case(
            name="within_a_window",
            what="Only rewards within 60 rounds count; the slow arm is the better one even so.",
            tests="a window, at whose end every pull is known: 0.30 against 0.42",
            problem=Problem([0.3, 0.6], [Geometric(0.1), Geometric(0.02)], window=60),
            kinds=("window",),
        ),
        Case(
            name="too_late",
            what=(
                "Only rewards within 60 rounds count: the slow arm is the better one for ever, and "
                "the worse one within them."
            ),
            tests="counting what counts: 0.40 against 0.30 for ever, 0.18 against 0.30 in time",
            problem=Problem([0.3, 0.4], [Geometric(0.1), Geometric(0.01)], window=60),
            kinds=("window",),
        ),
    )


def world_cases() -> tuple[Case, ...]:
    """Drift, batches, and delays that depend on the reward."""
    before = [0.5, 0.3]
    after = [0.3, 0.5]
    return (
        Case(
            name="drifting_rates",
            what="The better arm becomes the worse one between rounds 1500 and 2500 of 5000.",
            tests="rates that change: what was learned long ago misleads",
            problem=Problem(
                before,
                [LogNormal(20, 1.0), LogNormal(60, 1.0)],
                changes=gradual(before, after, first=1500, last=2500, steps=11),
            ),
            kinds=("drifting",),
        ),
        Case(
            name="drifting_delays",
            what="Equal delays at first; from round 1000 on the better arm is ten times slower.",
            tests="delays that change: an arm that becomes slow looks as if it became worse",
            problem=Problem(
                [0.4, 0.5],
                LogLogistic(20, 1.5),
                changes=[Shift(1000, delays=[LogLogistic(20, 1.5), LogLogistic(200, 1.5)])],
            ),
            kinds=("drifting",),
        ),
        Case(
            name="daily_batches",
            what="What has come is heard of every 250 rounds; half takes 20 or, better arm, 150.",
            tests="decisions in batches: 250 of them on what was known at their beginning",
            problem=Problem([0.3, 0.4], [Weibull(0.8, 32), Weibull(0.8, 237)], batch=250),
            kinds=("batches",),
        ),
        Case(
            name="large_amounts_late",
            what="Every pull pays: 0.1 soon, or 1.0 late; the better arm's large ones much later.",
            tests="delays that depend on the reward: what comes first is not what counts",
            problem=Problem(
                [0.4, 0.5],
                [Geometric(1 / 30), Geometric(1 / 200)],
                TwoPoint(0.1, 1.0),
                low_delays=Geometric(0.2),
            ),
            kinds=("dependent",),
        ),
    )

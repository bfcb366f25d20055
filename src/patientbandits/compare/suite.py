"""The standard suite: problems chosen so that every kind of trouble that delays make is in it at least once."""

from __future__ import annotations

from dataclasses import dataclass

from patientbandits import problems
from patientbandits.delays import Fixed, Geometric, LogNormal, Lomax, Mixture, UniformDelay
from patientbandits.errors import InputError, whole
from patientbandits.problem import Problem
from patientbandits.rewards import Beta, Scaled

HOPELESS = "hopeless"
KINDS = {
    "slow arm best": "the better arm is the slow one, with a heavy tail",
    "same delays": "all arms have the same delays, or the slow arm is no better",
    "no delay": "rewards come at once",
    "light tails": "every reward comes within a known time, or delays have light tails",
    "rare": "rewards are rare (1 to 5 %)",
    "many arms": "there are ten arms or more",
    "values": "rewards are amounts, not just 0 or 1",
    HOPELESS: "delays hide just what would tell the arms apart (Theorem 4)",
}
"""kind of problem -> how to recognise it"""

RUNS, QUICK_RUNS = 120, 20


@dataclass(frozen=True)
class Case:
    """A problem of the suite."""

    name: str
    what: str
    """one sentence for people"""
    tests: str
    """what it tests"""
    problem: Problem
    horizon: int
    kinds: tuple[str, ...] = ()
    """of `KINDS`; a kind of your own is its own description"""
    runs: int = RUNS
    quick: bool = False
    """whether --quick plays it"""

    def __post_init__(self) -> None:
        if not isinstance(self.problem, Problem):
            raise InputError(f"Case: problem must be a Problem; got problem={self.problem!r}.")
        whole("Case", "horizon", self.horizon, self.problem.arms)
        whole("Case", "runs", self.runs, 2)

    @property
    def counted(self) -> bool:
        """Whether regret says anything: not if all arms are equally good."""
        return max(self.problem.gaps) > 0


def suite() -> tuple[Case, ...]:
    """The problems, the paper's first."""
    pair = problems.indistinguishable_pair(3000, 0.3)
    published = "published"
    return (
        Case(
            "alpha_sweep",
            "Two close arms (0.50 and 0.55); the better one is much slower.",
            "the paper's first experiment: a small gap hidden behind a heavy tail",
            problems.alpha_sweep(published),
            3000,
            ("slow arm best",),
            quick=True,
        ),
        Case(
            "gap_sweep",
            "Arms of 0.4 and 0.6; the better one is much slower.",
            "the paper's second experiment, at one gap and tail",
            problems.gap_sweep(0.2, 0.3, published),
            3000,
            ("slow arm best",),
        ),
        Case(
            "homogeneous",
            "Arms of 0.6 and 0.8 with the same moderately heavy delays.",
            "the paper's third experiment: patience that is not needed to find the better arm",
            problems.homogeneous(published),
            5000,
            ("same delays",),
            quick=True,
        ),
        Case(
            "heterogeneous",
            "Arms of 0.6 and 0.8; half of the better arm's rewards take longer than 90 rounds.",
            "the paper's fourth experiment: a better arm that looks worse for a long time",
            problems.heterogeneous(published),
            5000,
            ("slow arm best",),
            quick=True,
        ),
        Case(
            "adaptive",
            "Arms of 0.6 and 0.8, both with tail 0.3, on different scales.",
            "the paper's fifth experiment: learning how slow the arms are, over a longer time",
            problems.adaptive(published),
            10_000,
            ("slow arm best",),
            runs=60,
        ),
        Case(
            "heterogeneous_literal",
            "The same as heterogeneous, with the shorter delays that the paper's text states.",
            "Assumption 1 holding exactly with alpha 0.3",
            problems.heterogeneous("literal"),
            3000,
            ("slow arm best",),
        ),
        Case(
            "no_delay",
            "Arms of 0.6 and 0.8; every reward comes at once.",
            "the price of patience where none is needed",
            Problem([0.6, 0.8]),
            5000,
            ("no delay",),
            quick=True,
        ),
        Case(
            "light_tails",
            "Rewards come after 20 rounds on average, the better arm's after 100.",
            "delays that are over soon, of another shape than PatientThompson assumes",
            Problem([0.5, 0.6], [Geometric(1 / 20), Geometric(1 / 100)]),
            5000,
            ("light tails",),
            quick=True,
        ),
        Case(
            "log_normal",
            "As often met with customers: half come within 30 rounds, or 150 for the better arm; some take thousands.",
            "log-normal delays: between light and heavy",
            Problem([0.3, 0.4], [LogNormal(30, 1.5), LogNormal(150, 1.5)]),
            5000,
            ("light tails",),
        ),
        Case(
            "fixed_apart",
            "Every reward takes exactly 10 rounds, or exactly 500 for the better arm.",
            "fixed and very different delays: no tail bound holds for any alpha",
            Problem([0.5, 0.6], [Fixed(10), Fixed(500)]),
            5000,
            ("light tails",),
        ),
        Case(
            "two_modes",
            "Some rewards come within a few rounds, the others after 400 to 600; the better arm has more of the late kind.",
            "delays with two modes, which no single power law describes",
            Problem(
                [0.4, 0.5],
                [
                    Mixture([Geometric(0.2), UniformDelay(400, 600)], [share, 1 - share])
                    for share in (0.8, 0.3)
                ],
            ),
            5000,
            ("light tails",),
        ),
        Case(
            "low_rates",
            "Four arms that pay in 1, 2, 3 and 5 of 100 cases, late.",
            "conversions that are rare as well as late",
            Problem([0.01, 0.02, 0.03, 0.05], [Lomax(tail, 10) for tail in (1.0, 0.7, 0.5, 0.5)]),
            10_000,
            ("rare",),
            runs=60,
        ),
        Case(
            "ten_arms",
            "Ten arms from 0.30 to 0.75; delays differ from arm to arm, the best arm's are the heaviest.",
            "more arms",
            Problem(
                [0.3 + 0.05 * i for i in range(10)],
                [Lomax((1.0, 0.5, 0.7)[i % 3] if i < 9 else 0.4, 10) for i in range(10)],
            ),
            5000,
            ("many arms",),
            runs=60,
        ),
        Case(
            "fifty_arms",
            "Fifty arms from 0.2 to 0.7 with three kinds of delays.",
            "many arms for the time there is",
            Problem(
                [0.2 + 0.5 * ((7 * i) % 50) / 49 for i in range(50)],
                [Lomax((1.0, 0.7, 0.4)[i % 3], 5) for i in range(50)],
            ),
            5000,
            ("many arms",),
            runs=30,
        ),
        Case(
            "beta_rewards",
            "Every pull pays some amount between 0 and 1, late; 0.5 and 0.6 on average.",
            "continuous rewards: no pull stays silent for good",
            Problem([0.5, 0.6], [Lomax(1.0, 10), Lomax(0.4, 10)], Beta(4)),
            5000,
            ("values",),
        ),
        Case(
            "sale_values",
            "Frequent small sales (0.2 each) against rare large ones (1.0 each), which are worth more on average.",
            "rewards of different size, which counting conversions would misjudge",
            Problem([0.12, 0.2], Lomax(0.7, 10), [Scaled(0.2), Scaled(1.0)]),
            5000,
            ("values",),
        ),
        Case(
            "equal_means",
            "Two arms of 0.5, one fast, one slow: nothing can be lost.",
            "whether the slow arm is treated unfairly: regret is 0, shown is the share of pulls",
            Problem([0.5, 0.5], [Lomax(1.0, 10), Lomax(0.3, 10)]),
            5000,
        ),
        Case(
            "slow_is_worst",
            "Arms of 0.8 and 0.6; the worse one is much slower.",
            "patience spent on an arm that does not deserve it",
            Problem([0.8, 0.6], [Lomax(1.0, 10), Lomax(0.3, 10)]),
            5000,
            ("same delays",),
            quick=True,
        ),
        Case(
            "theorem4_a",
            "Arms of 0.5 and a little less, no delays: the harmless one of Theorem 4's two problems.",
            "the same view as theorem4_b, with the other arm best: nobody can do well on both",
            pair[0],
            3000,
            (HOPELESS,),
        ),
        Case(
            "theorem4_b",
            "The same to the eye as theorem4_a; but the second arm is better: some of its rewards come after the end.",
            "the same view as theorem4_a, with the other arm best",
            pair[1],
            3000,
            (HOPELESS,),
        ),
    )

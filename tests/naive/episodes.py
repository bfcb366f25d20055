"""All policies by name, and the episode: the kernel's twin, decision by decision."""

from __future__ import annotations

import math

from naive.bootstrapped import BootstrappedThompson
from naive.bounds import adapt, dklucb, ducb, klucb, patient, patient_kl, scheduled
from naive.calendar_rivals import (
    calendar_oracle,
    deconfounded_thompson,
    partial_likelihood_thompson,
)
from naive.newcomers import (
    DelayedEXP3,
    DTSBayes,
    FloorMixture,
    OptimisticElimination,
    PhasedElimination,
    otf_lin_ts,
    signal_thompson,
    top_two_thompson,
    window_thompson,
)
from naive.random_numbers import bits_at, keys, unit
from naive.reported import SuccessiveElimination, arrived_thompson, delayed_ucb1
from naive.rivals import DTS, otf_lin_ucb, told_thompson
from naive.sums import plain_sum
from naive.thompson import CalendarThompson, GuardedThompson, PatientThompson, thompson
from naive.worlds import Pull, View, World, phase_of, survival


class QPMD:
    """The base's world: a list of pulls answered at once, one for each report that it was given."""

    def __init__(self):
        self.pulls, self.wanted, self.looked, self.given = [], None, 0, set()

    def decide(self, view, base):
        function, first = POLICIES[base["policy"]]
        if self.wanted is None and isinstance(function, type):
            self.base = function()
        index = self.base if isinstance(function, type) else function
        t = len(self.pulls) + 1
        random = [bits_at(view.own, t, stream) for stream in view.streams]
        inner = View(t, view.T, view.K, self.pulls, random, view.ties, view.own, view.streams)
        parameters = {name: value for name, value in base.items() if name != "policy"}

        def rank(arm):
            n = inner.n(arm)
            return math.inf if n < first else index(inner, arm, **parameters), bits_at(
                view.ties, n, view.streams[arm]
            )

        self.wanted = max(range(view.K), key=rank)

    def queue(self, view):
        waiting = [p for p in view.reported(self.wanted) if p.s not in self.given]
        return sorted(waiting, key=lambda p: (p.heard, p.s))

    def __call__(self, view, arm, base):
        if self.looked < view.t:
            self.looked = view.t
            if self.wanted is None:
                self.decide(view, base)
            while queue := self.queue(view):
                self.given.add(queue[0].s)
                self.pulls.append(Pull(len(self.pulls) + 1, self.wanted, queue[0].reward, 0))
                self.decide(view, base)
        return 1.0 if arm == self.wanted else 0.0


def ucb1(view, arm, exploration):
    return view.mean(arm) + math.sqrt(exploration * math.log(view.t) / view.n(arm))


POLICIES = {
    "PatientBandits": (patient, 1),
    "PatientKL": (patient_kl, 1),
    "PatientThompson": (PatientThompson, 0),
    "CalendarThompson": (CalendarThompson, 0),
    "GuardedThompson": (GuardedThompson, 0),
    "ScheduledPatientBandits": (scheduled, 1),
    "AdaptPatientBandits": (adapt, 2),
    "DUCB": (ducb, 1),
    "DKLUCB": (dklucb, 1),
    "UCB1": (ucb1, 1),
    "MOSS": (
        lambda view, arm: (
            view.mean(arm)
            + math.sqrt(max(math.log(view.T / (view.K * view.n(arm))), 0) / view.n(arm))
        ),
        1,
    ),
    "KLUCB": (klucb, 1),
    "Thompson": (thompson, 0),
    "Uniform": (lambda view, arm: unit(view.random[arm]), 0),
    "DelayedUCB1": (delayed_ucb1, 0),
    "ArrivedThompson": (arrived_thompson, 0),
    "SuccessiveElimination": (SuccessiveElimination, 0),
    "OTFLinUCB": (otf_lin_ucb, 0),
    "BootstrappedThompson": (BootstrappedThompson, 0),
    "DTS": (DTS, 0),
    "OracleThompson": (told_thompson, 0),
    "QPMD": (QPMD, 0),
    "DTSBayes": (DTSBayes, 0),
    "WindowThompson": (window_thompson, 0),
    "SignalThompson": (signal_thompson, 0),
    "OTFLinTS": (otf_lin_ts, 0),
    "PhasedElimination": (PhasedElimination, 0),
    "OptimisticElimination": (OptimisticElimination, 0),
    "DelayedEXP3": (DelayedEXP3, 0),
    "TopTwoThompson": (top_two_thompson, 0),
    "FloorMixture": (FloorMixture, 0),
}
"""name -> (index, how often each arm is pulled first)

The index is a function, or a class whose instance is one episode's index.
"""


RIVALS = {
    "DeconfoundedThompson": (deconfounded_thompson, 0),
    "PartialLikelihoodThompson": (partial_likelihood_thompson, 0),
    "CalendarOracle": (calendar_oracle, 0),
}
"""The same of policies that only a comparison has."""


def episode(problem, policy, horizon, seed=0, run=0, anytime=False, watch=None):
    """The pulls of one run; ``watch`` is called with the view of each decision."""
    index, first = {**POLICIES, **RIVALS}[policy["policy"]]
    index = index() if isinstance(index, type) else index
    parameters = {name: value for name, value in policy.items() if name != "policy"}
    _, ties, own = keys(seed, run)
    world, streams, pulls = World(problem, horizon, seed, run), problem["streams"], []
    for t in range(1, horizon + 1):
        random = [bits_at(own, t, stream) for stream in streams]
        view = View(
            t,
            max(t - 1, 1) if anytime else horizon,
            len(streams),
            pulls,
            random,
            ties,
            own,
            streams,
        )
        if watch:
            watch(view)

        def rank(arm, view=view):
            n = view.n(arm)
            return math.inf if n < first else index(view, arm, **parameters), bits_at(
                ties, n, streams[arm]
            )

        pulls.append(world.pull(t, max(range(len(streams)), key=rank)))
    return pulls


def rates(problem, t):
    """What a pull of each arm is worth in round t: what comes after the window is worth nothing."""
    means, laws = phase_of(problem, t)
    window = problem.get("window")
    if window is None:
        return means
    if "low_delays" in problem:
        return [rate_by_value(problem, means, laws, arm) for arm in range(len(means))]
    return [m * (1 - survival(law)(window)) for m, law in zip(means, laws, strict=True)]


def rate_by_value(problem, means, laws, arm):
    """P(high) high P(D <= w | high) + P(low) low P(D <= w | low)."""
    law, window = problem["rewards"][arm], problem["window"]
    low, high = law.get("low", 0.0), law.get("high", law.get("value", 1.0))
    p = (means[arm] - low) / (high - low)
    late, late_low = (survival(delays[arm])(window) for delays in (laws, problem["low_delays"]))
    return p * high * (1 - late) + (1 - p) * low * (1 - late_low)


def regret(problem, pulls):
    """After each round: the sum of what was lost; in a world that stays, of gap * pulls by arm."""
    path, total, count = [], 0.0, [0] * len(problem["means"])
    for p in pulls:
        worth = rates(problem, p.s)
        gaps = [max(worth) - rate for rate in worth]
        count[p.arm] += 1
        total += gaps[p.arm]
        lost = plain_sum(gap * n for gap, n in zip(gaps, count, strict=True))
        path.append(total if {"changes", "calendar"} & set(problem) else lost)
    return path

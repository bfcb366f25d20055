"""Valid input works, whatever it is.

Bad input is refused in one line that names owner, rule and value.
"""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from cases import LAW
from hypothesis import given, settings
from hypothesis import strategies as st

import patientbandits as pb
from patientbandits.policies.registry import law_from, problem_from

SETTINGS = settings(max_examples=100, deadline=None, derandomize=True)
positive = st.floats(1e-3, 1e6)
small = st.floats(1e-3, 50)
simple_laws = st.one_of(
    st.builds(pb.Pareto, small, positive, st.sampled_from(["ceil", "floor"])),
    st.builds(pb.Lomax, small, positive, st.sampled_from(["ceil", "floor"])),
    st.builds(pb.Geometric, st.floats(1e-9, 1)),
    st.builds(pb.Weibull, small, positive),
    st.builds(pb.LogNormal, positive, small),
    st.builds(pb.LogLogistic, positive, small),
    st.builds(
        lambda low, more: pb.UniformDelay(low, low + more),
        st.integers(0, 10**6),
        st.integers(0, 10**6),
    ),
    st.builds(pb.Fixed, st.integers(0, 2**62)),
    st.builds(pb.Empirical, st.lists(st.integers(0, 10**6), min_size=1)),
    st.sampled_from([pb.NoDelay(), pb.Never()]),
)


@st.composite
def mixtures(draw):
    laws = draw(st.lists(simple_laws, min_size=1, max_size=4))
    parts = [draw(st.integers(1, 1000)) for _ in laws]
    return pb.Mixture(laws, [part / sum(parts) for part in parts])


laws = simple_laws | mixtures()


@SETTINGS
@given(
    laws,
    st.lists(st.integers(0, 2**60), min_size=2, max_size=20),
    st.floats(0, 1, exclude_max=True),
)
def test_laws(law, times, u):
    values = [law.survival(m) for m in sorted(times)]
    assert all(0 <= value <= 1 for value in values)
    assert all(a >= b for a, b in pairwise(values))
    delay = law.inverse(u)
    assert delay == math.inf or law.survival(delay) <= u
    assert delay == 0 or law.survival(min(delay, 2**53) - 1) > u
    assert law.satisfies(law.max_alpha()) or law.max_alpha() == math.inf
    assert law_from(law.describe()) == law


@SETTINGS
@given(st.data())
def test_problems(data):
    arms = data.draw(st.integers(1, 5))
    means = data.draw(st.lists(st.floats(0.001, 0.249), min_size=arms, max_size=arms))
    rewards = [
        data.draw(
            st.sampled_from([pb.Bernoulli(), pb.Beta(2), pb.Scaled(0.25), pb.TwoPoint(0, 0.5)])
        )
        for _ in means
    ]
    delays = data.draw(st.lists(laws, min_size=arms, max_size=arms))
    problem = pb.Problem(means, delays, rewards)
    assert problem_from(problem.describe()) == problem
    assert min(problem.gaps) == 0
    assert problem.select(range(arms)) == problem
    result = pb.simulate(problem, pb.UCB1(), arms + 20, 2, workers=1)
    assert result.pulls.sum(axis=1).tolist() == [arms + 20] * 2


NAN, INF, HUGE = math.nan, math.inf, 10**400
NOT_NUMBERS = [NAN, "0.5", "", None, True, [0.5], 1j, HUGE, b"1"]
NOT_POSITIVE = [*NOT_NUMBERS, 0, -1, -0.5, INF, -INF]
NOT_PROBABILITIES = [*NOT_NUMBERS, -0.1, 1.1, INF]
NOT_WHOLE = [*NOT_NUMBERS, 0.5, -1, INF, 1e300]
NOT_COUNTS = [*NOT_WHOLE, 0]
NOT_LISTS = [None, 0.5, "0.5", NAN]
NOT_LAWS = [None, "Pareto", 3, pb.Pareto, pb.UCB1()]
UNKNOWN = ["", "Paper", "papr", None, 3]
TWO = pb.Problem([0.5, 0.6])


def adapt(**change):
    return pb.AdaptPatientBandits(**{"c": 0.7, "alpha_floor": 0.1, "mean_floor": 0.5, **change})


RULES = [
    ("Pareto", lambda x: pb.Pareto(x), NOT_POSITIVE),
    ("Pareto", lambda x: pb.Pareto(1, x), NOT_POSITIVE),
    ("Pareto", lambda x: pb.Pareto(1, 1, x), UNKNOWN),
    ("Lomax", lambda x: pb.Lomax(x), NOT_POSITIVE),
    ("Weibull", lambda x: pb.Weibull(x), NOT_POSITIVE),
    ("Weibull", lambda x: pb.Weibull(1, x), NOT_POSITIVE),
    ("LogNormal", lambda x: pb.LogNormal(x, 1), NOT_POSITIVE),
    ("LogNormal", lambda x: pb.LogNormal(1, x), NOT_POSITIVE),
    ("LogLogistic", lambda x: pb.LogLogistic(x, 1), NOT_POSITIVE),
    ("LogLogistic", lambda x: pb.LogLogistic(1, x), NOT_POSITIVE),
    ("Geometric", lambda x: pb.Geometric(x), [*NOT_PROBABILITIES, 0]),
    ("Fixed", lambda x: pb.Fixed(x), NOT_WHOLE),
    ("UniformDelay", lambda x: pb.UniformDelay(x, 9), [*NOT_WHOLE, 10]),
    ("UniformDelay", lambda x: pb.UniformDelay(0, x), NOT_WHOLE),
    ("Empirical", lambda x: pb.Empirical(x), [*NOT_LISTS, []]),
    ("Empirical", lambda x: pb.Empirical([1, x]), NOT_WHOLE),
    ("Empirical", lambda x: pb.Empirical([1, 2], [1, x]), [*NOT_NUMBERS, -1, INF]),
    ("Empirical", lambda x: pb.Empirical([1, 2], x), [*NOT_LISTS[1:], [1], [0, 0]]),
    ("Mixture", lambda x: pb.Mixture([pb.NoDelay(), x], [0.5, 0.5]), NOT_LAWS),
    ("Within", lambda x: pb.Within(x, 5), [*NOT_LAWS, pb.Never()]),
    ("Mixture", lambda x: pb.Mixture(x, [1]), [*NOT_LISTS, [], [pb.NoDelay()] * 2]),
    (
        "Mixture",
        lambda x: pb.Mixture([pb.NoDelay(), pb.Never()], [1, x]),
        [*NOT_NUMBERS, -1, 0.5, INF],
    ),
    ("Pareto", lambda x: pb.Pareto(1).inverse(x), [*NOT_NUMBERS, 1, -0.1]),
    ("Pareto", lambda x: pb.Pareto(1).survival(x), [NAN, "a", -1, [1, -1], None]),
    ("Pareto", lambda x: pb.Pareto(1).sample(x), NOT_WHOLE),
    ("TwoPoint", lambda x: pb.TwoPoint(0.5, x), [*NOT_PROBABILITIES, 0.5, 0.4]),
    ("TwoPoint", lambda x: pb.Problem([x], rewards=pb.TwoPoint(0.2, 0.7)), [0.1, 0.8]),
    ("Scaled", lambda x: pb.Scaled(x), [*NOT_POSITIVE, 1.5]),
    ("Scaled", lambda x: pb.Problem([x], rewards=pb.Scaled(0.5)), [0.6]),
    ("Beta", lambda x: pb.Beta(x), NOT_POSITIVE),
    ("Beta", lambda x: pb.Problem([x], rewards=pb.Beta()), [0.0, 1.0]),
    ("Problem", lambda x: pb.Problem([0.5, x]), NOT_PROBABILITIES),
    ("Problem", lambda x: pb.Problem(x), [*NOT_LISTS, []]),
    ("Problem", lambda x: pb.Problem([0.5], window=x), [0, -1, 2.5, math.nan, "ten", True]),
    ("Within", lambda x: pb.Within(LAW, x), [0, -1, 2.5, math.nan, "ten", None]),
    ("Problem", lambda x: pb.Problem([0.5, 0.6], x), NOT_LAWS),
    ("Problem", lambda x: pb.Problem([0.5, 0.6], [LAW, x]), NOT_LAWS),
    ("Problem", lambda x: pb.Problem([0.5, 0.6], rewards=[x, x]), NOT_LAWS),
    ("Problem", lambda x: pb.Problem([0.5, 0.6], x), [[LAW], [LAW] * 3, []]),
    (
        "Problem",
        lambda x: pb.Problem([0.5, 0.6], streams=x),
        [*NOT_LISTS[1:], [1], [0, -1], [0, 0.5], [0, "a"]],
    ),
    ("Problem.select", lambda x: TWO.select(x), [*NOT_LISTS, [2], [-1], ["a"], [0.5]]),
    ("PatientBandits", lambda x: pb.PatientBandits(x), NOT_POSITIVE),
    ("PatientBandits", lambda x: pb.PatientBandits(0.5, width=x), UNKNOWN),
    ("PatientBandits", lambda x: pb.PatientBandits(0.5, bias=x), UNKNOWN),
    ("ScheduledPatientBandits", lambda x: pb.ScheduledPatientBandits(x), UNKNOWN),
    ("AdaptPatientBandits", lambda x: adapt(c=x), [*NOT_POSITIVE, 1.5]),
    ("AdaptPatientBandits", lambda x: adapt(alpha_floor=x), NOT_POSITIVE),
    ("AdaptPatientBandits", lambda x: adapt(mean_floor=x), [*NOT_POSITIVE, 1]),
    ("AdaptPatientBandits", lambda x: adapt(penalty=x), [NAN, "0.5", None, True, -1, INF]),
    ("AdaptPatientBandits", lambda x: adapt(ratio=x), [NAN, "0.5", True, 0, 1, -1, INF]),
    ("AdaptPatientBandits", lambda x: adapt(bias=x), [*UNKNOWN, "sum"]),
    ("DUCB", lambda x: pb.DUCB(x, 5), NOT_LAWS),
    ("DUCB", lambda x: pb.DUCB(LAW, x), NOT_COUNTS),
    ("DUCB", lambda x: pb.DUCB(LAW, 5, x), UNKNOWN),
    ("DUCB", lambda x: pb.DUCB(LAW, x, "uncensored"), [5, 0, "a"]),
    ("PatientKL", lambda x: pb.PatientKL(x), [None, 0, -1, float("nan"), "a"]),
    ("PatientKL", lambda x: pb.PatientKL(0.3, scale=x), [0, -1, float("nan"), float("inf")]),
    ("PatientKL", lambda x: pb.PatientKL(envelope=x), ["Pareto", 3]),
    (
        "PatientThompson",
        lambda x: pb.PatientThompson(window=x),
        [x for x in NOT_POSITIVE if x is not None],
    ),
    (
        "GuardedThompson",
        lambda x: pb.GuardedThompson(guard=x),
        [None, 3, pb.UCB1(), pb.PatientKL(0.3), pb.PatientKL(0.3, c=2.9)],
    ),
    (
        "GuardedThompson",
        lambda x: pb.GuardedThompson(guard=pb.PatientKL(0.3, c=3.0), slack=x),
        [*NOT_NUMBERS, -1, INF],
    ),
    (
        "GuardedThompson",
        lambda x: pb.GuardedThompson(guard=pb.PatientKL(0.3, c=3.0), window=x),
        [x for x in NOT_POSITIVE if x is not None],
    ),
    ("DUCB", lambda x: pb.DUCB(LAW, 5, exploration=x), NOT_POSITIVE),
    ("DKLUCB", lambda x: pb.DKLUCB(LAW, 5, x), [*UNKNOWN, "wait", "discard"]),
    ("Problem", lambda x: pb.Problem([0.5, 0.6], feedback=x), UNKNOWN),
    ("QPMD", lambda x: pb.QPMD(x), [None, "UCB1", 3, LAW, pb.UCB1]),
    ("OTFLinUCB", lambda x: pb.OTFLinUCB(x), NOT_COUNTS),
    ("OTFLinUCB", lambda x: pb.OTFLinUCB(5, delta=x), [0, 1, -1, NAN, "a", True]),
    ("OTFLinUCB", lambda x: pb.OTFLinUCB(5, regularisation=x), NOT_POSITIVE),
    ("OTFLinUCB", lambda x: pb.OTFLinUCB(5, ambiguity=x), UNKNOWN),
    ("BootstrappedThompson", lambda x: pb.BootstrappedThompson(x), [*NOT_COUNTS, 61]),
    ("BootstrappedThompson", lambda x: pb.BootstrappedThompson(5, x), NOT_COUNTS),
    ("DTS", lambda x: pb.DTS(x), NOT_COUNTS),
    ("DTS", lambda x: pb.DTS(warmup=x), NOT_COUNTS),
    ("DTS", lambda x: pb.DTS(steps=x), NOT_COUNTS),
    ("OracleThompson", lambda x: pb.OracleThompson(x), [None, 3, "Fixed", [], [LAW, 3], pb.Fixed]),
    ("simulate", lambda x: pb.simulate(TWO.with_feedback(x), pb.DelayedUCB1(), 9), ["rewards"]),
    ("KLUCB", lambda x: pb.KLUCB(x), [*NOT_NUMBERS, -1, INF]),
    ("simulate", lambda x: pb.simulate(TWO, pb.UCB1(), x), [*NOT_COUNTS, 1, 2**31]),
    ("simulate", lambda x: pb.simulate(TWO, pb.UCB1(), 9, x), NOT_COUNTS),
    ("simulate", lambda x: pb.simulate(TWO, pb.UCB1(), 9, 1, x), NOT_WHOLE),
    (
        "simulate",
        lambda x: pb.simulate(TWO, pb.UCB1(), 9, 1, record=x),
        [0, -1, 0.5, NAN, None, [0], [10], ["a"]],
    ),
    ("simulate", lambda x: pb.simulate(TWO, pb.UCB1(), 9, 1, workers=x), [0, -1, 0.5, NAN, "2"]),
    ("simulate", lambda x: pb.simulate(TWO, pb.UCB1(), 9, 1, first_run=x), NOT_WHOLE),
    ("simulate", lambda x: pb.simulate(TWO, x, 9), [None, "UCB1", LAW]),
    ("simulate", lambda x: pb.simulate(x, pb.UCB1(), 9), [None, "homogeneous", [0.5, 0.6]]),
    ("Simulation", lambda x: pb.Simulation(TWO, pb.UCB1(), x), NOT_COUNTS),
    (
        "gap_dependent_bound",
        lambda x: pb.theory.gap_dependent_bound([0, x], 9, 0.5),
        NOT_PROBABILITIES,
    ),
    ("gap_dependent_bound", lambda x: pb.theory.gap_dependent_bound(x, 9, 0.5), NOT_LISTS),
    ("gap_dependent_bound", lambda x: pb.theory.gap_dependent_bound(TWO, 9, 0.5, x), UNKNOWN),
    ("minimax_bound", lambda x: pb.theory.minimax_bound(2, 9, x), NOT_POSITIVE),
    ("confidence_width", lambda x: pb.theory.confidence_width(x, 2, 9, 0.5), NOT_COUNTS),
    (
        "confidence_width",
        lambda x: pb.theory.confidence_width(1, 2, 9, 0.5, delta=x),
        [NAN, "a", 0, 1, -1],
    ),
    ("Bandit", lambda x: pb.Bandit(pb.UCB1(), x), [None, 2, "ab", [], ["a", "a"], [[1], [2]]]),
    ("Bandit", lambda x: pb.Bandit(pb.UCB1(), [0, 1], x), [NAN, 0, 1, 0.5, "9"]),
]


@pytest.mark.parametrize(
    ("owner", "call", "values"),
    RULES,
    ids=[f"{owner}-{j}" for j, (owner, _, _) in enumerate(RULES)],
)
def test_refusals(owner, call, values):
    for value in values:
        with pytest.raises(pb.InputError) as refusal:
            call(value)
        message = str(refusal.value)
        assert message.startswith(f"{owner}: "), (value, message)
        assert "\n" not in message, value
        assert message.partition("; got ")[2], (value, message)
        assert isinstance(value, list) or repr(value) in message, (value, message)
        assert message.endswith((".", "?")), message

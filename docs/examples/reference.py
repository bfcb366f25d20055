"""An example of every public name, for the reference; each part runs by itself, in this order:

import patientbandits as pb, then what follows the name.
"""

import patientbandits as pb

# %% Problem
problem = pb.Problem([0.6, 0.8], [pb.Pareto(1.0), pb.Pareto(0.3)])
assert problem.gaps[1] == 0
thirty_days = problem.with_window(30)  # what comes later than 30 rounds never counts
assert thirty_days.rates[1] < thirty_days.rates[0]  # within the window the order is another

# %% problems
problem = pb.problems.heterogeneous("published")  # Figure 4 of the paper
print(problem.means, problem.delays)

# %% problems.paper_delay
law = pb.problems.paper_delay(0.3, "published")
print(law.survival(100))

# %% problems.alpha_sweep
print(pb.problems.alpha_sweep("literal").gaps)

# %% problems.gap_sweep
print(pb.problems.gap_sweep(gap=0.1, tail=0.4).means)

# %% problems.homogeneous
print(pb.problems.homogeneous().delays)

# %% problems.heterogeneous
print(pb.problems.heterogeneous().delays)

# %% problems.adaptive
print(pb.problems.adaptive().means)

# %% problems.indistinguishable_pair
first, second = pb.problems.indistinguishable_pair(1000, 0.3)
print(first.gaps, second.gaps)  # the best arms differ, and nobody can tell

# %% problems.hidden_pair
first, second = pb.problems.hidden_pair(1000, 0.3)
late = second.delays[1]
assert abs(second.means[1] * late.cdf(1000) - first.means[1]) < 1e-12  # what is seen is the same

# %% Delay
from dataclasses import dataclass


@dataclass(frozen=True)
class Payday(pb.Delay):
    """Half of the rewards come at once, the others after 30 units."""

    def survival_at(self, m: int) -> float:
        return 0.5 if m < 30 else 0.0


print(pb.Problem([0.5], Payday()).delays[0].sample(5, 1))

# %% NoDelay
law = pb.NoDelay()
assert law.cdf(0) == 1

# %% Never
law = pb.Never()
assert law.survival(10**6) == 1

# %% Fixed
law = pb.Fixed(30)
print(law.survival(7), law.sample(3, 1))

# %% Pareto
law = pb.Pareto(0.3)
assert law.survival(100) == 100**-0.3  # the paper's law: m^-tail

# %% Lomax
law = pb.Lomax(0.3, scale=10)
print(law.survival(7), law.sample(3, 1))

# %% Geometric
law = pb.Geometric(0.05)
print(law.survival(7), law.sample(3, 1))

# %% Weibull
law = pb.Weibull(0.5, scale=20)
print(law.survival(7), law.sample(3, 1))

# %% LogNormal
law = pb.LogNormal(median=24, sigma=1.5)
print(law.survival(7), law.sample(3, 1))

# %% LogLogistic
law = pb.LogLogistic(median=24, shape=1.2)
print(law.survival(7), law.sample(3, 1))

# %% UniformDelay
law = pb.UniformDelay(1, 7)
print(law.survival(7), law.sample(3, 1))

# %% Empirical
law = pb.Empirical([1, 3, 3, 14])
print(law.survival(7), law.sample(3, 1))

# %% Mixture
law = pb.Mixture([pb.Fixed(1), pb.Pareto(0.5)], [0.7, 0.3])
print(law.survival(7), law.sample(3, 1))

# %% Within
law = pb.Within(pb.Pareto(0.3), 30)
assert law.survival(30) == 0

# %% Reward
problem = pb.Problem([0.2, 0.3], rewards=[pb.Bernoulli(), pb.Scaled(0.5)])
assert all(isinstance(kind, pb.Reward) for kind in problem.rewards)

# %% Bernoulli
problem = pb.Problem([0.2, 0.3], rewards=pb.Bernoulli())  # the default: 1 or 0

# %% TwoPoint
problem = pb.Problem([0.2, 0.3], rewards=pb.TwoPoint(low=0.1, high=0.9))

# %% Scaled
problem = pb.Problem([0.02, 0.03], rewards=pb.Scaled(0.5))  # a sale worth half of the most

# %% Beta
problem = pb.Problem([0.2, 0.3], rewards=pb.Beta(concentration=4))  # any amount in [0, 1]

# %% Policy
from dataclasses import dataclass


@dataclass(frozen=True)
class Greedy(pb.Policy):
    """Whatever has paid best so far."""

    def index(self, arm):
        return arm.rewards / arm.pulls


bandit = pb.Bandit(Greedy(), ["blue", "green"], seed=1)
print(bandit.pull().arm)

# %% Arm
arm = pb.Arm(0, 20, 7.0)  # what an index is shown of an arm: number, pulls, rewards so far
print(arm.rewards / arm.pulls)

# %% PatientThompson
bandit = pb.Bandit(pb.PatientThompson(window=30), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)
print(bandit.pulls)

# %% CalendarThompson
bandit = pb.Bandit(pb.CalendarThompson(window=30, minimum=0.05), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)
print(bandit.pulls)

# %% GuardedThompson
policy = pb.GuardedThompson(guard=pb.PatientKL(alpha=0.3, c=3))
bandit = pb.Bandit(policy, ["blue", "green"], seed=1)
print(bandit.pull().arm)

# %% PatientKL
bandit = pb.Bandit(pb.PatientKL(alpha=0.3), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)
print(bandit.pulls)

# %% PatientBandits
bandit = pb.Bandit(
    pb.PatientBandits(alpha=0.3, width="tight", bias="aged"), ["blue", "green"], seed=1
)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)
print(bandit.pulls)

# %% ScheduledPatientBandits
bandit = pb.Bandit(pb.ScheduledPatientBandits(), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)
print(bandit.pulls)

# %% AdaptPatientBandits
bandit = pb.Bandit(
    pb.AdaptPatientBandits(c=0.7, alpha_floor=0.1, mean_floor=0.6), ["blue", "green"], seed=1
)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)
print(bandit.pulls)

# %% DUCB
bandit = pb.Bandit(pb.DUCB(pb.Pareto(0.7), window=50), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)
print(bandit.pulls)

# %% DKLUCB
bandit = pb.Bandit(pb.DKLUCB(pb.Pareto(0.7), window=50), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)
print(bandit.pulls)

# %% BootstrappedThompson
bandit = pb.Bandit(pb.BootstrappedThompson(replicates=20), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)
print(bandit.pulls)

# %% DTS
bandit = pb.Bandit(pb.DTS(batch=50), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)
print(bandit.pulls)

# %% Shift
turned = pb.Shift(1000, means=[0.6, 0.4])  # from round 1000 on the other arm is the better one
problem = pb.Problem([0.4, 0.6], pb.Geometric(0.05), changes=[turned])
print([(start, phase.means) for start, phase in problem.phases])

# %% Calendar
week = pb.Factor.weekly(
    [1, 1, 1, 1, 1, 1.5, 1.5]
)  # 600 visitors a day, more of them buy at weekends
sale = pb.Factor.spike(20, 7, 2.5)  # and in the week after day 20
calendar = pb.Calendar(600, [week, sale])
problem = pb.Problem([0.04, 0.046], pb.LogNormal(600, 1.0), calendar=calendar)
print(pb.simulate(problem, pb.PatientThompson(), horizon=4200, runs=2).final.mean())

# %% Factor
rise = pb.Factor.trend(0.5, 1.5, days=42)
novelty = pb.Factor.of(lambda day: 0.9 + 0.6 * 2.7 ** (-day / 7), days=42)
worn = pb.Calendar(600, rise, arms=[None, novelty])  # the second arm wears off
print(worn.factors(worn.first_round(7), arms=2))

# %% DTSBayes
bandit = pb.Bandit(pb.DTSBayes(batch=100), ["blue", "green"], horizon=1000, seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)

# %% WindowThompson
bandit = pb.Bandit(pb.WindowThompson(window=60), ["blue", "green"], horizon=1000, seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)

# %% Signal
cart = pb.Signal(if_paid=0.9, if_not=0.1, delays=pb.Geometric(0.2))
shop = pb.Problem([0.2, 0.3], pb.Fixed(500), signals=cart)  # carts come before purchases
print(shop.signals)

# %% SignalThompson
bandit = pb.Bandit(pb.SignalThompson(window=60, signal_window=5), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.signal(pull.id)  # a cart; the purchase may come later

# %% OTFLinTS
bandit = pb.Bandit(pb.OTFLinTS(window=60), ["blue", "green"], horizon=1000, seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)

# %% TopTwoThompson
bandit = pb.Bandit(pb.TopTwoThompson(), ["blue", "green"], horizon=1000, seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)

# %% FloorMixture
bandit = pb.Bandit(
    pb.FloorMixture(pb.Thompson(), floor=0.1), ["blue", "green"], horizon=1000, seed=1
)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)

# %% PhasedElimination
bandit = pb.Bandit(pb.PhasedElimination(), ["blue", "green"], horizon=1000, seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)

# %% OptimisticElimination
bandit = pb.Bandit(pb.OptimisticElimination(), ["blue", "green"], horizon=1000, seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)

# %% DelayedEXP3
bandit = pb.Bandit(pb.DelayedEXP3(), ["blue", "green"], horizon=1000, seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)

# %% OracleThompson
oracle = pb.OracleThompson([pb.Geometric(0.1), pb.Pareto(0.3)])
bandit = pb.Bandit(oracle, ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)
print(bandit.pulls)

# %% OTFLinUCB
bandit = pb.Bandit(pb.OTFLinUCB(window=100), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)
print(bandit.pulls)

# %% UCB1
bandit = pb.Bandit(pb.UCB1(), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)
print(bandit.pulls)

# %% MOSS
bandit = pb.Bandit(pb.MOSS(), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)
print(bandit.pulls)

# %% Thompson
bandit = pb.Bandit(pb.Thompson(), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)
print(bandit.pulls)

# %% Uniform
bandit = pb.Bandit(pb.Uniform(), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)
print(bandit.pulls)

# %% KLUCB
bandit = pb.Bandit(pb.KLUCB(c=3), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, 1.0)
print(bandit.pulls)

# %% DelayedUCB1
bandit = pb.Bandit(pb.DelayedUCB1(), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, float(pull.arm == "blue"))
print(bandit.pulls)

# %% SuccessiveElimination
bandit = pb.Bandit(pb.SuccessiveElimination(), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, float(pull.arm == "blue"))
print(bandit.pulls)

# %% ArrivedThompson
bandit = pb.Bandit(pb.ArrivedThompson(), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, float(pull.arm == "blue"))
print(bandit.pulls)

# %% QPMD
bandit = pb.Bandit(pb.QPMD(pb.UCB1()), ["blue", "green"], seed=1)
for _ in range(10):
    pull = bandit.pull()
    bandit.reward(pull.id, float(pull.arm == "blue"))
print(bandit.pulls)

# %% simulate
problem = pb.Problem([0.6, 0.8], [pb.Pareto(1.0), pb.Pareto(0.3)])
result = pb.simulate(problem, pb.UCB1(), horizon=500, runs=20, seed=7)
print(result)

# %% Simulation
problem = pb.Problem([0.6, 0.8], pb.Pareto(0.5))
simulation = pb.Simulation(problem, pb.UCB1(), horizon=200, runs=4)

# %% sweep
problem = pb.Problem([0.6, 0.8], pb.Pareto(0.5))
simulations = [pb.Simulation(problem, pb.UCB1(), horizon, runs=4) for horizon in (100, 200)]
results = pb.sweep(simulations, "pieces")  # interrupted? the same call goes on
print([result.mean()[-1] for result in results])

# %% Result
problem = pb.Problem([0.6, 0.8], pb.Pareto(0.5))
result = pb.simulate(problem, pb.UCB1(), horizon=200, runs=4, seed=7)
print(result[0, 200], result.interval())
result.save("ucb1.npz")
assert (pb.Result.load("ucb1.npz").regret == result.regret).all()

# %% Difference
problem = pb.Problem([0.6, 0.8], pb.Pareto(0.5))
ours = pb.simulate(problem, pb.UCB1(), horizon=200, runs=20, seed=7)
theirs = pb.simulate(problem, pb.KLUCB(), horizon=200, runs=20, seed=7)
difference = ours.minus(theirs)  # paired, run by run
assert isinstance(difference, pb.Difference)
print(difference.mean()[-1], difference.interval())

# %% pulls_over_time
problem = pb.Problem([0.6, 0.8], pb.Pareto(0.5))
result = pb.simulate(problem, pb.UCB1(), horizon=200, runs=4, seed=7, record=10)
assert pb.pulls_over_time(result).shape == (4, 10, 2)  # runs, rounds, arms

# %% InputError
try:
    pb.Pareto(tail=-1.0)
except pb.InputError as error:
    print(error)  # Pareto: tail must be > 0; got tail=-1.0.

# %% Bandit
bandit = pb.Bandit(pb.KLUCB(), arms=["blue", "green"], seed=1)
pull = bandit.pull()  # show pull.arm, keep pull.id
bandit.reward(pull.id, 1.0)  # whenever it comes, in any order
print(bandit.pulls, bandit.rewards)

# %% Pull
pull = pb.Bandit(pb.UCB1(), ["blue", "green"], seed=1).pull()
assert isinstance(pull, pb.Pull)
print(pull.id, pull.arm)

# %% posterior
counts = [
    pb.CureCounts.of(ages=[40.0] * 70, delays=[1.0, 2.0, 5.0]),
    pb.CureCounts.of(ages=[40.0] * 60, delays=[3.0, 9.0, 20.0, 31.0]),
]
for arm in pb.posterior(counts):
    print(arm.rate, arm.best, arm.to_come)

# %% CureCounts
counts = pb.CureCounts.of(ages=[40.0] * 70, delays=[1.0, 2.0, 5.0])
print(counts)

# %% ArmPosterior
bandit = pb.Bandit(pb.UCB1(), ["blue", "green"], seed=1)
for _ in range(30):
    pull = bandit.pull()
    if pull.id % 3 == 0:
        bandit.reward(pull.id, 1.0)
found = bandit.posterior()["blue"]
assert isinstance(found, pb.ArmPosterior)
print(found.rate, found.best, found.matured)

# %% read_events
from patientbandits.analysis.events.example import write_example

exposures, orders = write_example("shop", visitors=3000)
shop = pb.read_events(exposures, orders, window="30d")
print(shop.names)

# %% Events
from patientbandits.analysis.events.example import write_example

exposures, orders = write_example("shop", visitors=3000)
shop = pb.read_events(exposures, orders, window="30d")
assert isinstance(shop, pb.Events)
print(shop.decisions, shop.oldest)

# %% analyse
from patientbandits.analysis.events.example import write_example

exposures, orders = write_example("shop", visitors=3000)
shop = pb.read_events(exposures, orders, window="30d")
found = pb.analyse(shop)
print(found.verdict.words)

# %% Analysis
from patientbandits.analysis.events.example import write_example

exposures, orders = write_example("shop", visitors=3000)
shop = pb.read_events(exposures, orders, window="30d")
found = pb.analyse(shop)
assert isinstance(found, pb.Analysis)
print(found.verdict)

# %% rehearse
from patientbandits.analysis.events.example import write_example

exposures, orders = write_example("shop", visitors=3000)
shop = pb.read_events(exposures, orders, window="30d")

found = pb.rehearse(
    pb.analyse(shop), traffic=50, days=10, policies=["even split", "Thompson"], draws=2
)
print(found.best)

# %% Rehearsal
from patientbandits.analysis.events.example import write_example

exposures, orders = write_example("shop", visitors=3000)
shop = pb.read_events(exposures, orders, window="30d")

found = pb.rehearse(
    pb.analyse(shop), traffic=50, days=10, policies=["even split", "Thompson"], draws=2
)
assert isinstance(found, pb.Rehearsal)

# %% bandit_feedback
decisions = [
    {"decided": "2026-01-01", "arm": "blue", "propensity": 0.5, "value": 1, "counted": True},
    {"decided": "2026-01-02", "arm": "green", "propensity": 0.5, "value": "", "counted": False},
]
feedback = pb.bandit_feedback(decisions)  # for the Open Bandit Pipeline
print(feedback["reward"], feedback["pscore"])

# %% theory
print(pb.theory.gap_dependent_bound([0.0, 0.2], horizon=10**6, alpha=0.5))

# %% theory.confidence_width
print(pb.theory.confidence_width(50, arms=2, horizon=1000, alpha=0.3, width="tight"))

# %% theory.gap_dependent_bound
print(pb.theory.gap_dependent_bound(pb.problems.homogeneous(), 10**6, alpha=0.7))

# %% theory.minimax_bound
print(pb.theory.minimax_bound(2, 10**6, alpha=0.3, width="tight"))

# %% theory.frontier_bound
assert pb.theory.frontier_bound(late=1000, extra=0.1, place=0.5, share=1.0) == 0.0

# %% theory.schedule_bound
print(pb.theory.schedule_bound([0.0, 0.2], 10**6, alpha=0.5))

# %% theory.lower_bound
assert pb.theory.lower_bound(10**6, 0.5) == 2 * pb.theory.lower_bound(10**6, 0.5, "printed")

# %% theory.no_adaptation_bound
print(pb.theory.no_adaptation_bound(1000, alpha=0.3, level=0.5))

# %% theory.window_bound
print(pb.theory.window_bound(10**6, window=30, alpha=0.3))

# %% theory.waiting_bound
print(pb.theory.waiting_bound(10**6, window=30, gap=0.1))

# %% theory.patience
assert pb.theory.patience(0.2, pb.Pareto(0.5).survival) == 1600

# %% theory.bad_rounds_bound
print(pb.theory.bad_rounds_bound(0.2, 10**6, m_gap=1600))

# %% theory.blind_pulls_bound
print(pb.theory.blind_pulls_bound(0.5, 10**5, pb.Fixed(3).survival))

# %% theory.adaptive_bound
assert pb.theory.adaptive_bound(2, 10**6, 0.3, 0.7, 0.1, 0.6) > 10**6  # says nothing

# %% theory.adaptive_rate
print(pb.theory.adaptive_rate(2, 10**6, alpha=0.3))

# %% theory.adaptive_penalty
print(pb.theory.adaptive_penalty(2, 10**4, c=0.7, mean_floor=0.6))

# %% theory.adaptive_start
print(pb.theory.adaptive_start(0.3, 0.8, penalty=1.0, ratio=0.35))

# %% theory.alpha_interval
low, high = pb.theory.alpha_interval(5000, 2, 10**4, 0.3, 0.7, 0.1, 0.6)
assert low < 0 < 0.5 < high  # says nothing: the estimate is in [0, 1/2] anyway

# %% live.open
from patientbandits import live

shop = live.open("shop.db")
button = shop.experiment("button", arms=["blue", "green"])
print(button.decide(unit="visitor-1").arm)

# %% live.Shop
from patientbandits import live

shop = live.open("shop.db")
button = shop.experiment("button", arms=["blue", "green"])
assert isinstance(shop, live.Shop)

# %% live.ExperimentHandle
from patientbandits import live

shop = live.open("shop.db")
button = shop.experiment("button", arms=["blue", "green"])
assert isinstance(button, live.ExperimentHandle)
print(button.arms)

# %% live.Decision
from patientbandits import live

shop = live.open("shop.db")
button = shop.experiment("button", arms=["blue", "green"])
decision = button.decide(unit="visitor-1")
assert isinstance(decision, live.Decision)
print(decision.id, decision.arm)

# %% live.Conversion
from patientbandits import live

shop = live.open("shop.db")
button = shop.experiment("button", arms=["blue", "green"])
conversion = button.convert(button.decide(unit="visitor-1").id)
assert isinstance(conversion, live.Conversion)

# %% live.Retraction
from patientbandits import live

shop = live.open("shop.db")
button = shop.experiment("button", arms=["blue", "green"])
decision = button.decide(unit="visitor-1")
button.convert(decision.id)
assert isinstance(button.retract(decision.id), live.Retraction)

# %% live.Credited
from patientbandits import live

shop = live.open("shop.db")
button = shop.experiment("button", arms=["blue", "green"])
button.decide(unit="visitor-1")
assert isinstance(button.convert(unit="visitor-1", order="A-1"), live.Credited)

# %% live.Joined
from patientbandits import live

shop = live.open("shop.db")
button = shop.experiment("button", arms=["blue", "green"])
button.decide(unit="visitor-1")
assert isinstance(button.alias("visitor-1", "account-7"), live.Joined)

# %% live.ConflictError
from patientbandits import live

shop = live.open("shop.db")
button = shop.experiment("button", arms=["blue", "green"])
try:
    shop.experiment("button", arms=["red", "green"])
except live.ConflictError as error:
    print(error)

# %% live.NotFoundError
from patientbandits import live

shop = live.open("shop.db")
button = shop.experiment("button", arms=["blue", "green"])
try:
    button.convert("no such decision")
except live.NotFoundError as error:
    print(error)

# %% live.RefusedError
from patientbandits import live

shop = live.open("shop.db")
button = shop.experiment("button", arms=["blue", "green"])
try:
    button.change(arms=[])
except live.RefusedError as error:
    print(error)

# %% live.MismatchError
from patientbandits import live

shop = live.open("shop.db")
button = shop.experiment("button", arms=["blue", "green"])
decision = button.decide(unit="visitor-1")
button.convert(decision.id, value=1.0)
try:
    button.convert(decision.id, value=0.5)
except live.MismatchError as error:
    print(error)

# %% live.UnavailableError
from patientbandits import live

shop = live.open("shop.db")
button = shop.experiment("button", arms=["blue", "green"])
try:
    button.decide(unit="visitor-1", key="request-1")
except live.UnavailableError:
    button.decide(unit="visitor-1", key="request-1")  # again: the key makes it safe

# %% gym.DelayedBandit
from patientbandits.integrations.gym import DelayedBandit

environment = DelayedBandit(pb.Problem([0.6, 0.8], pb.Pareto(0.5)), horizon=10)
environment.reset(seed=7)
observation, reward, _, over, info = environment.step(1)
print(observation["pulls"], info["arrivals"])

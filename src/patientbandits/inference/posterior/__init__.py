"""The model of late conversions: one for the policy, the report and the posterior for people.

    posterior([CureCounts.of(ages, delays), ...])    from the ages of pulls that wait
                                                     and the delays of those that converted
    bandit.posterior()                               of a `Bandit`, whatever its policy

Of each arm the model needs counts: how many pulls wait, by age, and how many converted, by delay.

    grid, counts       ages in bins on a logarithmic grid
    shapes, laws, constants    delays of every shape, heavy, light, bounded, fixed, of any median
    work, cells        the weight of every law and rate
    rates              hazards by age that follow the data, and the tail
    pooling            what the arms tell each other
    portable           arithmetic that gives the same bits everywhere
    observed, curves, distributions, best, kaplan_meier, answers, summary    for people

Up to the oldest age the rate rests on hazards by age, estimated bin by bin: no law is believed
against the counts. Beyond it, no data can tell a late conversion from none (Theorem 4 of the
paper); there the laws that fit, weighted, say how much is still to come. With a window nothing
beyond it matters."""

from patientbandits.inference.posterior.answers import ArmPosterior as ArmPosterior
from patientbandits.inference.posterior.answers import Estimate as Estimate
from patientbandits.inference.posterior.answers import LagCurve as LagCurve
from patientbandits.inference.posterior.counts import CureCounts as CureCounts
from patientbandits.inference.posterior.summary import posterior as posterior

"""The model of late conversions: one for the policy, the report and the posterior for people.

    posterior([CureCounts.of(ages, delays), ...])    from the ages of pulls that wait
                                                     and the delays of those that converted
    bandit.posterior()                               of a `Bandit`, whatever its policy

Of each arm the model needs counts: how many pulls wait, by age, and how many converted, by delay.

    grid, counts               ages in bins on a logarithmic grid
    laws, constants            delays of every shape, heavy, light, bounded, fixed, of any median
    cells                      the weight of every law and rate
    rates                      hazards by age that follow the data, and the tail
    pooling                    what the arms publish to each other; the refresh of an arm
    curves, summary                    for people

Steps over many numbers are `patientbandits.inference.formulas`: one text for the interpreter and
the compiler, which give the same bits.

Up to the oldest age the rate rests on hazards by age, estimated bin by bin: no law is believed
against the counts. Beyond it, no data can tell a late conversion from none (Theorem 4 of the
paper); there the laws that fit, weighted, say how much is still to come. With a window nothing
beyond it matters.
"""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.inference.posterior.counts import CureCounts as CureCounts
    from patientbandits.inference.posterior.summary import ArmPosterior as ArmPosterior
    from patientbandits.inference.posterior.summary import Estimate as Estimate
    from patientbandits.inference.posterior.summary import LagCurve as LagCurve
    from patientbandits.inference.posterior.summary import posterior as posterior

__all__, __getattr__, __dir__ = lazy_exports(__name__)

"""Policies on worlds drawn from the posterior of a shop's own history, before one of them decides
for real.

season    the shop's own calendar
worlds    rates and delays drawn from the posterior
players   the policies that take part, an even split, and waiting out the window
run       the simulations and their results
page      the results as a page
"""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.analysis.rehearsal.page import write_rehearsal as write_rehearsal
    from patientbandits.analysis.rehearsal.run import DRAWS as DRAWS
    from patientbandits.analysis.rehearsal.run import REHEARSAL_SEED as REHEARSAL_SEED
    from patientbandits.analysis.rehearsal.run import Rehearsal as Rehearsal
    from patientbandits.analysis.rehearsal.run import rehearse as rehearse

__all__, __getattr__, __dir__ = lazy_exports(__name__)

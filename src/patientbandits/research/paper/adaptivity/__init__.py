"""Adaptivity at scale: when does Adapt-PatientBandits' alpha_low leave zero, what is it worth?

The paper shows Adapt at T = 10^4 only, where the printed formula gives alpha_low = 0. Here: up to
10^7 rounds, several penalties, both choices of d / D, and the policies one would use instead. Three
parts, each a file with its simulations, its rows of data and its numbers in the text:

    over_time   regret and alpha_low over time, on the arms of the paper's adaptive experiment
    departures  the round at which alpha_low leaves zero, by gap, tail, d / D and penalty, against
                `theory.adaptive_start`
    over_gaps   final regret over a range of gaps, where the better arm is by far the slower one:
                the case Adapt is made for

`variants` has the policies and arms they share. `run` carries out all of it and writes the data;
`page` makes figures and text from the data alone.
"""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.research.paper.adaptivity.run import adaptivity as adaptivity

__all__, __getattr__, __dir__ = lazy_exports(__name__)

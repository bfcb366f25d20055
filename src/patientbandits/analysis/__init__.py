"""From a shop's history to an answer: which arm converts best, how certain that is, when to stop.

events      tables of exposures and orders, read and joined
run         the analysis: `analyse`
comparison  arms compared within slots of time: best, loss, lift
arms        findings arm by arm: rate, fit of the model, revenue, cohorts
future      the expected loss on later days, simulated
verdict     leader, expected loss and time left; windows compared
page        the findings as a page with pictures
rehearsal   policies on worlds like the shop's own
"""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.analysis.arms import amount as amount
    from patientbandits.analysis.arms import chance_words as chance_words
    from patientbandits.analysis.arms import cohort_days as cohort_days
    from patientbandits.analysis.arms import revenues_of as revenues_of
    from patientbandits.analysis.arms import standardised as standardised
    from patientbandits.analysis.comparison import BY_RATE as BY_RATE
    from patientbandits.analysis.comparison import BY_REVENUE as BY_REVENUE
    from patientbandits.analysis.comparison import FEWEST_CONVERSIONS as FEWEST_CONVERSIONS
    from patientbandits.analysis.comparison import Z95 as Z95
    from patientbandits.analysis.comparison import Comparing as Comparing
    from patientbandits.analysis.comparison import compare_all as compare_all
    from patientbandits.analysis.comparison import count_slots as count_slots
    from patientbandits.analysis.comparison import values_of as values_of
    from patientbandits.analysis.page import SET_ASIDE as SET_ASIDE
    from patientbandits.analysis.page import table_rows as table_rows
    from patientbandits.analysis.page import warnings_of as warnings_of
    from patientbandits.analysis.page import write_analysis as write_analysis
    from patientbandits.analysis.records import ArmFinding as ArmFinding
    from patientbandits.analysis.records import Lag as Lag
    from patientbandits.analysis.run import TOLERANCE as TOLERANCE
    from patientbandits.analysis.run import Analysis as Analysis
    from patientbandits.analysis.run import analyse as analyse
    from patientbandits.analysis.run import finite as finite
    from patientbandits.analysis.verdict import candidate_windows as candidate_windows
    from patientbandits.analysis.verdict import compared_of as compared_of

__all__, __getattr__, __dir__ = lazy_exports(__name__)

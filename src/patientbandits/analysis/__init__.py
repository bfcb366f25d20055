"""From a shop's history to an answer: rates within a window, windows, cohorts, a verdict, and a
page."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.analysis.belief import Z95 as Z95
    from patientbandits.analysis.cohorts import cohort_days as cohort_days
    from patientbandits.analysis.export import finite as finite
    from patientbandits.analysis.money import amount as amount
    from patientbandits.analysis.money import worths_of as worths_of
    from patientbandits.analysis.page import SET_ASIDE as SET_ASIDE
    from patientbandits.analysis.page import write_analysis as write_analysis
    from patientbandits.analysis.records import ArmFinding as ArmFinding
    from patientbandits.analysis.records import Lag as Lag
    from patientbandits.analysis.records import Span as Span
    from patientbandits.analysis.run import TOLERANCE as TOLERANCE
    from patientbandits.analysis.run import Analysis as Analysis
    from patientbandits.analysis.run import analyse as analyse
    from patientbandits.analysis.terminal import arms_lines as arms_lines
    from patientbandits.analysis.terminal import reading_table as reading_table
    from patientbandits.analysis.terminal import remarks as remarks
    from patientbandits.analysis.verdict import BY_RATE as BY_RATE
    from patientbandits.analysis.verdict import BY_REVENUE as BY_REVENUE
    from patientbandits.analysis.verdict import FEWEST_CONVERSIONS as FEWEST_CONVERSIONS
    from patientbandits.analysis.verdict import compared_of as compared_of
    from patientbandits.analysis.windows import candidate_windows as candidate_windows

__all__, __getattr__, __dir__ = lazy_exports(__name__)

"""From a shop's history to an answer: rates within a window, windows, cohorts, a verdict, and a
page."""

from patientbandits.analysis.run import Analysis, analyse

__all__ = ["Analysis", "analyse"]

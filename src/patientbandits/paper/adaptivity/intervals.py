"""Confidence intervals that are right for a few runs as well."""

from patientbandits.statistics import student_interval as interval
from patientbandits.statistics import student_quantile as student_quantile

__all__ = ["interval", "student_quantile"]

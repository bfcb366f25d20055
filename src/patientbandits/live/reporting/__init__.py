"""Reports on the log: rates by arm, cohorts, goals, verdicts, exports."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.live.reporting.changes import settings_changes as settings_changes
    from patientbandits.live.reporting.cohorts import counts_over_time as counts_over_time
    from patientbandits.live.reporting.cohorts import read_cohorts as read_cohorts
    from patientbandits.live.reporting.export import FORMATS as FORMATS
    from patientbandits.live.reporting.export import exported as exported
    from patientbandits.live.reporting.report import curve_times as curve_times
    from patientbandits.live.reporting.report import posteriors_of as posteriors_of
    from patientbandits.live.reporting.report import report_on as report_on
    from patientbandits.live.reporting.verdict import analysis_on as analysis_on
    from patientbandits.live.reporting.verdict import verdict_on as verdict_on

__all__, __getattr__, __dir__ = lazy_exports(__name__)

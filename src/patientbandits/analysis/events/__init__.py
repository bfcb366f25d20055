"""Tables of exposures and orders, read and joined: who saw what when, and who bought after how
long.

columns     finding columns: by usual names, by a preset, by the user's names
tables      CSV or Parquet files, pandas, Arrow or DuckDB tables, opened with line numbers
parsing     units, times, variants and amounts; rows that cannot be read are set aside
completeness  until when the orders are complete
joining     the rows of one experiment, once each; orders joined to exposures
refunds     taken off the orders that they are of
filters     which rows count
report      counts of what was read, matched and set aside
history     the result: ages and delays, arm by arm
reading     all of it, for an analysis (`read_events`) or row by row (`read_rows`)
example     files of a made-up shop
"""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.analysis.events.completeness import Completeness as Completeness
    from patientbandits.analysis.events.example import write_example as write_example
    from patientbandits.analysis.events.history import ArmHistory as ArmHistory
    from patientbandits.analysis.events.history import ConvertedDraws as ConvertedDraws
    from patientbandits.analysis.events.history import Events as Events
    from patientbandits.analysis.events.history import PaidValues as PaidValues
    from patientbandits.analysis.events.history import Slots as Slots
    from patientbandits.analysis.events.history import control_of as control_of
    from patientbandits.analysis.events.reading import EventRows as EventRows
    from patientbandits.analysis.events.reading import ExposureRow as ExposureRow
    from patientbandits.analysis.events.reading import OrderRow as OrderRow
    from patientbandits.analysis.events.reading import read_events as read_events
    from patientbandits.analysis.events.reading import read_rows as read_rows
    from patientbandits.analysis.events.refunds import REFUND_SLACK as REFUND_SLACK
    from patientbandits.analysis.events.report import ReadingReport as ReadingReport
    from patientbandits.analysis.events.report import SetAside as SetAside

__all__, __getattr__, __dir__ = lazy_exports(__name__)

"""Tables of exposures and orders, read and joined: who saw what when, and who bought after how
long.

tables      a CSV or Parquet file, a pandas, Arrow or DuckDB table, as rows that know their line
columns     which column is which, by usual names, by a preset or as told
parsing     units, times, variants and values, and the rows that cannot be read
crediting   orders joined to the exposures that get the credit
history     what comes out: ages and delays, arm by arm
report      what was read, what was matched, what was not
"""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.analysis.events.example import write_example as write_example
    from patientbandits.analysis.events.history import ArmHistory as ArmHistory
    from patientbandits.analysis.events.history import Events as Events
    from patientbandits.analysis.events.history import control_of as control_of
    from patientbandits.analysis.events.reading import read_events as read_events
    from patientbandits.analysis.events.report import ReadingReport as ReadingReport
    from patientbandits.analysis.events.report import SetAside as SetAside
    from patientbandits.analysis.events.rows import EventRows as EventRows
    from patientbandits.analysis.events.rows import ExposureRow as ExposureRow
    from patientbandits.analysis.events.rows import OrderRow as OrderRow
    from patientbandits.analysis.events.rows import read_rows as read_rows

__all__, __getattr__, __dir__ = lazy_exports(__name__)

"""Tables of exposures and orders, read and joined: who saw what when, and who bought after how
long.

tables      a CSV or Parquet file, a pandas, Arrow or DuckDB table, as rows that know their line
columns     which column is which, by usual names, by a preset or as told
parsing     units, times, variants and values, and the rows that cannot be read
crediting   orders joined to the exposures that get the credit
history     what comes out: ages and delays, arm by arm
report      what was read, what was matched, what was not
"""

from patientbandits.events.history import ArmHistory, Events
from patientbandits.events.reading import read_events
from patientbandits.events.report import ReadingReport, SetAside

__all__ = ["ArmHistory", "Events", "ReadingReport", "SetAside", "read_events"]

"""Files and tables opened in DuckDB, every row with its number.

Columns of text files are read as text, so that a value that cannot be understood can be reported
as it stands in the file.
"""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from patientbandits.analysis.events.columns import (
    EXPOSURES,
    ORDERS,
    Preset,
    check_columns,
    event_column,
    find_columns,
    listed_columns,
    named_columns,
    names_for,
    shared_first,
)
from patientbandits.analysis.events.filters import (
    RowFilter,
    check_filters,
    filters_of,
    parse_filters,
)
from patientbandits.errors import InputError, require

READ_EVENTS = "read_events"
DELIMITERS = ",;\t|"
TEXT_ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
PARQUET_ENDINGS = (".parquet", ".pq")
MEMORY = "600MB"
ROW = "row_number_in_file"


@dataclass(frozen=True)
class Relation:
    """A table or view of DuckDB. In SQL it stands for its name: ``f"FROM {orders}"``."""

    database: Any
    name: str

    def __str__(self) -> str:
        return self.name

    def run(self, statement: str, *values: Any) -> Any:
        """The result of a statement in this relation's database."""
        return self.database.execute(statement, values or None)

    def count(self, where: str = "true") -> int:
        return int(self.run(f"SELECT count(*) FROM {self} WHERE {where}").fetchone()[0])

    def created(self, name: str, query: str) -> Relation:
        """A new table in the same database, filled by the query."""
        self.run(f"CREATE TABLE {name} AS {query}")
        return replace(self, name=name)


@dataclass(frozen=True)
class EventTable:
    """A file or table of the shop, opened."""

    numbered: Relation
    """its columns, and ROW"""
    label: str
    """for people: the file's name"""
    types: dict[str, str]
    """column -> DuckDB's type"""
    path: Path | None = None
    """of a text file, whose rows have line numbers"""
    rejects: Relation | None = None
    """lines of the text file that DuckDB could not split into columns"""

    @property
    def columns(self) -> list[str]:
        return list(self.types)


@dataclass(frozen=True)
class Source:
    """The rows of one kind, exposures or orders, in an opened table."""

    kind: str
    table: EventTable
    columns: Mapping[str, str]
    """role -> column"""
    only: str = "true"
    """SQL condition for the rows of this kind"""
    event: str = ""
    """the column that tells events apart, if there is one"""
    events: tuple[str, ...] = ()
    """the events of this kind"""
    filters: tuple[RowFilter, ...] = ()
    whole_is_minor: bool = False
    """as in the preset"""


def open_sources(
    database: Any,
    exposures: Any,
    orders: Any,
    preset: Preset,
    column_names: Mapping[str, str],
    where: str | Sequence[str] | None = None,
) -> tuple[Source, Source]:
    """Exposures and orders, their columns found. Without ``orders`` one table holds both."""
    exposed = open_table(database, exposures, "shown_table", EXPOSURES)
    ordered = exposed
    if orders is not None:
        ordered = open_table(database, orders, "bought_table", ORDERS)
        if ordered.label == exposed.label:
            # two files of the same name: the report tells them apart by their paths
            exposed = replace(exposed, label=str(exposed.path))
            ordered = replace(ordered, label=str(ordered.path))
    elif not preset.wide and not preset.event:
        raise InputError(
            f"{READ_EVENTS}: a table of orders is needed, unless a preset says that one table "
            "has both (wide, segment, ga4, amplitude)."
        )
    present = {EXPOSURES: exposed.columns, ORDERS: ordered.columns}
    check_columns(READ_EVENTS, column_names, present)
    filters = parse_filters(READ_EVENTS, where)
    check_filters(READ_EVENTS, filters, present, one_table=orders is None)
    filters += parse_filters(READ_EVENTS, preset.where)
    columns = {}
    for kind, table in ((EXPOSURES, exposed), (ORDERS, ordered)):
        names = names_for(preset, kind)
        names["unit"] = shared_first(names["unit"], exposed.columns, ordered.columns)
        own = named_columns(READ_EVENTS, column_names, kind, table.columns)
        columns[kind] = find_columns(table.label, kind, table.columns, names, own)
    if orders is None and not preset.wide and not event_column(preset, exposed.columns):
        raise InputError(
            f"{exposed.label}: a column with the name of the event is needed, such as "
            f"{preset.event[0]}; got columns {listed_columns(exposed.columns)}."
        )
    exposed_source = _source(preset, EXPOSURES, exposed, columns[EXPOSURES], filters)
    return exposed_source, _source(preset, ORDERS, ordered, columns[ORDERS], filters)


def _source(
    preset: Preset,
    kind: str,
    table: EventTable,
    columns: Mapping[str, str],
    filters: Sequence[RowFilter],
) -> Source:
    """The rows of this kind alone, where one table holds both."""
    source = Source(
        kind,
        table,
        columns,
        filters=filters_of(filters, kind, table.columns),
        whole_is_minor=preset.whole_is_minor,
    )
    if preset.wide and kind == ORDERS:
        return replace(source, only=f"{text_of(columns['time'])} IS NOT NULL")
    event = event_column(preset, table.columns)
    if not event:
        return source
    events = preset.exposure_events if kind == EXPOSURES else preset.order_events
    listed = ", ".join(literal(name) for name in events)
    only = f"lower({text_of(event)}) IN ({listed})"
    return replace(source, only=only, event=event, events=events)


def open_database() -> Any:
    """An empty database in memory."""
    try:
        import duckdb
    except ImportError:
        raise InputError(
            "read_events needs DuckDB to read tables: pip install 'patientbandits[data]'."
        ) from None
    return duckdb.connect(config={"memory_limit": MEMORY, "preserve_insertion_order": True})


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def text_of(column: str) -> str:
    """The column's text without blanks around it; NULL if nothing is left."""
    return f"nullif(trim(CAST({quoted(column)} AS VARCHAR)), '')"


def open_table(database: Any, source: Any, name: str, kind: str) -> EventTable:
    """Open a path or a table as the view ``name``, which numbers its rows."""
    if not isinstance(source, (str, os.PathLike)):
        return _open_object(database, source, name, kind)
    path = Path(source)
    if not path.is_file():
        raise InputError(f"{kind}: the file must exist; got {str(path)!r}.")
    if str(path).lower().endswith(PARQUET_ENDINGS):
        _run(database, path, f"CREATE VIEW {name}_rows AS FROM read_parquet({literal(str(path))})")
        return _numbered(database, name, path.name)
    require(
        str(path).lower().endswith(TEXT_ENDINGS),
        str(path),
        f"the name must end in {', '.join((*TEXT_ENDINGS, *PARQUET_ENDINGS))}",
        name=path.name,
    )
    return _open_text(database, path, name)


def _open_object(database: Any, source: Any, name: str, kind: str) -> EventTable:
    """A pandas, Arrow, Polars or DuckDB table."""
    if isinstance(source, (list, tuple, dict, int, float)) or source is None:
        raise InputError(f"{kind}: a path or a table is needed; got {type(source).__name__}.")
    if type(source).__name__ == "DuckDBPyRelation":
        source = source.to_arrow_table() if hasattr(source, "to_arrow_table") else source.arrow()
    try:
        database.register(f"{name}_rows", source)
    except Exception as error:
        raise InputError(
            f"{kind}: a path, or a pandas, Arrow or DuckDB table is needed; "
            f"got {type(source).__name__} ({error})."
        ) from None
    return _numbered(database, name, f"the table of {kind}")


def _open_text(database: Any, path: Path, name: str) -> EventTable:
    heading, delimiter = _heading(path)
    columns = ", ".join(f"{literal(column)}: 'VARCHAR'" for column in heading)
    options = (
        f"auto_detect=false, header=true, delim={literal(delimiter)}, quote='\"', escape='\"', "
        f"store_rejects=true, rejects_table='{name}_rejects', rejects_scan='{name}_scans', "
        f"rejects_limit=0, max_line_size=10000000, columns={{{columns}}}"
    )
    _run(
        database,
        path,
        f"CREATE TABLE {name}_rows AS FROM read_csv({literal(str(path))}, {options})",
    )
    rejects = Relation(database, f"{name}_rejects")
    return replace(_numbered(database, name, path.name), path=path, rejects=rejects)


def _numbered(database: Any, name: str, label: str) -> EventTable:
    database.execute(
        f"CREATE VIEW {name} AS SELECT row_number() OVER () AS {ROW}, * FROM {name}_rows"
    )
    described = database.execute(f"DESCRIBE {name}_rows").fetchall()
    types = {row[0]: row[1] for row in described}
    return EventTable(Relation(database, name), label, types)


def _run(database: Any, path: Path, statement: str) -> None:
    import duckdb

    try:
        database.execute(statement)
    except duckdb.Error as error:
        first = str(error).splitlines()[0]
        raise InputError(f"{path}: the file must be a readable table; {first}") from None


def _open_bytes(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return gzip.open(path)  # type: ignore[return-value]
    return path.open("rb")


def _heading(path: Path) -> tuple[list[str], str]:
    """The names of the columns, and what separates them."""
    try:
        with _open_bytes(path) as file:
            first = file.readline(1_000_000).decode("utf-8-sig")
    except (UnicodeDecodeError, gzip.BadGzipFile):
        raise InputError(f"{path}, line 1: the file must be text in UTF-8.") from None
    require(
        first.strip() != "", f"{path}, line 1", "a line with the names of the columns is needed"
    )
    if "\r" in first.rstrip("\r\n"):
        raise InputError(
            f"{path}, line 1: lines must end with a line feed; these end with a carriage return."
        )
    delimiter = max(DELIMITERS, key=first.count)
    names = [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter))]
    named = [cell or f"column{place}" for place, cell in enumerate(names, start=1)]
    lowered = [cell.lower() for cell in named]
    twice = [cell for cell in named if lowered.count(cell.lower()) > 1]
    if twice:
        got = f"{twice[0]!r} twice"
        if twice[1] != twice[0]:
            got = f"{twice[0]!r} and {twice[1]!r}, which differ by case alone"
        raise InputError(f"{path}, line 1: every column must have a name of its own; got {got}.")
    return named, delimiter


def place_in_file(file: str, line: int, column: str) -> str:
    """File, line and column; a line that is no row has no column."""
    if column:
        return f"{file}, line {line}, column {column}"
    return f"{file}, line {line}"


def rejected_lines(table: EventTable) -> list[tuple[int, str, str, str]]:
    """(line, column, rule, text) of the lines that are not rows of this table at all."""
    if table.path is None or table.rejects is None:
        return []
    rejects = table.rejects.run(
        f"SELECT byte_position, column_name, error_type, csv_line FROM {table.rejects} "
        "ORDER BY byte_position"
    ).fetchall()
    if not rejects:
        return []
    # DuckDB's own line numbers are wrong after a quoted line break and with several threads;
    # positions in bytes are right
    lines = _lines_at(table.path, [int(row[0]) for row in rejects])
    count = len(table.types)
    rules = {
        "TOO MANY COLUMNS": f"a row must have {count} columns",
        "MISSING COLUMNS": f"a row must have {count} columns",
        "UNQUOTED VALUE": "a quoted text must end with a quotation mark",
        "INVALID ENCODING": "text must be UTF-8",
    }
    return [
        (line, column or "", rules.get(kind, kind.lower()), (text or "").strip()[:200])
        for line, (_, column, kind, text) in zip(lines, rejects, strict=True)
    ]


def _lines_at(path: Path, positions: list[int]) -> list[int]:
    """The line of each of these rising positions, counted in bytes from 1."""
    lines, line, passed = [], 1, 0
    with _open_bytes(path) as file:
        for position in positions:
            while passed < position - 1:
                chunk = file.read(min(1 << 20, position - 1 - passed))
                if not chunk:
                    break
                passed += len(chunk)
                line += chunk.count(b"\n")
            lines.append(line)
    return lines


def lines_of_rows(table: EventTable) -> NDArray[np.int64]:
    """The line on which each row begins in a text file; the row's number in a table."""
    rows = table.numbered.count()
    plain = np.arange(2, rows + 2)
    if table.path is None:
        return plain - 1
    rejected = {line for line, *_ in rejected_lines(table)}
    # a file with as many lines as rows need not be parsed again: nothing in it spans lines
    if not rejected and _physical_lines(table.path) == rows + 1:
        return plain
    begins = [line for line in _beginnings(table.path) if line not in rejected]
    return np.array(begins) if len(begins) == rows else plain


def _physical_lines(path: Path) -> int:
    ends, last = 0, b"\n"
    with _open_bytes(path) as file:
        while chunk := file.read(1 << 20):
            ends += chunk.count(b"\n")
            last = chunk[-1:]
    return ends + (last != b"\n")


def _beginnings(path: Path) -> Iterator[int]:
    """The first line of every row, the heading and empty lines aside."""
    _, delimiter = _heading(path)
    with _open_bytes(path) as file:
        lines = (line.decode("utf-8", "replace") for line in file)
        reader = csv.reader(lines, delimiter=delimiter)
        before = 0
        for place, cells in enumerate(reader):
            if cells and place > 0:
                yield before + 1
            before = reader.line_num

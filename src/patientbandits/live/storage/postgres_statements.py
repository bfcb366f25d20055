"""What PostgreSQL is told in words of its own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from patientbandits.live.log import LineRow
from patientbandits.live.storage import queries
from patientbandits.live.storage.queries import StoreQuestion

PROGRAM = "patientbandits live"
ONE_AT_A_TIME = f"SELECT pg_advisory_xact_lock({0x70624C31})"
"""while tables are made"""

WRITER_SESSION = (
    "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; "
    "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan"
)
"""The connection that writes looks up a few lines, and what became of them, by index: it must never
read all of the log for it. So there is one plan for each question, however long the log: to plan
takes longer than to answer."""

BEGIN = StoreQuestion("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", ())
COMMIT = StoreQuestion("COMMIT", ())
ROLLBACK = StoreQuestion("ROLLBACK", ())
COLUMN_TYPES = {
    "kind": "text",
    "propensity": "float8",
    "unit": "text",
    "key": "text",
    "settings": "text",
    "goal": "text",
    "sender": "text",
    "chain": "bytea",
}
"""of the log; all others are bigint"""

TYPES = [COLUMN_TYPES.get(column, "bigint") for column in LineRow._fields]
ARRAYS = ", ".join(f"?::text::{name}[]" for name in TYPES)
APPEND_ARRAYS = f"INSERT INTO log ({queries.LOG_COLUMNS}) SELECT * FROM unnest({ARRAYS})"
"""All lines in one statement: an array for each column."""

DECISION_TYPES = ["bigint", "bigint", "float8", "text", "text", "bytea"]
APPEND_DECISIONS = (
    "INSERT INTO log (experiment, time, kind, seq, arm, propensity, unit, key, chain) "
    "SELECT ?, ?, 'decision', * FROM unnest("
    "?::text::bigint[], ?::text::bigint[], ?::text::float8[], "
    "?::text::text[], ?::text::text[], ?::text::bytea[])"
)

HEADS = """
    SELECT e.id, (SELECT MAX(l.seq) FROM log l WHERE l.experiment = e.id)
    FROM experiments e WHERE e.id = ANY(?)"""
"""the last line of each, from the end of its index: a MAX for each group would read all of it"""

DECISIONS_BY_AGE = f"""
    SELECT d.arm, width_bucket(?::bigint - {queries.MADE_AT}, ?::bigint[]), COUNT(*) FROM log d
    WHERE d.experiment = ? AND d.kind = 'decision' GROUP BY 1, 2"""

OUR_COLUMNS = """
    SELECT column_name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = 'facts'"""
OWN_DATABASE = "give this one a database of its own, or a schema (?options=-csearch_path%3Dname)"


def lock_of(experiments: Sequence[int] | None) -> StoreQuestion:
    """Their rows, or the whole table."""
    if experiments is None:
        return StoreQuestion("LOCK TABLE experiments IN EXCLUSIVE MODE", ())
    statement = "SELECT id FROM experiments WHERE id = ANY(?) ORDER BY id FOR NO KEY UPDATE"
    return StoreQuestion(statement, (list(experiments),))


@lru_cache(maxsize=500)
def psycopg_statement(statement: str) -> bytes:
    """The statement as psycopg wants it."""
    return statement.replace("%", "%%").replace("?", "%s").encode()

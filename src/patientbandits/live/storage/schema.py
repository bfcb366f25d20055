"""The tables, version by version. A step is never changed once released: a later one is added.

One table, and longer than other files: a reader must see the whole history of the log in one place.

Types are those of SQLite; `for_postgres` names PostgreSQL's. Times are whole microseconds since
1970, values whole millionths of the experiment's scale. Not even the line ends of a step change.
"""

from __future__ import annotations

COLUMNS = """
            experiment INTEGER NOT NULL REFERENCES experiments (id),
            seq INTEGER NOT NULL CHECK (seq >= 1),
            kind TEXT NOT NULL,
            time INTEGER NOT NULL,
            arm INTEGER CHECK (arm >= 0),
            propensity REAL CHECK (propensity > 0 AND propensity <= 1),
            unit TEXT,
            key TEXT,
            decision INTEGER,
            value INTEGER CHECK (value >= 0 AND value <= 1000000),
            happened INTEGER,
            stated INTEGER,
            settings TEXT,"""
"""of every log, from the first"""

GOAL_LOG = f"""CREATE TABLE goal_log ({COLUMNS}
            about INTEGER,
            chain BLOB,
            goal TEXT,
            PRIMARY KEY (experiment, seq),
            CHECK (CASE kind
                WHEN 'decision' THEN arm IS NOT NULL AND decision IS NULL AND value IS NULL \
AND (happened IS NULL OR happened <= time) AND settings IS NULL AND about IS NULL
                WHEN 'conversion' THEN
                    arm IS NULL AND decision IS NOT NULL AND decision < seq
                    AND value IS NOT NULL AND happened IS NOT NULL AND settings IS NULL
                    AND about IS NULL
                WHEN 'retraction' THEN arm IS NULL AND decision IS NOT NULL AND decision < seq \
AND value IS NULL AND settings IS NULL AND about IS NULL
                WHEN 'change' THEN arm IS NULL AND decision IS NULL AND settings IS NOT NULL \
AND about IS NULL
                WHEN 'order' THEN arm IS NULL AND decision IS NULL AND unit IS NOT NULL \
AND value IS NOT NULL AND happened IS NOT NULL AND settings IS NULL AND about IS NULL
                WHEN 'withdrawal' THEN arm IS NULL AND decision IS NULL AND unit IS NULL \
AND value IS NULL AND settings IS NULL AND about IS NOT NULL AND about < seq
                WHEN 'alias' THEN arm IS NULL AND decision IS NULL AND unit IS NOT NULL \
AND key IS NOT NULL AND value IS NULL AND settings IS NULL AND about IS NULL
                WHEN 'credit' THEN arm IS NULL AND decision IS NULL AND unit IS NULL \
AND value IS NOT NULL AND (value = 0 OR happened IS NOT NULL) AND settings IS NULL \
AND about IS NOT NULL AND about < seq
                WHEN 'goal' THEN arm IS NULL AND decision IS NULL AND settings IS NULL \
AND value IS NOT NULL AND happened IS NOT NULL \
AND ((unit IS NOT NULL AND about IS NULL) OR (unit IS NULL AND key IS NULL AND about < seq))
                ELSE FALSE END),
            CHECK ((kind = 'goal') = (goal IS NOT NULL))
        ) STRICT, WITHOUT ROWID"""
LOG_INDEXES = (
    """CREATE UNIQUE INDEX log_key ON log (experiment, key) \
WHERE kind = 'decision' AND key IS NOT NULL""",
    """CREATE INDEX log_unit ON log (experiment, kind, unit, seq) WHERE unit IS NOT NULL""",
    """CREATE INDEX log_order ON log (experiment, key, seq) \
WHERE kind = 'order' AND key IS NOT NULL""",
    """CREATE INDEX log_goal ON log (experiment, key, seq) \
WHERE kind = 'goal' AND key IS NOT NULL""",
    """CREATE INDEX log_made ON log (experiment, arm, (COALESCE(happened, time))) \
WHERE kind = 'decision'""",
    """CREATE INDEX log_alias ON log (experiment, key) \
WHERE kind = 'alias' AND key IS NOT NULL""",
    """CREATE UNIQUE INDEX log_outcome ON log (experiment, decision, kind) \
WHERE decision IS NOT NULL""",
    """CREATE INDEX log_about ON log (experiment, about, kind, seq) WHERE about IS NOT NULL""",
    """CREATE INDEX log_change ON log (experiment, seq) WHERE settings IS NOT NULL""",
)
LOG_NOW = (
    "experiment, seq, kind, time, arm, propensity, unit, key, decision, value, happened, stated, "
    "settings, about, goal, chain"
)


def with_kinds(table: str, name: str, new_name: str, rules: str) -> str:
    """The statement that makes ``table`` under a new name, for further kinds of lines."""
    return table.replace(name, new_name).replace("ELSE FALSE END", f"{rules}\nELSE FALSE END")


def log_replaced_by(table: str) -> tuple[str, ...]:
    """Its lines move into a new table, which takes its name."""
    return (
        f"INSERT INTO {table} ({LOG_NOW}) SELECT {LOG_NOW} FROM log ORDER BY experiment, seq",
        "DROP TABLE log",
        f"ALTER TABLE {table} RENAME TO log",
    )


MADE_BY_ARM = """CREATE INDEX log_made ON log (experiment, arm, (COALESCE(happened, time))) \
WHERE kind = 'decision'"""
"""SQLite's alone: of a young log PostgreSQL took it for a way to find a unit's decisions."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT""",
        """CREATE TABLE experiments (
            id INTEGER PRIMARY KEY CHECK (id >= 1),
            name TEXT NOT NULL UNIQUE,
            seed INTEGER NOT NULL CHECK (seed >= 0),
            created INTEGER NOT NULL
        ) STRICT""",
        f"""CREATE TABLE log ({COLUMNS}
            PRIMARY KEY (experiment, seq),
            CHECK (CASE kind
                WHEN 'decision' THEN arm IS NOT NULL AND decision IS NULL AND value IS NULL \
AND happened IS NULL AND settings IS NULL
                WHEN 'conversion' THEN
                    arm IS NULL AND decision IS NOT NULL AND decision < seq
                    AND value IS NOT NULL AND happened IS NOT NULL AND settings IS NULL
                WHEN 'retraction' THEN arm IS NULL AND decision IS NOT NULL AND decision < seq \
AND value IS NULL AND settings IS NULL
                WHEN 'change' THEN arm IS NULL AND decision IS NULL AND settings IS NOT NULL
                ELSE FALSE END)
        ) STRICT, WITHOUT ROWID""",
        """CREATE UNIQUE INDEX log_key ON log (experiment, key) WHERE key IS NOT NULL""",
        """CREATE INDEX log_unit ON log (experiment, unit, seq) WHERE unit IS NOT NULL""",
        """CREATE UNIQUE INDEX log_outcome ON log (experiment, decision, kind) \
WHERE decision IS NOT NULL""",
        """CREATE INDEX log_change ON log (experiment, seq) WHERE settings IS NOT NULL""",
        """CREATE TABLE snapshots (
            experiment INTEGER PRIMARY KEY REFERENCES experiments (id),
            seq INTEGER NOT NULL,
            code TEXT NOT NULL,
            state BLOB NOT NULL
        ) STRICT""",
        """CREATE TABLE keys (
            id TEXT PRIMARY KEY,
            hash TEXT NOT NULL UNIQUE,
            note TEXT NOT NULL,
            scopes TEXT NOT NULL,
            created INTEGER NOT NULL,
            revoked INTEGER
        ) STRICT""",
    ),
    (  # orders, aliases and credits
        f"""CREATE TABLE longer_log ({COLUMNS}
            about INTEGER,
            PRIMARY KEY (experiment, seq),
            CHECK (CASE kind
                WHEN 'decision' THEN arm IS NOT NULL AND decision IS NULL AND value IS NULL \
AND happened IS NULL AND settings IS NULL AND about IS NULL
                WHEN 'conversion' THEN
                    arm IS NULL AND decision IS NOT NULL AND decision < seq
                    AND value IS NOT NULL AND happened IS NOT NULL AND settings IS NULL
                    AND about IS NULL
                WHEN 'retraction' THEN arm IS NULL AND decision IS NOT NULL AND decision < seq \
AND value IS NULL AND settings IS NULL AND about IS NULL
                WHEN 'change' THEN arm IS NULL AND decision IS NULL AND settings IS NOT NULL \
AND about IS NULL
                WHEN 'order' THEN arm IS NULL AND decision IS NULL AND unit IS NOT NULL \
AND value IS NOT NULL AND happened IS NOT NULL AND settings IS NULL AND about IS NULL
                WHEN 'withdrawal' THEN arm IS NULL AND decision IS NULL AND unit IS NULL \
AND value IS NULL AND settings IS NULL AND about IS NOT NULL AND about < seq
                WHEN 'alias' THEN arm IS NULL AND decision IS NULL AND unit IS NOT NULL \
AND key IS NOT NULL AND value IS NULL AND settings IS NULL AND about IS NULL
                WHEN 'credit' THEN arm IS NULL AND decision IS NULL AND unit IS NULL \
AND value IS NOT NULL AND (value = 0 OR happened IS NOT NULL) AND settings IS NULL \
AND about IS NOT NULL AND about < seq
                ELSE FALSE END)
        ) STRICT, WITHOUT ROWID""",
        """INSERT INTO longer_log (experiment, seq, kind, time, arm, propensity, unit, key, \
decision, value, happened, stated, settings) SELECT experiment, seq, kind, time, arm, propensity, \
unit, key, decision, value, happened, stated, settings FROM log ORDER BY experiment, seq""",
        """DROP TABLE log""",
        """ALTER TABLE longer_log RENAME TO log""",
        """CREATE UNIQUE INDEX log_key ON log (experiment, key) \
WHERE kind = 'decision' AND key IS NOT NULL""",
        """CREATE INDEX log_unit ON log (experiment, kind, unit, seq) WHERE unit IS NOT NULL""",
        """CREATE INDEX log_order ON log (experiment, key, seq) \
WHERE kind = 'order' AND key IS NOT NULL""",
        """CREATE INDEX log_alias ON log (experiment, key) \
WHERE kind = 'alias' AND key IS NOT NULL""",
        """CREATE UNIQUE INDEX log_outcome ON log (experiment, decision, kind) \
WHERE decision IS NOT NULL""",
        """CREATE INDEX log_about ON log (experiment, about, kind, seq) WHERE about IS NOT NULL""",
        """CREATE INDEX log_change ON log (experiment, seq) WHERE settings IS NOT NULL""",
    ),
    (  # what was written, sealed
        """ALTER TABLE log ADD COLUMN chain BLOB""",
    ),
    (  # goals beside the one that decides; exposures told later than they were made
        GOAL_LOG,
        """INSERT INTO goal_log (experiment, seq, kind, time, arm, propensity, unit, key, \
decision, value, happened, stated, settings, about, chain) \
SELECT experiment, seq, kind, time, arm, propensity, \
unit, key, decision, value, happened, stated, settings, about, chain \
FROM log ORDER BY experiment, seq""",
        """DROP TABLE log""",
        """ALTER TABLE goal_log RENAME TO log""",
        *LOG_INDEXES,
    ),
    (  # arms promised to units that may never see them
        with_kinds(
            GOAL_LOG,
            "goal_log",
            "assignment_log",
            """WHEN 'assignment' THEN arm IS NOT NULL AND decision IS NULL AND unit IS NOT NULL \
AND key IS NULL AND value IS NULL AND happened IS NULL AND settings IS NULL AND about IS NULL""",
        ),
        *log_replaced_by("assignment_log"),
        *LOG_INDEXES,
    ),
    (  # who told it
        """ALTER TABLE log ADD COLUMN sender TEXT""",
    ),
    (  # names are hashed, and sealed apart: a program that does not know must not write
        """DROP INDEX IF EXISTS log_made""",
        MADE_BY_ARM,
    ),
    (  # alerts, and whom to tell
        """CREATE TABLE alerts (
            id TEXT PRIMARY KEY,
            experiment INTEGER NOT NULL REFERENCES experiments (id),
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            raised INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            words TEXT NOT NULL,
            data TEXT NOT NULL,
            cleared INTEGER
        ) STRICT""",
        """CREATE INDEX alerts_standing ON alerts (experiment) WHERE cleared IS NULL""",
        """CREATE TABLE webhooks (
            id TEXT PRIMARY KEY,
            url TEXT NOT NULL,
            secret TEXT NOT NULL,
            kinds TEXT NOT NULL,
            created INTEGER NOT NULL,
            removed INTEGER
        ) STRICT""",
        """CREATE TABLE deliveries (
            webhook TEXT NOT NULL REFERENCES webhooks (id),
            message TEXT NOT NULL,
            body TEXT NOT NULL,
            due INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            delivered INTEGER,
            PRIMARY KEY (webhook, message)
        ) STRICT""",
        """CREATE INDEX deliveries_due ON deliveries (due) WHERE delivered IS NULL""",
    ),
    (  # the line from which on a person keeps its first arm: the next one of each log that there is
        """INSERT INTO facts (name, value) SELECT 'kept from ' || experiment, \
CAST(MAX(seq) + 1 AS TEXT) FROM log GROUP BY experiment""",
    ),
)
"""Each step's statements. The version of a database is the number of steps it has taken."""

LARGE_LOG = {
    "log": "1100000 1100000 1",
    "log_about": "100000 100000 1 1 1",
    "log_alias": "1000 1000 1",
    "log_change": "100 100 1",
    "log_goal": "100000 100000 1 1",
    "log_key": "1000000 1000000 1",
    "log_made": "1000000 1000000 300000 1",
    "log_order": "100000 100000 1 1",
    "log_outcome": "100000 100000 1 1",
    "log_unit": "1000000 1000000 300000 1 1",
}
"""What SQLite is told of each index of the log, in the words of its table sqlite_stat1: lines, and
lines that agree in the first column, in the first two, ... A log begins small, and a plan that
reads all of it must never be taken: so it is told of a large one from the beginning.
"""


def for_postgres(statement: str) -> str:
    """The statement in PostgreSQL's words; nothing if it does without."""
    if statement == MADE_BY_ARM:
        return ""
    for sqlite, postgres in (
        ("id INTEGER PRIMARY KEY CHECK (id >= 1)", "id BIGINT PRIMARY KEY CHECK (id >= 1)"),
        (" INTEGER", " BIGINT"),
        (" REAL", " DOUBLE PRECISION"),
        (" BLOB", " BYTEA"),
        (" STRICT, WITHOUT ROWID", ""),
        (" STRICT", ""),
    ):
        statement = statement.replace(sqlite, postgres)
    return statement

"""Who changed which settings, and when, from the log."""

from __future__ import annotations

from typing import Any

import msgspec

from patientbandits.live.log import Experiment
from patientbandits.live.settings import stored_settings
from patientbandits.live.storage import Reader
from patientbandits.live.times import iso_text

MOST_SHOWN = 200
BY_IMPORTS = "imported"
"""a setting that no one changes by hand"""


def settings_changes(reader: Reader, experiment: Experiment) -> list[dict[str, Any]]:
    """The latest changes, newest first; the oldest change is the creation.

    Each {line, time, by, note, changed}: ``by`` is the id of a key, with its ``note``, or None for
    the library and the command line; ``changed`` has the values before and after by the names of
    settings. Rules of the quarantine are named by their ids.
    """
    notes = {key.id: key.note for key in reader.keys()}  # noqa: SIM118 - no dictionary
    before: dict[str, Any] = {}
    changes = []
    for line in reader.changes(experiment.id):
        after = shown_settings(line.settings)
        changed = {
            name: {"before": before.get(name), "after": value}
            for name, value in after.items()
            if before.get(name) != value and name != BY_IMPORTS
        }
        if changed:
            changes.append(
                {
                    "line": line.seq,
                    "time": iso_text(line.time),
                    "by": line.sender,
                    "note": notes.get(line.sender or ""),
                    "changed": changed,
                }
            )
        before = after
    return changes[: -MOST_SHOWN - 1 : -1]


def shown_settings(text: str) -> dict[str, Any]:
    """The settings by the names that users have for them; a quarantine names units."""
    settings = stored_settings(text)
    fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(settings))
    fields["quarantine"] = [rule.id for rule in settings.quarantine]
    return fields

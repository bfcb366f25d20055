"""An analysis as plain data and as a table."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from patientbandits.errors import InputError

if TYPE_CHECKING:
    from patientbandits.analysis.run import Analysis

DataFrame = Any
"""of pandas, which need not be installed"""


def plain_data(found: Analysis) -> dict[str, Any]:
    """Everything an analysis says, in numbers, texts, lists and objects; None for what is
    unknown."""
    events = found.events
    data = {
        "arms": [asdict(arm) for arm in found.arms.values()],
        "verdict": asdict(found.verdict),
        "experiment": events.experiment,
        "control": events.control,
        "window_seconds": events.window,
        "as_of": events.end,
        "currency": events.currency,
        "tolerance": found.tolerance,
        "windows": [asdict(row) for row in found.windows],
        "lag": {name: asdict(curve) for name, curve in found.lag.items()},
        "cohorts": [asdict(row) for row in found.cohorts],
        "future": asdict(found.future),
        "reading": events.report.data() if events.report else None,
    }
    return finite(data)


def finite(value: Any) -> Any:
    """Arrays as lists, and None for what is no finite number."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def arms_table(found: Analysis) -> DataFrame:
    """One row for each arm."""
    try:
        import pandas
    except ImportError:
        raise InputError("to_pandas needs pandas: pip install pandas.") from None
    return pandas.DataFrame([asdict(arm) for arm in found.arms.values()]).set_index("arm")

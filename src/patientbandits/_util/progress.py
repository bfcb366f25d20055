"""Progress in notebooks and terminals: ``progress=True`` of `simulate` and `sweep`."""

from __future__ import annotations

from collections.abc import Callable

from patientbandits.errors import InputError

Progress = Callable[[int], None]
"""called with the amount of work done since the last call"""


def progress_of(progress: Progress | bool | None, total: int, unit: str) -> Progress | None:
    """The function to call, if any: ``progress`` itself, or for True a bar by tqdm."""
    if progress is True:
        return bar(total, unit)
    if progress is False:
        return None
    return progress


def bar(total: int, unit: str) -> Progress:
    """A bar over ``total`` units of work: a widget in a notebook, text in a terminal."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise InputError(
            "progress: a bar needs one more package; install patientbandits[notebook]."
        ) from None
    widget = tqdm(total=total, unit=unit, unit_scale=True)

    def advance(more: int) -> None:
        widget.update(more)
        if widget.n >= total:
            widget.close()

    return advance

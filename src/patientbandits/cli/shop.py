"""What the commands of the live service share: the opened shop, and how an answer is shown."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from patientbandits.live.experiment import ExperimentHandle
    from patientbandits.live.shop import Shop


@contextlib.contextmanager
def told_failures() -> Iterator[None]:
    """Failures of the database become errors that the command line tells."""
    from patientbandits.errors import InputError
    from patientbandits.live import require_packages
    from patientbandits.live.errors import UnavailableError

    require_packages()
    try:
        yield
    except UnavailableError as error:
        raise InputError(f"live: {error}") from error


@contextlib.contextmanager
def opened_shop(
    options: argparse.Namespace, create: bool = False, units: str | None = None
) -> Iterator[Shop]:
    with told_failures():
        from patientbandits.live import shop as library

        with library.open(options.db, create=create, units=units) as shop:
            yield shop


@contextlib.contextmanager
def opened_experiment(options: argparse.Namespace) -> Iterator[ExperimentHandle]:
    with opened_shop(options) as shop:
        yield shop.open(options.experiment)


def arm_label(arm: str, retired: bool) -> str:
    if retired:
        return f"{arm} (retired)"
    return arm


def show(options: argparse.Namespace, found: Any, lines: Sequence[str]) -> None:
    """``found`` as JSON for machines, or ``lines`` for people."""
    if options.json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(found), indent=1).decode())
    else:
        print("\n".join(lines))

"""The library: a shop has experiments, an experiment decides.

shop = live.open("shop.db")
button = shop.experiment("checkout-button", arms=["blue", "green"])
decision = button.decide(unit="visitor-42")
button.convert(decision.id, value=1.0)
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any

import msgspec

from patientbandits.engine.replay import MILLIONTHS as MICRO
from patientbandits.live.cohorts import series
from patientbandits.live.commands import (
    Command,
    Conversion,
    Convert,
    Decide,
    Decision,
    Retract,
    Retraction,
)
from patientbandits.live.export import export
from patientbandits.live.ids import Signer
from patientbandits.live.journal import Journal
from patientbandits.live.refusals import ConflictError, RefusedError, UnknownError
from patientbandits.live.settings import Settings, checked, name, text
from patientbandits.live.state import settings_of
from patientbandits.live.store import Store, open_store
from patientbandits.live.store.sql import Entry, Experiment
from patientbandits.live.values import (
    bucket_width,
    described,
    listed,
    moment,
    moment_text,
    seconds,
    value_scale,
)
from patientbandits.policies import Policy


def open(address: str, *, create: bool = True, clock: Callable[[], float] = time.time) -> Shop:
    """The shop kept at ``address``: the path of an SQLite file, made if need be, or postgresql://...

    ``clock`` gives seconds since 1970.
    """
    return Shop(open_store(address, create), clock)


class Shop:
    """All experiments of one database. Safe to share among threads; close it, or use it in a ``with``."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self.store = store
        self.journal = Journal(store, Signer(_secret(store)), clock)
        self._found: dict[str, Experiment] = {}
        self.scales: dict[int, float] = {}

    def __enter__(self) -> Shop:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self.journal.close()

    def experiments(self) -> list[ExperimentHandle]:
        with self.store.reading() as reader:
            return [ExperimentHandle(self, found) for found in reader.experiments()]

    def open(self, experiment: str) -> ExperimentHandle:
        """The experiment of this name, which must be there."""
        found = self._found.get(experiment)
        if found is None:
            with self.store.reading() as reader:
                found = reader.experiment(name(experiment))
            if found is None:
                raise UnknownError(f"experiment: there is none of this name; got {experiment!r}.")
            self._found[experiment] = found
        return ExperimentHandle(self, found)

    def experiment(
        self,
        called: str,
        arms: Sequence[str],
        *,
        policy: Policy | Mapping[str, Any] | None = None,
        window: float | None = None,
        sticky: bool = False,
        scale: float = 1.0,
        seed: int | None = None,
    ) -> ExperimentHandle:
        """Create the experiment, or open it if it exists with the same arms.

        policy  how to decide; `settings.default_policy` unless given
        window  seconds; later conversions are kept but not counted
        sticky  the same unit gets the same decision
        scale   the largest value a conversion can have
        """
        settings = self.settings(arms, policy, window, sticky, scale)
        handle, _ = self.create(called, settings, seed)
        have = handle.settings
        if tuple(arm for arm in have.arms if arm not in have.retired) != settings.arms:
            raise ConflictError(
                f"experiment: {called!r} exists with the arms {list(have.arms)!r}; got {list(arms)!r}."
            )
        return handle

    def settings(
        self,
        arms: Any,
        policy: Policy | Mapping[str, Any] | str | None = None,
        window: Any = None,
        sticky: bool = False,
        scale: float = 1.0,
    ) -> Settings:
        """Settings, checked."""
        longest = seconds("window", window)
        return checked(
            Settings(
                listed("arms", arms),
                described(policy),
                (),
                longest,
                bool(sticky),
                False,
                value_scale(scale),
            )
        )

    def create(
        self, called: str, settings: Settings, seed: int | None = None
    ) -> tuple[ExperimentHandle, bool]:
        """(the experiment of this name, whether it is new)"""
        name(called)
        chosen = secrets.randbits(62) if seed is None else seed
        if isinstance(chosen, bool) or not isinstance(chosen, int) or not 0 <= chosen < 2**63:
            raise RefusedError(f"experiment: seed must be an integer in 0..2^63-1; got {seed!r}.")

        def add() -> tuple[Experiment, bool]:
            found = self.store.experiment(called)
            if found is not None:
                return found, False
            made = Experiment(self.store.next_experiment(), called, chosen, self.journal.now())
            self.store.add_experiment(made)
            self.store.append(
                [Entry(made.id, 1, "change", made.created, settings=encoded(settings))]
            )
            return made, True

        found, new = self.journal.alone(add)
        self._found[called] = found
        return ExperimentHandle(self, found), new

    def run(self, command: Command) -> Any:
        """Carry out one command: its outcome, or its error raised."""
        self.journal.execute([command])
        if command.error is not None:
            raise command.error
        return command.outcome


class ExperimentHandle:
    """One experiment: decide, convert, retract, change, report."""

    def __init__(self, shop: Shop, experiment: Experiment) -> None:
        self.shop, self.experiment = shop, experiment

    @property
    def name(self) -> str:
        return self.experiment.name

    @property
    def settings(self) -> Settings:
        """As they are now."""
        with self.shop.store.reading() as reader:
            return settings_of(reader.changes(self.experiment.id)[-1][2])

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that can be chosen."""
        settings = self.settings
        return tuple(settings.arms[place] for place in settings.active)

    def decide(self, unit: str | None = None, key: str | None = None) -> Decision:
        """Decide on an arm; durable when it returns.

        unit  whom it is for: kept with the decision and, if the experiment is sticky, given the same one again
        key   a repeated request with the same key gets the first one's decision, however late
        """
        return self.shop.run(self.decide_command(unit, key))

    def convert(
        self, id: str, value: float = 1.0, at: float | datetime | str | None = None
    ) -> Conversion:
        """Report that the decision ``id`` has paid ``value``; once, but repeating it does no harm.

        at  when it happened, if not now: seconds since 1970, or a time with its zone
        """
        return self.shop.run(self.convert_command(id, value, at))

    def retract(self, id: str) -> Retraction:
        """Take the decision's conversion back, for good: a return, a fraud."""
        return self.shop.run(self.retract_command(id))

    def decide_command(self, unit: str | None = None, key: str | None = None) -> Decide:
        unit = None if unit is None else text("decision: unit", unit)
        return Decide(self.experiment, unit, None if key is None else text("decision: key", key))

    def convert_command(
        self, id: str, value: float = 1.0, at: float | datetime | str | None = None
    ) -> Convert:
        scale, seq = self.scale, self._seq(id)
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not 0 <= value <= scale
        ):
            raise RefusedError(
                f"conversion: value must be a number in [0, {scale:g}]; got value={value!r:.100}."
            )
        return Convert(self.experiment, seq, round(value / scale * MICRO), moment(at))

    def retract_command(self, id: str) -> Retract:
        return Retract(self.experiment, self._seq(id))

    @property
    def scale(self) -> float:
        """It never changes."""
        scales = self.shop.scales
        if self.experiment.id not in scales:
            scales[self.experiment.id] = self.settings.scale
        return scales[self.experiment.id]

    def _seq(self, id: str) -> int:
        read = self.shop.journal.signer.read(id)
        if read.experiment != self.experiment.id:
            raise UnknownError(
                f"decision: there is none with this id in {self.name!r}; got {id!r}."
            )
        return read.seq

    def change(self, **changes: Any) -> Settings:
        """Change policy, window, sticky, paused, arms (which may be added) or retired; the history stays and is told to the new policy."""
        if "policy" in changes:
            changes["policy"] = described(changes["policy"])
        if "window" in changes:
            changes["window"] = seconds("window", changes["window"])
        for field in {"arms", "retired"} & set(changes):
            changes[field] = listed(field, changes[field])
        unknown = set(changes) - set(Settings.__struct_fields__)
        if unknown:
            raise RefusedError(
                f"experiment: {sorted(unknown)} cannot be changed; what can: {list(Settings.__struct_fields__)}."
            )
        store, journal = self.shop.store, self.shop.journal

        def append() -> Settings:
            old = settings_of(store.changes(self.experiment.id)[-1][2])
            new = old.changed(**changes)
            if new != old:
                head = store.head(self.experiment.id)
                now = max(journal.now(), store.time(self.experiment.id, head))
                store.append(
                    [Entry(self.experiment.id, head + 1, "change", now, settings=encoded(new))]
                )
            return new

        return journal.alone(append)

    def report(self) -> dict[str, Any]:
        """Per arm: pulls, conversions, raw rate, share matured, corrected rate with interval, probability of being best; the lag curve."""
        from patientbandits.live.report import report

        return report(self)

    def timeseries(self, bucket: str | int = "auto") -> list[dict[str, Any]]:
        """Decisions and conversions by the time they were reported: {time, arm, pulls, conversions, value}.

        bucket  "minute", "hour", "day", "week", a number of seconds, or "auto": about 60 of them so far
        """
        settings = self.settings
        with self.shop.store.reading() as reader:
            last = reader.time(self.experiment.id, reader.head(self.experiment.id))
            width = bucket_width(bucket, last - self.experiment.created)
            found = series(reader, self.experiment.id, width * MICRO)
        return [
            {
                "time": moment_text(start),
                "arm": settings.arms[arm],
                "pulls": pulls,
                "conversions": conversions,
                "value": paid / MICRO * settings.scale,
            }
            for (start, arm), (pulls, conversions, paid) in found.items()
        ]

    def export(self, format: str = "csv") -> Iterator[bytes]:
        """Every decision with what became of it, in pieces of a CSV or Parquet file."""
        return export(self, format)


def _secret(store: Store) -> bytes:
    """The key that signs decision ids, made when first needed."""
    found = store.fact("secret")
    if found is None:
        with store.transaction():
            found = store.fact("secret") or secrets.token_hex(32)
            store.set_fact("secret", found)
    return bytes.fromhex(found)


def encoded(settings: Settings) -> str:
    return msgspec.json.encode(settings).decode()

"""The library: a shop has experiments, an experiment decides.

shop = live.open("shop.db")
button = shop.experiment("checkout-button", arms=["blue", "green"])
decision = button.decide(unit="visitor-42")
button.convert(decision.id, value=1.0)
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from patientbandits.live.clock import SteadyClock
from patientbandits.live.errors import ConflictError, RefusedError, UnknownError
from patientbandits.live.experiment import ExperimentHandle
from patientbandits.live.ids import Signer
from patientbandits.live.journal import Journal
from patientbandits.live.log_line import LogLine
from patientbandits.live.names import experiment_name
from patientbandits.live.settings import Settings, new_settings, settings_text
from patientbandits.live.store import LogStore, open_store
from patientbandits.live.store.base import Experiment
from patientbandits.policies import Policy


def open(address: str, *, create: bool = True, clock: Callable[[], float] | None = None) -> Shop:
    """The shop kept at ``address``: the path of an SQLite file, made if need be, or postgresql://...

    ``clock`` gives seconds since 1970; unless given, the time of day without its jumps.
    """
    return Shop(open_store(address, create), clock)


class Shop:
    """All experiments of one database.

    Safe to share among threads; close it, or use it in a ``with``.
    """

    def __init__(self, store: LogStore, clock: Callable[[], float] | None = None) -> None:
        self.store = store
        self.journal = Journal(store, Signer(_secret(store)), clock or SteadyClock())
        self._found: dict[str, ExperimentHandle] = {}

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
            found = reader.experiments()
        return [ExperimentHandle(self.journal, experiment) for experiment in found]

    def open(self, experiment: str) -> ExperimentHandle:
        """The experiment of this name, which must be there; none is ever deleted."""
        if experiment in self._found:
            return self._found[experiment]
        with self.store.reading() as reader:
            found = reader.experiment(experiment_name(experiment))
        if found is None:
            raise UnknownError(f"experiment: there is none of this name; got {experiment!r}.")
        return self._keep(found)

    def _keep(self, experiment: Experiment) -> ExperimentHandle:
        handle = ExperimentHandle(self.journal, experiment)
        self._found[experiment.name] = handle
        return handle

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
                f"experiment: {called!r} exists with the arms {list(have.arms)!r}; "
                f"got {list(arms)!r}."
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
        """Settings for a new experiment, checked."""
        return new_settings(arms, policy, window, sticky, scale)

    def create(
        self, called: str, settings: Settings, seed: int | None = None
    ) -> tuple[ExperimentHandle, bool]:
        """(the experiment of this name, whether it is new)"""
        experiment_name(called)
        chosen = _checked_seed(seed)
        found, new = self.journal.alone(lambda: self._add(called, settings, chosen))
        return self._keep(found), new

    def create_exactly(
        self, called: str, settings: Settings, seed: int | None = None
    ) -> tuple[ExperimentHandle, bool]:
        """As `create`; an experiment of this name with other settings is a conflict."""
        handle, new = self.create(called, settings, seed)
        if handle.settings != settings or seed not in (None, handle.experiment.seed):
            raise ConflictError(f"experiment: {called!r} exists with other settings.")
        return handle, new

    def _add(self, called: str, settings: Settings, seed: int) -> tuple[Experiment, bool]:
        found = self.store.experiment(called)
        if found is not None:
            return found, False
        made = Experiment(
            id=self.store.next_experiment(), name=called, seed=seed, created=self.journal.now()
        )
        first = LogLine(
            experiment=made.id,
            seq=1,
            kind="change",
            time=made.created,
            settings=settings_text(settings),
        )
        self.store.add_experiment(made)
        self.store.append([first])
        return made, True


def _checked_seed(seed: int | None) -> int:
    if seed is None:
        return secrets.randbits(62)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise RefusedError(f"experiment: seed must be an integer in 0..2^63-1; got {seed!r}.")
    return seed


def _secret(store: LogStore) -> bytes:
    """The key that signs decision ids, made when first needed."""
    found = store.fact("secret")
    if found is None:
        with store.transaction():
            found = store.fact("secret") or secrets.token_hex(32)
            store.set_fact("secret", found)
    return bytes.fromhex(found)

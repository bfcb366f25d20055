"""The client for programs that wait for each answer."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

import httpx

from patientbandits.client import asks
from patientbandits.client.asks import ItemOutcome, When
from patientbandits.client.fallback import Fallback
from patientbandits.client.trying import (
    Ask,
    AskedFor,
    Attempt,
    AwayError,
    Pause,
    Reply,
    TimeLimits,
    attempts,
    error_of,
)
from patientbandits.live.outcomes import (
    Conversion,
    Credited,
    Decision,
    Evaluated,
    Exposed,
    Joined,
    Retraction,
)


class Client:
    """The experiments of a service; safe to share among threads. Close it, or use it in a ``with``.

    key       begins with pb_; None if the service asks for none
    timeout   seconds that an attempt may take
    patience  seconds that all attempts may take, and the pauses between them
    fallback  experiment: the arm that is shown while the service is away
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = TimeLimits().timeout,
        patience: float = TimeLimits().patience,
        fallback: Mapping[str, str] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self._http = httpx.Client(
            base_url=asks.checked_url(url), headers=headers, transport=transport
        )
        self._patience = TimeLimits(timeout=timeout, patience=patience).checked()
        self._fallbacks = dict(fallback or {})

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def run(self, ask: Ask[AskedFor]) -> AskedFor:
        """Send it until it is answered."""
        trying = attempts(ask, self._patience)
        reply: Reply = None
        try:
            while True:
                step = trying.send(reply)
                reply = self._done(ask, step)
        except StopIteration as done:
            made: AskedFor = done.value
            return made

    def _done(self, ask: Ask[Any], step: Attempt | Pause) -> Reply:
        if isinstance(step, Attempt):
            return self._sent(ask, step)
        time.sleep(step.seconds)
        return None

    def _sent(self, ask: Ask[Any], step: Attempt) -> Reply:
        try:
            return self._http.request(
                ask.method, ask.path, json=ask.body, params=ask.query, timeout=step.timeout
            )
        except httpx.TransportError as error:
            return error

    def streamed(self, ask: Ask[None]) -> Iterator[bytes]:
        """The answer in pieces; what breaks off is not asked for again."""
        with self._http.stream(ask.method, ask.path, params=ask.query) as reply:
            if not reply.is_success:
                reply.read()
                raise error_of(reply)
            yield from reply.iter_bytes()

    def open(self, experiment: str, fallback: str | None = None) -> RemoteExperiment:
        """The experiment of this name; nothing is asked of the service yet."""
        return RemoteExperiment(self, experiment, fallback or self._fallbacks.get(experiment))

    def experiment(self, called: str, arms: Sequence[str], **settings: Any) -> RemoteExperiment:
        """Create the experiment, or open it if it exists with the same settings."""
        self.run(asks.create(called, arms, **settings))
        return self.open(called)

    def experiments(self) -> list[RemoteExperiment]:
        return [self.open(name) for name in self.run(asks.experiment_names())]

    def evaluate_all(self, unit: str) -> dict[str, Evaluated]:
        """What the unit may be shown, in every experiment; it counts from when it is exposed."""
        return self.run(asks.evaluate_all(unit))

    def track(
        self,
        unit: str,
        order: str | None = None,
        value: float = 1.0,
        at: When = None,
        *,
        goal: str | None = None,
    ) -> dict[str, Credited]:
        """Tell every experiment that the unit has paid; what became of it, by experiment."""
        return self.run(asks.track(unit, order, value, at, goal))

    def alias(self, unit: str, other: str) -> Joined:
        """The two units are one person, in every experiment."""
        return self.run(asks.alias(unit, other))


class RemoteExperiment:
    """What can be done with an experiment, by the names of `patientbandits.live`."""

    def __init__(self, client: Client, name: str, fallback: str | None = None) -> None:
        self.client = client
        self.name = name
        self._fallback = Fallback(fallback)

    def decide(self, unit: str | None = None, key: str | None = None) -> Decision:
        """Decide on an arm; without a ``key`` it gets one, so that it can be sent again."""
        resting = self._fallback.decision() if self._fallback.resting else None
        if resting is not None:
            return resting
        try:
            made = self.client.run(asks.decide(self.name, unit, key))
        except AwayError:
            shown = self._fallback.away()
            if shown is None:
                raise
            return shown
        self._fallback.back()
        return made

    def evaluate(self, unit: str) -> Evaluated:
        """What the unit is to be shown, as OpenFeature asks for it."""
        return self.client.run(asks.evaluate(self.name, unit))

    def expose(
        self,
        unit: str,
        arm: str,
        at: When = None,
        propensity: float | None = None,
        *,
        key: str | None = None,
    ) -> Exposed:
        """Tell that the unit was shown ``arm``."""
        return self.client.run(asks.ask_expose(self.name, unit, arm, at, propensity, key))

    def expose_many(self, exposures: Iterable[Mapping[str, Any]]) -> list[ItemOutcome]:
        """Many at once, each with the arguments of `expose`; an error stands at its place."""
        return self._many("exposures", exposures)

    def convert(
        self,
        id: str | None = None,
        value: float = 1.0,
        at: When = None,
        *,
        unit: str | None = None,
        order: str | None = None,
        goal: str | None = None,
    ) -> Conversion | Credited:
        """Report that the decision ``id``, or a unit, has paid ``value``."""
        fields = {"id": id, "value": value, "at": at, "unit": unit, "order": order, "goal": goal}
        return self.client.run(asks.ask_convert(self.name, **fields))

    def convert_many(self, conversions: Iterable[Mapping[str, Any]]) -> list[ItemOutcome]:
        """Many at once, each with the arguments of `convert`; an error stands at its place."""
        return self._many("conversions", conversions)

    def _many(self, what: str, items: Iterable[Mapping[str, Any]]) -> list[ItemOutcome]:
        made: list[ItemOutcome] = []
        for part in asks.parts(self.name, what, items):
            answered = self.client.run(part)
            made += answered
        return made

    def retract(
        self,
        id: str | None = None,
        *,
        unit: str | None = None,
        order: str | None = None,
        goal: str | None = None,
    ) -> Retraction:
        """Take a conversion back."""
        fields = {"id": id, "unit": unit, "order": order, "goal": goal}
        return self.client.run(asks.retract(self.name, **fields))

    def change(self, **changes: Any) -> dict[str, Any]:
        """Change settings; the new ones."""
        return self.client.run(asks.change(self.name, **changes))

    def settings(self) -> dict[str, Any]:
        """As they are now."""
        return self.client.run(asks.read_one(self.name))

    def weights(self) -> dict[str, float]:
        """The share of traffic that each arm should get now."""
        return self.client.run(asks.weights(self.name))

    def report(self) -> dict[str, Any]:
        return self.client.run(asks.read_one(self.name, "report"))

    def verdict(self, by: str | None = None) -> dict[str, Any]:
        """``by``: conversions or revenue, if it is not to be found out."""
        return self.client.run(asks.read_one(self.name, "verdict", by=by))

    def analysis(self, by: str | None = None) -> dict[str, Any]:
        """The verdict, windows and cohorts."""
        return self.client.run(asks.read_one(self.name, "analysis", by=by))

    def export(self, format: str = "csv") -> Iterator[bytes]:
        """Every decision with what became of it, in pieces of a CSV or Parquet file."""
        return self.client.streamed(asks.export_of(self.name, format))

    def timeseries(self, bucket: str | int = "auto") -> list[dict[str, Any]]:
        return self.client.run(asks.timeseries(self.name, bucket))

"""The client for programs with an event loop: the same names, to be awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
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


class AsyncClient:
    """The experiments of a service; for one event loop. Close it, or use it in
    an ``async with``.

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
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self._http = httpx.AsyncClient(
            base_url=asks.checked_url(url), headers=headers, transport=transport
        )
        self._patience = TimeLimits(timeout=timeout, patience=patience).checked()
        self._fallbacks = dict(fallback or {})

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def run(self, ask: Ask[AskedFor]) -> AskedFor:
        """Send it until it is answered."""
        trying = attempts(ask, self._patience)
        reply: Reply = None
        try:
            while True:
                step = trying.send(reply)
                reply = await self._done(ask, step)
        except StopIteration as done:
            made: AskedFor = done.value
            return made

    async def _done(self, ask: Ask[Any], step: Attempt | Pause) -> Reply:
        if isinstance(step, Attempt):
            return await self._sent(ask, step)
        await asyncio.sleep(step.seconds)
        return None

    async def _sent(self, ask: Ask[Any], step: Attempt) -> Reply:
        try:
            return await self._http.request(
                ask.method, ask.path, json=ask.body, params=ask.query, timeout=step.timeout
            )
        except httpx.TransportError as error:
            return error

    async def streamed(self, ask: Ask[None]) -> AsyncIterator[bytes]:
        """The answer in pieces; what breaks off is not asked for again."""
        async with self._http.stream(ask.method, ask.path, params=ask.query) as reply:
            if not reply.is_success:
                await reply.aread()
                raise error_of(reply)
            async for piece in reply.aiter_bytes():
                yield piece

    def open(self, experiment: str, fallback: str | None = None) -> AsyncRemoteExperiment:
        """The experiment of this name; nothing is asked of the service yet."""
        return AsyncRemoteExperiment(self, experiment, fallback or self._fallbacks.get(experiment))

    async def experiment(
        self, called: str, arms: Sequence[str], **settings: Any
    ) -> AsyncRemoteExperiment:
        """Create the experiment, or open it if it exists with the same settings."""
        await self.run(asks.create(called, arms, **settings))
        return self.open(called)

    async def experiments(self) -> list[AsyncRemoteExperiment]:
        return [self.open(name) for name in await self.run(asks.experiment_names())]

    async def evaluate_all(self, unit: str) -> dict[str, Evaluated]:
        """What the unit may be shown, in every experiment; it counts from when it is exposed."""
        return await self.run(asks.evaluate_all(unit))

    async def track(
        self,
        unit: str,
        order: str | None = None,
        value: float = 1.0,
        at: When = None,
        *,
        goal: str | None = None,
    ) -> dict[str, Credited]:
        """Tell every experiment that the unit has paid; what became of it, by experiment."""
        return await self.run(asks.track(unit, order, value, at, goal))

    async def alias(self, unit: str, other: str) -> Joined:
        """The two units are one person, in every experiment."""
        return await self.run(asks.alias(unit, other))


class AsyncRemoteExperiment:
    """What can be done with an experiment, by the names of `patientbandits.live`."""

    def __init__(self, client: AsyncClient, name: str, fallback: str | None = None) -> None:
        self.client = client
        self.name = name
        self._fallback = Fallback(fallback)

    async def decide(self, unit: str | None = None, key: str | None = None) -> Decision:
        """Decide on an arm; without a ``key`` it gets one, so that it can be sent again."""
        resting = self._fallback.decision() if self._fallback.resting else None
        if resting is not None:
            return resting
        try:
            made = await self.client.run(asks.decide(self.name, unit, key))
        except AwayError:
            shown = self._fallback.away()
            if shown is None:
                raise
            return shown
        self._fallback.back()
        return made

    async def evaluate(self, unit: str) -> Evaluated:
        """What the unit is to be shown, as OpenFeature asks for it."""
        return await self.client.run(asks.evaluate(self.name, unit))

    async def expose(
        self,
        unit: str,
        arm: str,
        at: When = None,
        propensity: float | None = None,
        *,
        key: str | None = None,
    ) -> Exposed:
        """Tell that the unit was shown ``arm``."""
        return await self.client.run(asks.ask_expose(self.name, unit, arm, at, propensity, key))

    async def expose_many(self, exposures: Iterable[Mapping[str, Any]]) -> list[ItemOutcome]:
        """Many at once, each with the arguments of `expose`; an error stands at its place."""
        return await self._many("exposures", exposures)

    async def convert(
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
        return await self.client.run(asks.ask_convert(self.name, **fields))

    async def convert_many(self, conversions: Iterable[Mapping[str, Any]]) -> list[ItemOutcome]:
        """Many at once, each with the arguments of `convert`; an error stands at its place."""
        return await self._many("conversions", conversions)

    async def _many(self, what: str, items: Iterable[Mapping[str, Any]]) -> list[ItemOutcome]:
        made: list[ItemOutcome] = []
        for part in asks.parts(self.name, what, items):
            answered = await self.client.run(part)
            made += answered
        return made

    async def retract(
        self,
        id: str | None = None,
        *,
        unit: str | None = None,
        order: str | None = None,
        goal: str | None = None,
    ) -> Retraction:
        """Take a conversion back."""
        return await self.client.run(
            asks.retract(self.name, id=id, unit=unit, order=order, goal=goal)
        )

    async def change(self, **changes: Any) -> dict[str, Any]:
        """Change settings; the new ones."""
        return await self.client.run(asks.change(self.name, **changes))

    async def settings(self) -> dict[str, Any]:
        """As they are now."""
        return await self.client.run(asks.read_one(self.name))

    async def weights(self) -> dict[str, float]:
        """The share of traffic that each arm should get now."""
        return await self.client.run(asks.weights(self.name))

    async def report(self) -> dict[str, Any]:
        return await self.client.run(asks.read_one(self.name, "report"))

    async def verdict(self, by: str | None = None) -> dict[str, Any]:
        """``by``: conversions or revenue, if it is not to be found out."""
        return await self.client.run(asks.read_one(self.name, "verdict", by=by))

    async def analysis(self, by: str | None = None) -> dict[str, Any]:
        """The verdict, windows and cohorts."""
        return await self.client.run(asks.read_one(self.name, "analysis", by=by))

    def export(self, format: str = "csv") -> AsyncIterator[bytes]:
        """Every decision with what became of it, in pieces of a CSV or Parquet file."""
        return self.client.streamed(asks.export_of(self.name, format))

    async def timeseries(self, bucket: str | int = "auto") -> list[dict[str, Any]]:
        return await self.client.run(asks.timeseries(self.name, bucket))

"""The client for programs with an event loop; the one for all others is generated from it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

import httpx

from patientbandits_client import calls
from patientbandits_client.calls import Answer, Call, ItemOutcome, When
from patientbandits_client.errors import ServiceUnavailable
from patientbandits_client.records import (
    Conversion,
    Credited,
    Decision,
    Evaluated,
    Exposed,
    Joined,
    Retraction,
)
from patientbandits_client.retry import (
    Attempt,
    Fallback,
    Pause,
    Reply,
    TimeLimits,
    attempts,
    error_of,
)


class AsyncClient:
    """The experiments of a service, for the tasks of one event loop. Close it, or
    use it in an ``async with``.

    key       begins with pb_; None if the service asks for none
    timeout   seconds that one attempt may take
    patience  seconds that all attempts may take, with the pauses between them
    fallback  experiment: the arm that is shown while the service is unavailable
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
            base_url=calls.checked_url(url), headers=headers, transport=transport
        )
        self._limits = TimeLimits(timeout=timeout, patience=patience).checked()
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

    async def run(self, call: Call[Answer]) -> Answer:
        """Send the request until it is answered or the patience is at its end."""
        steps = attempts(call, self._limits)
        reply: Reply = None
        try:
            while True:
                step = steps.send(reply)
                reply = await self._carry_out(call, step)
        except StopIteration as end:
            answer: Answer = end.value
            return answer

    async def _carry_out(self, call: Call[Any], step: Attempt | Pause) -> Reply:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        try:
            return await self._http.request(
                call.method, call.path, json=call.body, params=call.query, timeout=step.timeout
            )
        except httpx.TransportError as error:
            return error

    async def stream(self, call: Call[None]) -> AsyncIterator[bytes]:
        """Yield the answer in pieces; after an interruption it is not requested again."""
        async with self._http.stream(call.method, call.path, params=call.query) as reply:
            if not reply.is_success:
                await reply.aread()
                raise error_of(reply)
            async for piece in reply.aiter_bytes():
                yield piece

    def open(self, experiment: str, fallback: str | None = None) -> AsyncRemoteExperiment:
        """The experiment of this name; nothing is sent to the service yet."""
        return AsyncRemoteExperiment(self, experiment, fallback or self._fallbacks.get(experiment))

    async def experiment(
        self, called: str, arms: Sequence[str], **settings: Any
    ) -> AsyncRemoteExperiment:
        """Create the experiment, or open it if it exists with the same settings."""
        await self.run(calls.create(called, arms, **settings))
        return self.open(called)

    async def experiments(self) -> list[AsyncRemoteExperiment]:
        return [self.open(name) for name in await self.run(calls.experiment_names())]

    async def evaluate_all(self, unit: str) -> dict[str, Evaluated]:
        """Arm of every experiment for the unit; it counts once the unit is exposed to it."""
        return await self.run(calls.evaluate_all(unit))

    async def track(
        self,
        unit: str,
        order: str | None = None,
        value: float = 1.0,
        at: When = None,
        *,
        goal: str | None = None,
    ) -> dict[str, Credited]:
        """Tell every experiment that the unit has paid; the outcomes by experiment."""
        return await self.run(calls.track(unit, order, value, at, goal))

    async def alias(self, unit: str, other: str) -> Joined:
        """Join two units that are one person, in every experiment."""
        return await self.run(calls.alias(unit, other))


class AsyncRemoteExperiment:
    """An experiment of the service, with the names of `patientbandits.live`."""

    def __init__(self, client: AsyncClient, name: str, fallback: str | None = None) -> None:
        self.client = client
        self.name = name
        self._fallback = Fallback(fallback)

    async def decide(self, unit: str | None = None, key: str | None = None) -> Decision:
        """Decide on an arm. Without a ``key`` one is made, so that the request can be repeated."""
        shown = self._fallback.resting()
        if shown is not None:
            return shown
        try:
            decision = await self.client.run(calls.decide(self.name, unit, key))
        except ServiceUnavailable:
            shown = self._fallback.failed()
            if shown is None:
                raise
            return shown
        self._fallback.answered()
        return decision

    async def evaluate(self, unit: str) -> Evaluated:
        """Arm and value for the unit, as OpenFeature evaluates a flag."""
        return await self.client.run(calls.evaluate(self.name, unit))

    async def expose(
        self,
        unit: str,
        arm: str,
        at: When = None,
        propensity: float | None = None,
        *,
        key: str | None = None,
    ) -> Exposed:
        """Report that the unit was shown ``arm``."""
        return await self.client.run(calls.expose(self.name, unit, arm, at, propensity, key))

    async def expose_many(self, exposures: Iterable[Mapping[str, Any]]) -> list[ItemOutcome]:
        """Many at once, each with the arguments of `expose`; errors are in the list."""
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
        return await self.client.run(calls.convert(self.name, **fields))

    async def convert_many(self, conversions: Iterable[Mapping[str, Any]]) -> list[ItemOutcome]:
        """Many at once, each with the arguments of `convert`; errors are in the list."""
        return await self._many("conversions", conversions)

    async def _many(self, kind: str, items: Iterable[Mapping[str, Any]]) -> list[ItemOutcome]:
        outcomes: list[ItemOutcome] = []
        for part in calls.split_batch(self.name, kind, items):
            answer = await self.client.run(part)
            outcomes += answer
        return outcomes

    async def retract(
        self,
        id: str | None = None,
        *,
        unit: str | None = None,
        order: str | None = None,
        goal: str | None = None,
    ) -> Retraction:
        """Take a conversion back."""
        fields = {"id": id, "unit": unit, "order": order, "goal": goal}
        return await self.client.run(calls.retract(self.name, **fields))

    async def change(self, **changes: Any) -> dict[str, Any]:
        """Change settings and return the new ones."""
        return await self.client.run(calls.change(self.name, **changes))

    async def settings(self) -> dict[str, Any]:
        """Settings as they are now."""
        return await self.client.run(calls.read_one(self.name))

    async def weights(self) -> dict[str, float]:
        """The share of traffic that each arm should get now."""
        return await self.client.run(calls.weights(self.name))

    async def report(self) -> dict[str, Any]:
        return await self.client.run(calls.read_one(self.name, "report"))

    async def verdict(self, by: str | None = None) -> dict[str, Any]:
        """Verdict by conversions or revenue; the service chooses unless ``by`` names one."""
        return await self.client.run(calls.read_one(self.name, "verdict", by=by))

    async def analysis(self, by: str | None = None) -> dict[str, Any]:
        """The verdict, windows and cohorts."""
        return await self.client.run(calls.read_one(self.name, "analysis", by=by))

    def export(self, format: str = "csv") -> AsyncIterator[bytes]:
        """Every decision with what became of it, in pieces of a CSV or Parquet file."""
        return self.client.stream(calls.export(self.name, format))

    async def timeseries(self, bucket: str | int = "auto") -> list[dict[str, Any]]:
        return await self.client.run(calls.timeseries(self.name, bucket))

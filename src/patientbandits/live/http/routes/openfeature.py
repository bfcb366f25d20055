"""OpenFeature's remote evaluation protocol: an experiment is a flag, a unit a targeting key.

Errors have OFREP's form here, not that of problem details. Asking for all flags at once promises an
arm in each experiment; a promise counts from when the unit is exposed, by asking for the one flag
or by telling the exposure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from patientbandits.live.commands import Command, Evaluated
from patientbandits.live.errors import NotFoundError, RefusedError, UnavailableError
from patientbandits.live.http.messages import Headers, ProblemError, Request, Response, encode
from patientbandits.live.http.router import RouteTable
from patientbandits.live.http.schemas import Text
from patientbandits.live.http.service import Service
from patientbandits.live.names import printable_text

OPENFEATURE = RouteTable()
route = OPENFEATURE.route

TARGETING_KEY = "targetingKey"
ErrorCode = Literal[
    "PARSE_ERROR", "TARGETING_KEY_MISSING", "INVALID_CONTEXT", "FLAG_NOT_FOUND", "GENERAL"
]
FlagReason = Literal["SPLIT", "STATIC", "DISABLED"]
"""chosen; everybody outside the experiment gets it; paused, or closed without a fallback arm"""


class EvaluationContext(Struct):
    targeting_key: Annotated[Text, Meta(description="the unit; the rest is not used")] = field(
        name="targetingKey"
    )


class EvaluationRequest(Struct):
    """As it is described; it is read more patiently, to say what is wrong in OFREP's words."""

    context: EvaluationContext


class FlagAnswer(Struct):
    key: str
    reason: FlagReason
    variant: str | UnsetType = UNSET
    value: Any = UNSET
    metadata: dict[str, bool | str | float] | UnsetType = UNSET


class FlagFailure(Struct):
    key: str | UnsetType = UNSET
    code: ErrorCode | UnsetType = field(name="errorCode", default=UNSET)
    details: str | UnsetType = field(name="errorDetails", default=UNSET)


class FlagsAnswer(Struct):
    flags: Annotated[
        list[Any], Meta(description="a FlagAnswer or a FlagFailure for each experiment")
    ]


class ContextError(RefusedError):
    """Something is wrong with whom the flag is evaluated for."""

    def __init__(self, code: ErrorCode, words: str) -> None:
        super().__init__(words)
        self.code = code


@route(
    "POST",
    "/ofrep/v1/evaluate/flags/{name}",
    scope="decide",
    operation="evaluate",
    summary="OpenFeature: evaluate one flag for a unit",
    body=EvaluationRequest,
    answers={200: FlagAnswer},
    failures=dict.fromkeys((400, 404, 503), FlagFailure),
)
async def post_flag(service: Service, request: Request) -> Response:
    """One flag: the unit sees it, so it is decided."""
    key = request.part
    try:
        unit = targeting_key(request)
        service.access.limits.take_unit(request, unit, key)
        handle = await service.experiment(key)
        evaluated = await service.writer.outcome(handle.evaluate_command(unit))
    except (RefusedError, ProblemError, UnavailableError, NotFoundError) as error:
        return failure_response(error, key)
    return Response(200, encode(flag_answer(key, evaluated)))


@route(
    "POST",
    "/ofrep/v1/evaluate/flags",
    scope="decide",
    several=True,
    operation="evaluate_all",
    summary="OpenFeature: evaluate the flags of all experiments for a unit",
    body=EvaluationRequest,
    answers={200: FlagsAnswer, 304: None},
    failures=dict.fromkeys((400, 503), FlagFailure),
    headers={"If-None-Match": {"type": "string"}},
)
async def post_flags(service: Service, request: Request) -> Response:
    """All flags: the unit may see them, so arms are promised."""
    try:
        unit = targeting_key(request)
        service.access.limits.take_unit(request, unit)
        handles = service.for_key(request, await service.aside(service.shop.experiments))
        service.access.limits.take_more(request.key, max(len(handles) - 1, 0))
        commands = [handle.evaluate_command(unit, provisional=True) for handle in handles]
        if commands:
            await service.writer.carry_out(commands)
        flags = [flag_item(command) for command in commands]
        require_any(commands)
    except (RefusedError, ProblemError, UnavailableError) as error:
        return failure_response(error)
    body = encode(FlagsAnswer(flags))
    tag = b'"%s"' % hashlib.blake2b(body, digest_size=16).hexdigest().encode()
    headers: Headers = ((b"etag", tag),)
    if is_current(tag, request.headers.get(b"if-none-match", b"")):
        return Response(304, b"", headers)
    return Response(200, body, headers)


def targeting_key(request: Request) -> str:
    context = read_object(request).get("context")
    if context is None:
        context = {}
    if not isinstance(context, dict):
        words = f"context must be an object; got {context!r:.100}."
        raise ContextError("INVALID_CONTEXT", words)
    unit = context.get(TARGETING_KEY)
    if unit is None or unit == "":
        raise ContextError("TARGETING_KEY_MISSING", "context: targetingKey must be given.")
    try:
        return printable_text("context: targetingKey", unit)
    except RefusedError as error:
        raise ContextError("INVALID_CONTEXT", str(error)) from None


def read_object(request: Request) -> dict[str, Any]:
    try:
        return request.read(dict[str, Any])
    except RefusedError as error:
        raise ContextError("INVALID_CONTEXT", str(error)) from None


def flag_answer(key: str, evaluated: Evaluated) -> FlagAnswer:
    if evaluated.arm is None:  # the Python client fails without a variant
        return FlagAnswer(key=key, reason="DISABLED", variant="")
    metadata: dict[str, bool | str | float] = {}
    if evaluated.outside is not None:
        metadata["outside"] = evaluated.outside
    elif evaluated.id is None:
        metadata["provisional"] = True
    else:
        metadata["decision"] = evaluated.id
    if evaluated.propensity is not None:
        metadata["propensity"] = evaluated.propensity
    reason: FlagReason = "SPLIT" if evaluated.outside is None else "STATIC"
    return FlagAnswer(
        key=key, reason=reason, variant=evaluated.arm, value=evaluated.value, metadata=metadata
    )


def flag_item(command: Command) -> FlagAnswer | FlagFailure:
    key = command.experiment.name
    if command.error is None:
        return flag_answer(key, command.outcome)
    return FlagFailure(key=key, code="GENERAL", details=str(command.error))


def require_any(commands: Sequence[Command]) -> None:
    """Raise if nothing could be answered, and why."""
    errors = [command.error for command in commands]
    away = [error for error in errors if isinstance(error, UnavailableError)]
    if away and len(away) == len(errors):
        raise away[0]


def failure_response(error: Exception, key: str | UnsetType = UNSET) -> Response:
    code: ErrorCode = "GENERAL"
    status = 400
    headers: Headers = getattr(error, "headers", ())
    if isinstance(error, ContextError):
        code = error.code
    elif isinstance(error, NotFoundError):
        code = "FLAG_NOT_FOUND"
        status = 404
    elif getattr(error, "status", 0) == 429:
        raise error  # as for every route: the protocol has no form for it
    elif getattr(error, "status", 0) == 503:
        status = 503
        headers = headers or ((b"retry-after", b"1"),)
    elif isinstance(error, ProblemError):
        code = "PARSE_ERROR"
    body = encode(FlagFailure(key=key, code=code, details=str(error)))
    return Response(status, body, headers)


def is_current(tag: bytes, tags_of_client: bytes) -> bool:
    """Tell whether the client has this answer, by its header If-None-Match."""
    tags = [one.strip().removeprefix(b"W/") for one in tags_of_client.split(b",")]
    return tag in tags or b"*" in tags

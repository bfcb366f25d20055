"""What comes back: these types encode it, and describe it in /openapi.json."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from patientbandits.live.http.answers import ExperimentAnswer, KeyAnswer


class DecisionAnswer(Struct):
    id: Annotated[str | None, Meta(description="null: the unit is outside the experiment")]
    arm: str
    propensity: float | None
    duplicate: bool
    outside: (
        Annotated[str, Meta(description="why the fallback arm: closed, holdback or quarantine")]
        | UnsetType
    ) = UNSET


class ExposureAnswer(Struct):
    id: Annotated[str, Meta(description="conversions may name it, as a decision's")]
    duplicate: bool


class WeightsAnswer(Struct):
    experiment: str
    time: str
    weights: Annotated[dict[str, float], Meta(description="the share of each arm; they sum to 1")]


class ConversionAnswer(Struct):
    duplicate: bool
    counted: bool
    exposed: (
        Annotated[bool, Meta(description="of a unit: whether anything was ever decided for it")]
        | UnsetType
    ) = UNSET


class TrackAnswer(Struct):
    experiments: Annotated[
        dict[str, ConversionAnswer], Meta(description="what became of it in each experiment")
    ]
    credited: Annotated[int, Meta(description="in how many it counts")]
    unknown: Annotated[bool, Meta(description="whether no experiment knows the unit")]


class AliasAnswer(Struct):
    duplicate: bool


class ErasureAnswer(Struct):
    experiments: Annotated[int, Meta(description="in how many the unit was known")]
    lines: Annotated[int, Meta(description="of the log that named it, and do so no more")]


class RetractionAnswer(Struct):
    duplicate: bool


class ItemAnswer(Struct, omit_defaults=True):
    status: int
    duplicate: bool | None = None
    counted: bool | None = None
    exposed: bool | None = None
    id: str | None = None
    kind: str | None = None
    detail: str | None = None


class ItemAnswers(Struct):
    results: list[ItemAnswer]


class ExperimentsAnswer(Struct):
    experiments: list[ExperimentAnswer]


class NewKeyAnswer(Struct):
    id: str
    key: str
    """cannot be read again"""


class KeysAnswer(Struct):
    keys: list[KeyAnswer]


class ScopesAnswer(Struct):
    scopes: list[str]


class Health(Struct):
    status: str


class Alive(Struct):
    status: str
    keys: Annotated[bool, Meta(description="whether requests need a key")]


class ProblemAnswer(Struct):
    type: str
    title: str
    status: int
    kind: str
    detail: str


class Count(Struct):
    time: str
    arm: str
    pulls: int
    conversions: int
    value: float


class CountsAnswer(Struct):
    counts: list[Count]


# as the clients made from /openapi.json know them
ProblemAnswer.__name__ = "Problem"
CountsAnswer.__name__ = "Counts"

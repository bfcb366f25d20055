"""What is sent and what comes back: these types decode, and describe both in /openapi.json."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from patientbandits.live.answers import ExperimentAnswer, KeyAnswer
from patientbandits.live.names import LONGEST_TEXT, NAME
from patientbandits.live.scopes import KeyScope
from patientbandits.live.settings import LONGEST_WINDOW, MOST_ARMS

LARGEST_BATCH = 1000
PRINTABLE = r"^[^\u0000-\u001f\u007f-\u009f]*$"

Text = Annotated[
    str, Meta(min_length=1, max_length=LONGEST_TEXT, extra_json_schema={"pattern": PRINTABLE})
]
Name = Annotated[str, Meta(extra_json_schema={"pattern": f"^{NAME.pattern}$"})]
Arms = Annotated[
    list[Text], Meta(min_length=1, max_length=MOST_ARMS, extra_json_schema={"uniqueItems": True})
]
Window = Annotated[
    float,
    Meta(
        gt=0, le=LONGEST_WINDOW, description="seconds; later conversions are kept but not counted"
    ),
]
PolicyText = str | dict[str, Any]


class In(Struct, forbid_unknown_fields=True):
    """What clients send: a field that is not known is refused, not ignored."""


class NewExperiment(In):
    name: Name
    arms: Arms
    policy: (
        Annotated[
            PolicyText,
            Meta(description="a policy's name, or {'policy': name, parameter: value, ...}"),
        ]
        | None
    ) = None
    window: Window | None = None
    sticky: bool = False
    scale: Annotated[
        float, Meta(gt=1e-300, lt=1e300, description="the largest value a conversion can have")
    ] = 1.0
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None


class Change(In):
    policy: PolicyText | UnsetType = UNSET
    window: Window | UnsetType | None = UNSET
    sticky: bool | UnsetType = UNSET
    paused: bool | UnsetType = UNSET
    add_arms: Arms | UnsetType = UNSET
    retire: Annotated[Arms, Meta(description="arms to choose no more")] | UnsetType = UNSET
    restore: Annotated[Arms, Meta(description="retired arms to choose again")] | UnsetType = UNSET


class NewDecision(In):
    unit: Annotated[Text, Meta(description="whom the decision is for")] | None = None
    key: (
        Annotated[
            Text, Meta(description="makes repeating safe; or send the header Idempotency-Key")
        ]
        | None
    ) = None


class NewConversion(In):
    id: Annotated[str, Meta(description="the decision's id")]
    value: Annotated[float, Meta(ge=0)] = 1.0
    at: (
        Annotated[
            float | str,
            Meta(description="when it happened: seconds since 1970, or ISO 8601 with a zone"),
        ]
        | None
    ) = None


class NewConversions(In):
    conversions: Annotated[
        list[msgspec.Raw],
        Meta(max_length=LARGEST_BATCH, description="each a NewConversion, and answered on its own"),
    ]


class NewRetraction(In):
    id: Annotated[str, Meta(description="the decision's id")]


class NewKey(In):
    scopes: Annotated[list[KeyScope], Meta(min_length=1, max_length=4)]
    note: Annotated[
        str, Meta(max_length=LONGEST_TEXT, extra_json_schema={"pattern": PRINTABLE})
    ] = ""


class DecisionAnswer(Struct):
    id: str
    arm: str
    propensity: float | None
    duplicate: bool


class ConversionAnswer(Struct):
    duplicate: bool
    counted: bool


class RetractionAnswer(Struct):
    duplicate: bool


class ItemAnswer(Struct, omit_defaults=True):
    status: int
    duplicate: bool | None = None
    counted: bool | None = None
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

"""Bodies of requests and answers: these types decode and encode them, and describe them in
/openapi.json."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from patientbandits.live.experiment import ExperimentHandle
from patientbandits.live.names import LONGEST_TEXT, NAME, SCOPES, KeyScope
from patientbandits.live.operations import Key
from patientbandits.live.settings import (
    LONGEST_LAG,
    LONGEST_RETENTION,
    LONGEST_WINDOW,
    MOST_ARMS,
    MOST_GOALS,
    CreditRule,
    Settings,
    Shares,
)
from patientbandits.live.times import iso_text

MOST_OF_KEY = 20
"""experiments that a key is for"""

LARGEST_BATCH = 1000
PRINTABLE = r"^[^\u0000-\u001f\u007f-\u009f]*$"

Text = Annotated[
    str, Meta(min_length=1, max_length=LONGEST_TEXT, extra_json_schema={"pattern": PRINTABLE})
]
Name = Annotated[str, Meta(extra_json_schema={"pattern": f"^{NAME.pattern}$"})]
Arms = Annotated[
    list[Text], Meta(min_length=1, max_length=MOST_ARMS, extra_json_schema={"uniqueItems": True})
]
Goals = Annotated[
    list[Text],
    Meta(
        max_length=MOST_GOALS,
        description="the first goal drives decisions, the others are only counted",
        extra_json_schema={"uniqueItems": True},
    ),
]
Seconds = Annotated[float, Meta(gt=0, le=LONGEST_WINDOW)]
Length = Annotated[str, Meta(extra_json_schema={"pattern": r"^[1-9][0-9]{0,2}(s|min|h|d|w)$"})]
Window = Annotated[
    Seconds | Length,
    Meta(description="30d, 12h or seconds; later conversions are kept but not counted"),
]
Retention = Annotated[
    Annotated[float, Meta(gt=0, le=LONGEST_RETENTION)] | Length,
    Meta(description="400d or seconds: how long names are kept after a person was last heard of"),
]
Lag = Annotated[
    Annotated[float, Meta(gt=0, le=LONGEST_LAG)] | Length,
    Meta(description="27h or seconds: how late orders may be reported, as by a nightly import"),
]
Value = Annotated[
    float, Meta(gt=1e-300, lt=1e300, description="the largest value a conversion can have")
]
OrderCredit = Annotated[
    CreditRule, Meta(description="which of a unit's decisions an order is credited to")
]
KeptShares = Annotated[Shares, Meta(description="shares that arms get whatever the policy chooses")]
FallbackArm = Annotated[Text, Meta(description="the arm for units outside the experiment")]
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
    sticky: bool = True
    largest_value: Value | None = None
    scale: Annotated[Value, Meta(description="an older name of largest_value")] | None = None
    credit: OrderCredit = "first"
    control: Annotated[Text, Meta(description="the arm that others are compared with")] | None = (
        None
    )
    currency: Text | None = None
    owner: Text | None = None
    about: Text | None = None
    goals: Goals = []
    retention: Retention | None = None
    reporting_lag: Lag | None = None
    shares: KeptShares | None = None
    fallback: FallbackArm | None = None
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None


class Change(In):
    policy: PolicyText | UnsetType = UNSET
    window: Window | UnsetType | None = UNSET
    sticky: bool | UnsetType = UNSET
    paused: bool | UnsetType = UNSET
    credit: OrderCredit | UnsetType = UNSET
    control: Text | UnsetType | None = UNSET
    currency: Text | UnsetType | None = UNSET
    owner: Text | UnsetType | None = UNSET
    about: Text | UnsetType | None = UNSET
    retention: Retention | UnsetType | None = UNSET
    reporting_lag: Lag | UnsetType | None = UNSET
    shares: KeptShares | UnsetType | None = UNSET
    closed: Annotated[bool, Meta(description="take no new units")] | UnsetType = UNSET
    fallback: FallbackArm | UnsetType | None = UNSET
    add_arms: Arms | UnsetType = UNSET
    add_goals: Goals | UnsetType = UNSET
    retire: Annotated[Arms, Meta(description="arms no longer to choose")] | UnsetType = UNSET
    restore: Annotated[Arms, Meta(description="retired arms to choose again")] | UnsetType = UNSET


class NewDecision(In):
    unit: Annotated[Text, Meta(description="the unit to decide for")] | None = None
    key: (
        Annotated[
            Text, Meta(description="makes repeating safe; or send the header Idempotency-Key")
        ]
        | None
    ) = None


Moment = Annotated[
    float | str,
    Meta(description="when it happened: seconds since 1970, or ISO 8601 with a zone"),
]
DecisionName = Annotated[str, Meta(description="the decision's id")]
UnitName = Annotated[Text, Meta(description="the unit that paid, instead of the decision's id")]
OrderName = Annotated[
    Text, Meta(description="the id of the order; several orders of a unit add up")
]
GoalName = Annotated[
    Text,
    Meta(description="one of the experiment's goals, if not the one that drives decisions"),
]


class NewExposure(In):
    unit: Annotated[Text, Meta(description="the unit that was shown the arm")]
    arm: Annotated[Text, Meta(description="one of the experiment's arms")]
    at: Moment | None = None
    propensity: (
        Annotated[float, Meta(gt=0, le=1, description="the probability of showing this arm")] | None
    ) = None
    key: Annotated[Text, Meta(description="makes repeating safe")] | None = None


class NewExposures(In):
    exposures: Annotated[
        list[msgspec.Raw],
        Meta(max_length=LARGEST_BATCH, description="each a NewExposure, answered individually"),
    ]


class NewConversion(In):
    id: DecisionName | None = None
    value: Annotated[float, Meta(description="below 0: a refund of the order")] = 1.0
    at: Moment | None = None
    unit: UnitName | None = None
    order: OrderName | None = None
    goal: GoalName | None = None


class NewEvent(In):
    """What a unit did, for every experiment. OpenFeature has other names for unit, order, goal."""

    unit: Annotated[Text, Meta(description="the unit that paid")] | None = None
    order: OrderName | None = None
    value: Annotated[float, Meta(description="below 0: a refund of the order")] = 1.0
    at: Moment | None = None
    goal: GoalName | None = None
    targeting_key: Annotated[Text, Meta(description="the unit")] | None = msgspec.field(
        name="targetingKey", default=None
    )
    id: Annotated[Text, Meta(description="the order")] | None = None
    event: Annotated[Text, Meta(description="the goal")] | None = None


class NewAlias(In):
    unit: Text
    other: Annotated[Text, Meta(description="another name of the same person")]


class NewErasure(In):
    unit: Annotated[Text, Meta(description="the unit whose names are removed, in every experiment")]


class NewConversions(In):
    conversions: Annotated[
        list[msgspec.Raw],
        Meta(max_length=LARGEST_BATCH, description="each a NewConversion, answered individually"),
    ]


class NewRetraction(In):
    id: DecisionName | None = None
    unit: UnitName | None = None
    order: OrderName | None = None
    goal: GoalName | None = None


class NewKey(In):
    scopes: Annotated[list[KeyScope], Meta(min_length=1, max_length=len(SCOPES))]
    note: Annotated[
        str, Meta(max_length=LONGEST_TEXT, extra_json_schema={"pattern": PRINTABLE})
    ] = ""
    experiments: Annotated[
        list[Name], Meta(max_length=MOST_OF_KEY, description="for these only; all by default")
    ] = []


class ExperimentAnswer(Struct):
    name: str
    created: str
    arms: list[str]
    retired: list[str]
    policy: dict[str, Any]
    window: float | None
    sticky: bool
    paused: bool
    scale: float
    largest_value: float
    """the same as scale"""
    credit: str
    control: str | None
    owner: str | None
    about: str | None
    currency: str | None
    goals: list[str]
    """the first decides"""
    retention: float | None
    """seconds"""
    reporting_lag: float | None
    """seconds"""
    window_text: str | None
    """the window as people write it"""
    shares: Shares | None
    """shares that arms get whatever the policy chooses"""
    closed: bool
    """no new units"""
    fallback: str | None
    """the arm for units outside the experiment"""


class KeyAnswer(Struct):
    id: str
    scopes: list[str]
    note: str
    created: str
    revoked: str | None
    experiments: list[str]
    """that it is for; empty: all"""


class DecisionAnswer(Struct):
    id: Annotated[str | None, Meta(description="null: the unit is outside the experiment")]
    arm: str
    propensity: float | None
    duplicate: bool
    outside: (
        Annotated[
            str, Meta(description="the reason for the fallback arm: closed, holdback or quarantine")
        ]
        | UnsetType
    ) = UNSET


class ExposureAnswer(Struct):
    id: Annotated[str, Meta(description="conversions may refer to it, as to a decision's id")]
    duplicate: bool


class WeightsAnswer(Struct):
    experiment: str
    time: str
    weights: Annotated[dict[str, float], Meta(description="the share of each arm; they sum to 1")]


class ConversionAnswer(Struct):
    duplicate: bool
    counted: bool
    exposed: (
        Annotated[bool, Meta(description="for a unit: whether it has ever had a decision")]
        | UnsetType
    ) = UNSET


class TrackAnswer(Struct):
    experiments: Annotated[
        dict[str, ConversionAnswer], Meta(description="the outcome in each experiment")
    ]
    credited: Annotated[int, Meta(description="the number of experiments in which it counts")]
    unknown: Annotated[bool, Meta(description="whether no experiment knows the unit")]


class AliasAnswer(Struct):
    duplicate: bool


class ErasureAnswer(Struct):
    experiments: Annotated[int, Meta(description="the number of experiments that knew the unit")]
    lines: Annotated[
        int, Meta(description="the number of lines of the log from which its name was removed")
    ]


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
    experiments: list[str] = []
    """that the key is for; empty: all"""


class Health(Struct):
    status: str


class Alive(Struct):
    status: str
    keys: Annotated[bool, Meta(description="whether requests need a key")]


class Problem(Struct):
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


class ChangesAnswer(Struct):
    changes: Annotated[
        list[dict[str, Any]],
        Meta(description="latest first: line, time, by (the id of a key), note, changed"),
    ]


class Counts(Struct):
    counts: list[Count]


def experiment_answer(
    handle: ExperimentHandle, settings: Settings | None = None
) -> ExperimentAnswer:
    """``settings``: if they are known already."""
    have = settings or handle.settings
    return ExperimentAnswer(
        name=handle.name,
        created=iso_text(handle.experiment.created),
        arms=list(have.arms),
        retired=list(have.retired),
        policy=have.description,
        window=have.window,
        sticky=have.sticky,
        paused=have.paused,
        scale=have.scale,
        largest_value=have.scale,
        credit=have.credit,
        control=have.control,
        currency=have.currency,
        owner=have.owner,
        about=have.about,
        goals=list(have.goals),
        retention=have.retention,
        reporting_lag=have.reporting_lag,
        window_text=have.window_text,
        shares=have.shares,
        closed=have.closed,
        fallback=have.fallback,
    )


def key_answer(key: Key) -> KeyAnswer:
    return KeyAnswer(
        id=key.id,
        scopes=sorted(key.scopes),
        note=key.note,
        created=iso_text(key.created),
        revoked=None if key.revoked is None else iso_text(key.revoked),
        experiments=sorted(key.experiments),
    )

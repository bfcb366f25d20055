"""What is sent: these types decode it, and describe it in /openapi.json."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from patientbandits.live.names import LONGEST_TEXT, NAME, KeyScope
from patientbandits.live.settings import (
    LONGEST_RETENTION,
    LONGEST_WINDOW,
    MOST_ARMS,
    MOST_GOALS,
    CreditRule,
    Shares,
)

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
        description="what conversions can reach: the first decides, others are reported beside it",
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
Value = Annotated[
    float, Meta(gt=1e-300, lt=1e300, description="the largest value a conversion can have")
]
OrderCredit = Annotated[
    CreditRule, Meta(description="which of a unit's decisions an order pays for")
]
KeptShares = Annotated[Shares, Meta(description="what arms get whatever the policy chooses")]
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
    goals: Goals = []
    retention: Retention | None = None
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
    retention: Retention | UnsetType | None = UNSET
    shares: KeptShares | UnsetType | None = UNSET
    closed: Annotated[bool, Meta(description="take no new units")] | UnsetType = UNSET
    fallback: FallbackArm | UnsetType | None = UNSET
    add_arms: Arms | UnsetType = UNSET
    add_goals: Goals | UnsetType = UNSET
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


Moment = Annotated[
    float | str,
    Meta(description="when it happened: seconds since 1970, or ISO 8601 with a zone"),
]
DecisionName = Annotated[str, Meta(description="the decision's id")]
UnitName = Annotated[Text, Meta(description="who paid, instead of the decision's id")]
OrderName = Annotated[Text, Meta(description="what for: several orders of a unit add up")]
GoalName = Annotated[
    Text,
    Meta(description="one of the experiment's, if not the one that decides"),
]


class NewExposure(In):
    unit: Annotated[Text, Meta(description="who was shown the arm")]
    arm: Annotated[Text, Meta(description="one of the experiment's")]
    at: Moment | None = None
    propensity: (
        Annotated[float, Meta(gt=0, le=1, description="the probability of showing this arm")] | None
    ) = None
    key: Annotated[Text, Meta(description="makes repeating safe")] | None = None


class NewExposures(In):
    exposures: Annotated[
        list[msgspec.Raw],
        Meta(max_length=LARGEST_BATCH, description="each a NewExposure, and answered on its own"),
    ]


class NewConversion(In):
    id: DecisionName | None = None
    value: Annotated[float, Meta(ge=0)] = 1.0
    at: Moment | None = None
    unit: UnitName | None = None
    order: OrderName | None = None
    goal: GoalName | None = None


class NewEvent(In):
    """What a unit did, for every experiment. OpenFeature has other names for unit, order, goal."""

    unit: Annotated[Text, Meta(description="who paid")] | None = None
    order: OrderName | None = None
    value: Annotated[float, Meta(ge=0)] = 1.0
    at: Moment | None = None
    goal: GoalName | None = None
    targeting_key: Annotated[Text, Meta(description="the unit")] | None = msgspec.field(
        name="targetingKey", default=None
    )
    id: Annotated[Text, Meta(description="the order")] | None = None
    event: Annotated[Text, Meta(description="the goal")] | None = None


class NewAlias(In):
    unit: Text
    other: Annotated[Text, Meta(description="the same person by another name")]


class NewErasure(In):
    unit: Annotated[Text, Meta(description="whose names are removed, in every experiment")]


class NewConversions(In):
    conversions: Annotated[
        list[msgspec.Raw],
        Meta(max_length=LARGEST_BATCH, description="each a NewConversion, and answered on its own"),
    ]


class NewRetraction(In):
    id: DecisionName | None = None
    unit: UnitName | None = None
    order: OrderName | None = None
    goal: GoalName | None = None


class NewKey(In):
    scopes: Annotated[list[KeyScope], Meta(min_length=1, max_length=4)]
    note: Annotated[
        str, Meta(max_length=LONGEST_TEXT, extra_json_schema={"pattern": PRINTABLE})
    ] = ""

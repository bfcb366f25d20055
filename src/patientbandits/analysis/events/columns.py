"""Finding columns: by usual names, by a preset, or by the names that the user gives.

A role is what a column is for. Names are compared without case, blanks and signs, so that
"Visitor ID" equals visitor_id.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from patientbandits.errors import InputError, choice

EXPOSURES = "exposures"
ORDERS = "orders"

Names = Mapping[str, tuple[str, ...]]
"""role -> names in the order of preference"""


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


UNIT_NAMES = words(
    "unit unit_id visitor_id visitor user_id user anonymous_id customer_id customer "
    "client_id account_id user_pseudo_id device_id amplitude_id fullvisitorid session_id "
    "distinct_id context_key id"
)
TIME_NAMES = words(
    "time timestamp ts datetime date_time event_time event_timestamp occurred_at created_at "
    "sent_at received_at at date event_date day"
)
USUAL_EXPOSURES: Names = {
    "unit": UNIT_NAMES,
    "time": ("exposed_at", "exposure_time", "first_exposure", "viewed_at", "seen_at", *TIME_NAMES),
    "variant": words(
        "variant variation variant_id variation_id variant_name variation_name arm group "
        "treatment bucket test_group experiment_group exp_variant"
    ),
    "experiment": words(
        "experiment experiment_id experiment_name experiment_key test test_id flag_key flag feature"
    ),
}
USUAL_ORDERS: Names = {
    "unit": UNIT_NAMES,
    "time": words(
        "ordered_at order_time order_date purchased_at purchase_time converted_at "
        "conversion_time paid_at"
    )
    + TIME_NAMES,
    "value": words(
        "value amount revenue total order_value order_total total_price price "
        "purchase_revenue event_value sales"
    ),
    "order": words(
        "order order_id order_number transaction_id transaction purchase_id invoice_id "
        "insert_id message_id event_id uuid"
    ),
    "refund": words("amount_refunded refunded_amount refund_amount total_refunded"),
    "currency": ("currency", "currency_code"),
    "goal": ("goal", "goal_name"),
}
MOST_LISTED = 20
NEEDED = {EXPOSURES: ("unit", "time", "variant"), ORDERS: ("unit", "time")}


@dataclass(frozen=True)
class Preset:
    """How a product names its columns, and its events where one table holds them all."""

    exposures: Names = field(default_factory=dict)
    orders: Names = field(default_factory=dict)
    event: tuple[str, ...] = ()
    """names of the column that tells events apart"""
    exposure_events: tuple[str, ...] = ()
    order_events: tuple[str, ...] = ()
    wide: bool = False
    """one table: every row is an exposure, with its order if there was one"""
    where: tuple[str, ...] = ()
    """filters of rows, for the columns that are there"""
    whole_is_minor: bool = False
    """amounts are in minor units if none of them has a decimal mark"""


VIEWED = ("experiment viewed", "experiment_viewed", "viewed_experiment")
BOUGHT = ("order completed", "order_completed", "purchase")

EVENT_PRESETS = {
    "growthbook": Preset(
        exposures={
            "unit": ("user_id", "anonymous_id", "device_id"),
            "time": ("timestamp",),
            "variant": ("variation_id", "variation_name"),
            "experiment": ("experiment_id", "experiment_name"),
        },
        orders={"unit": ("user_id", "anonymous_id", "device_id"), "time": ("timestamp",)},
    ),
    "segment": Preset(
        exposures={
            "unit": ("anonymous_id", "user_id"),
            "time": ("timestamp", "original_timestamp", "sent_at"),
            "variant": ("variation_id", "variant_id", "variation_name"),
            "experiment": ("experiment_id", "experiment_name"),
        },
        orders={
            "unit": ("anonymous_id", "user_id"),
            "time": ("timestamp", "original_timestamp", "sent_at"),
            "value": ("revenue", "total", "value"),
            "order": ("order_id", "message_id", "id"),
        },
        event=("event", "event_name", "event_text"),
        exposure_events=VIEWED,
        order_events=BOUGHT,
    ),
    "ga4": Preset(
        exposures={
            "unit": ("user_pseudo_id", "user_id"),
            "time": ("event_timestamp", "event_date"),
            "variant": ("variation_id", "variant_id", "exp_variant_string"),
            "experiment": ("experiment_id",),
        },
        orders={
            "unit": ("user_pseudo_id", "user_id"),
            "time": ("event_timestamp", "event_date"),
            "value": ("purchase_revenue", "event_value", "value", "event_value_in_usd"),
            "order": ("transaction_id",),
        },
        event=("event_name",),
        exposure_events=(*VIEWED, "experiment_impression", "experience_impression"),
        order_events=BOUGHT,
    ),
    "amplitude": Preset(
        exposures={
            "unit": ("user_id", "amplitude_id", "device_id"),
            "time": ("event_time", "client_event_time", "time"),
            "variant": ("variant", "e_variant", "experiment_variant"),
            "experiment": ("flag_key", "e_flag_key", "experiment_flag_key"),
        },
        orders={
            "unit": ("user_id", "amplitude_id", "device_id"),
            "time": ("event_time", "client_event_time", "time"),
            "value": ("revenue", "revenue_amount", "e_revenue"),
            "order": ("insert_id", "uuid"),
        },
        event=("event_type",),
        exposure_events=("$exposure", "[experiment] exposure", *VIEWED),
        order_events=("revenue_amount", *BOUGHT),
    ),
    "stripe": Preset(
        orders={
            "unit": words(
                "metadata_visitor_id metadata_user_id visitor_id_metadata user_id_metadata "
                "client_reference_id customer customer_id customer_email"
            ),
            "time": ("created", "created_utc", "created_date_utc"),
            "value": ("amount",),
            "refund": ("amount_refunded",),
            "order": ("id",),
        },
        where=(
            "orders.status!=failed,blocked,canceled,cancelled,incomplete,pending,uncaptured",
            "orders.captured!=false",
        ),
        whole_is_minor=True,
    ),
    "wide": Preset(
        orders={
            "time": words(
                "order_time ordered_at order_date purchased_at purchase_time converted_at "
                "conversion_time conversion_date"
            ),
        },
        wide=True,
    ),
}


def preset_named(owner: str, name: str | None) -> Preset:
    """The preset with this name; for None one without any names of its own."""
    if name is None:
        return Preset()
    return EVENT_PRESETS[choice(owner, "preset", name, EVENT_PRESETS)]


def folded(name: str) -> str:
    """A name without case, blanks and signs."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def listed_columns(names: Sequence[str]) -> str:
    """Names for an error: the first ones, if there are many."""
    listed = ", ".join(names[:MOST_LISTED])
    if len(names) > MOST_LISTED:
        return f"{listed} and {len(names) - MOST_LISTED} more"
    return listed


def find_columns(
    table: str, kind: str, present: Sequence[str], names: Names, named: Mapping[str, str]
) -> dict[str, str]:
    """role -> column of the ``table``, for every role that has one; a needed one must have one."""
    by_name = {folded(column): column for column in reversed(present)}
    columns = {}
    for role, usual in names.items():
        if role in named:
            columns[role] = named[role]
            continue
        matches = [by_name[folded(name)] for name in usual if folded(name) in by_name]
        if matches:
            columns[role] = matches[0]
    for role in NEEDED[kind]:
        if role not in columns:
            raise InputError(
                f"{table}: a column for {role} is needed, such as {', '.join(names[role][:4])}; "
                f"got columns {listed_columns(present)}. Name it with columns {role}=NAME."
            )
    return columns


def names_for(preset: Preset, kind: str) -> dict[str, tuple[str, ...]]:
    """The preset's names before the usual ones, role by role."""
    own, usual = preset.exposures, USUAL_EXPOSURES
    if kind == ORDERS:
        own, usual = preset.orders, USUAL_ORDERS
    return {role: (*own.get(role, ()), *names) for role, names in usual.items()}


def named_columns(
    owner: str, names: Mapping[str, str], kind: str, present: Sequence[str]
) -> dict[str, str]:
    """Columns that the user names for this table.

    ``role=NAME`` is for both tables, ``exposures.role=NAME`` or ``orders.role=NAME`` for one.
    """
    roles = USUAL_EXPOSURES if kind == EXPOSURES else USUAL_ORDERS
    columns = {}
    for key, column in names.items():
        table, _, role = key.rpartition(".")
        if table not in ("", kind) or (role not in roles and table == ""):
            continue
        choice(owner, "role of a column", role, roles)
        if column in present:
            columns[role] = column
        elif table == kind:
            choice(f"{owner}: {kind}", f"column for {role}", column, present)
    return columns


def check_columns(
    owner: str, names: Mapping[str, str], tables: Mapping[str, Sequence[str]]
) -> None:
    """Refuse roles that are none, and columns that no table has."""
    roles = sorted({*USUAL_EXPOSURES, *USUAL_ORDERS})
    everywhere = [column for columns in tables.values() for column in columns]
    for key, column in names.items():
        table, _, role = key.rpartition(".")
        choice(owner, "role of a column", role, roles)
        if table:
            choice(owner, "table of a column", table, (EXPOSURES, ORDERS))
        choice(owner, f"column for {role}", column, everywhere)


def shared_first(
    names: Sequence[str], exposed: Sequence[str], ordered: Sequence[str]
) -> tuple[str, ...]:
    """Names of units that both tables have before the others.

    Otherwise visitors of one table could be looked up as users in the other.
    """
    both = {folded(name) for name in exposed} & {folded(name) for name in ordered}
    return tuple(sorted(names, key=lambda name: folded(name) not in both))


def event_column(preset: Preset, present: Sequence[str]) -> str:
    """The column with the names of events, or nothing."""
    by_name = {folded(column): column for column in present}
    return next((by_name[folded(name)] for name in preset.event if folded(name) in by_name), "")

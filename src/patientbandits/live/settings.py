"""An experiment's settings: what a change in its log holds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from patientbandits.live.crediting import CREDIT_RULES, Crediting
from patientbandits.live.errors import ConflictError, RefusedError
from patientbandits.live.names import printable_text
from patientbandits.live.policy_rules import require_fit_policy, told_as_refusal
from patientbandits.live.quarantine import QuarantineRules
from patientbandits.live.shares import NOTHING_KEPT, Shares, check_shares, given_shares
from patientbandits.live.times import SECOND, length_text, parsed_length
from patientbandits.policies import PatientThompson, Policy
from patientbandits.policies.patient_thompson import IGNORED
from patientbandits.registry import policy_from

MOST_ARMS = 1000
MOST_GOALS = 20
LONGEST_WINDOW = 10 * 366 * 86400.0
"""seconds"""

LONGEST_RETENTION = 100 * 366 * 86400.0
"""seconds"""


OPTIONAL = {"credit", "control", "currency", "goals", "retention", "shares", "fallback"}
"""settings that have a default"""


def default_policy() -> PatientThompson:
    """What decides unless another policy is asked for."""
    return PatientThompson()


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``arms`` holds every arm there ever was: each is known by its place and never leaves."""

    arms: tuple[str, ...]
    description: dict[str, Any] = msgspec.field(name="policy")
    """the policy as plain data"""
    retired: tuple[str, ...] = ()
    window: float | None = None
    """seconds; conversions later than this after their decision are kept but not counted"""
    sticky: bool = False
    """the same unit gets the same decision"""
    paused: bool = False
    scale: float = 1.0
    """the largest value a conversion can have"""
    credit: str = "first"
    """which of a person's decisions within the window an order pays for: first, last or every"""
    control: str | None = None
    """the arm that others are compared with"""
    currency: str | None = None
    """what values are counted in, for people"""
    goals: tuple[str, ...] = ()
    """what conversions can reach: the first decides, the others are kept and reported beside it"""
    retention: float | None = None
    """seconds after which nothing names a person who was not heard of since"""
    imported: int = 0
    """decisions that were imported so far: the policy was told of them, and did not make them"""
    shares: Shares | None = None
    """what arms get whatever the policy chooses"""
    closed: bool = False
    """no new units: known ones keep their arm, others get the fallback"""
    fallback: str | None = None
    """the arm for units outside the experiment; the control unless it is said"""
    quarantine: QuarantineRules = ()
    """what does not count"""

    @property
    def crediting(self) -> Crediting:
        window = None if self.window is None else int(self.window * SECOND)
        return Crediting(self.credit, window)

    @property
    def active(self) -> tuple[int, ...]:
        """Places of the arms that can be chosen."""
        return tuple(place for place, arm in enumerate(self.arms) if arm not in self.retired)

    @property
    def kept(self) -> Shares:
        """The shares; none, if none are kept."""
        return self.shares or NOTHING_KEPT

    @property
    def chosen(self) -> tuple[int, ...]:
        """Places of the arms that the policy chooses among: not a control of a fixed share."""
        if self.kept.control is None:
            return self.active
        return tuple(place for place in self.active if self.arms[place] != self.control)

    @property
    def takes_everyone(self) -> bool:
        """Whether no unit is kept outside."""
        return not (self.closed or self.quarantine or self.kept.holdback)

    @property
    def unit_rules(self) -> QuarantineRules:
        """Those that keep a unit outside."""
        return tuple(rule for rule in self.quarantine if rule.keeps_out)

    @property
    def outside_arm(self) -> str | None:
        """What units outside the experiment get."""
        return self.fallback or self.control

    @property
    def policy(self) -> Policy:
        """Without the parameters that earlier versions wrote and nobody needs any more."""
        needed = self.description
        if needed.get("policy") == "PatientThompson":
            needed = {name: value for name, value in needed.items() if name not in IGNORED}
        return policy_from(needed, "experiment")

    @property
    def deciding_policy(self) -> Policy:
        """The policy; one that has a window and was given none takes the experiment's."""
        policy = self.policy
        if isinstance(policy, PatientThompson) and policy.window is None:
            return replace(policy, window=self.window)
        return policy

    def counts(self, delay: int) -> bool:
        """Whether a conversion this many microseconds after its decision counts."""
        return self.window is None or delay <= self.window * SECOND

    @property
    def window_text(self) -> str | None:
        """The window as people write it: 30d."""
        return None if self.window is None else length_text(self.window)

    def decides_like(self, other: Settings) -> bool:
        """Whether the policy's memory is the same under both."""
        return (
            self.description == other.description
            and self.active == other.active
            and self.window == other.window
            and self.imported == other.imported
            and self.kept == other.kept
            and self.chosen == other.chosen
            and self.quarantine == other.quarantine
        )

    def changed(self, **changes: Any) -> Settings:
        """With ``changes``; ``arms`` and ``retired`` are whole lists; arms may only be added."""
        new = checked_settings(msgspec.structs.replace(self, **changes))
        if new.arms[: len(self.arms)] != self.arms:
            raise ConflictError(
                "experiment: arms can be added or retired, not renamed or removed; "
                f"got {list(new.arms)!r}."
            )
        if new.goals[: len(self.goals)] != self.goals:
            raise ConflictError(
                "experiment: goals can be added, not renamed or removed; "
                f"got {list(new.goals)!r:.300}."
            )
        if new.scale != self.scale:
            raise ConflictError(
                "experiment: the scale of values cannot change; "
                f"got {new.scale!r}, it is {self.scale!r}."
            )
        return new


NOT_CHANGED = ("imported", "quarantine")
"""settings that are not changed by their name"""

CHANGEABLE = tuple(name for name in Settings.__struct_encode_fields__ if name not in NOT_CHANGED)
"""the fields as users name them"""


FIELD_NAMES = dict(zip(Settings.__struct_fields__, Settings.__struct_encode_fields__, strict=True))
"""field -> its name for users"""


def stored_settings(text: str) -> Settings:
    """The settings that a change holds."""
    return msgspec.json.decode(text, type=Settings)


def settings_text(settings: Settings) -> str:
    """What a change holds."""
    return msgspec.json.encode(settings).decode()


def new_settings(
    arms: Any,
    policy: Policy | Mapping[str, Any] | str | None = None,
    window: Any = None,
    sticky: bool = True,
    scale: Any = 1.0,
    **others: Any,
) -> Settings:
    """A new experiment's settings, from what a user gave; ``others``: credit, control, currency,
    goals, retention, shares, fallback."""
    unknown = set(others) - OPTIONAL
    if unknown:
        raise RefusedError(f"experiment: there are no such settings; got {sorted(unknown)}.")
    longest = window_seconds(window)
    if "goals" in others:
        others["goals"] = listed_names("goals", others["goals"])
    if "retention" in others:
        others["retention"] = retention_seconds(others["retention"])
    if "shares" in others:
        others["shares"] = given_shares(others["shares"])
    return checked_settings(
        Settings(
            arms=listed_names("arms", arms),
            description=policy_description(policy),
            window=longest,
            sticky=bool(sticky),
            scale=plain_number("experiment: the largest value", scale),
            **others,
        )
    )


def checked_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes as a user names them, as `Settings.changed` wants them."""
    wanted = dict(changes)
    if "policy" in wanted:
        wanted["policy"] = policy_description(wanted["policy"])
    if "window" in wanted:
        wanted["window"] = window_seconds(wanted["window"])
    if "retention" in wanted:
        wanted["retention"] = retention_seconds(wanted["retention"])
    if "shares" in wanted:
        wanted["shares"] = given_shares(wanted["shares"])
    for field in {"arms", "retired", "goals"} & set(wanted):
        wanted[field] = listed_names(field, wanted[field])
    unknown = set(wanted) - set(CHANGEABLE)
    if unknown:
        raise RefusedError(
            f"experiment: {sorted(unknown)} cannot be changed; what can: {list(CHANGEABLE)}."
        )
    if "policy" in wanted:
        wanted["description"] = wanted.pop("policy")
    return wanted


def policy_description(policy: Policy | Mapping[str, Any] | str | None) -> dict[str, Any]:
    """The policy as plain data."""
    if policy is None:
        policy = default_policy()
    if isinstance(policy, Policy):
        return policy.describe()
    if isinstance(policy, str):
        policy = {"policy": policy}
    if not isinstance(policy, Mapping):
        raise RefusedError(
            "experiment: policy must be a policy, its name or its description; "
            f"got {policy!r:.100}."
        )
    described = default_policy().describe()
    if dict(policy) == {"policy": described["policy"]}:
        return described  # as if it had not been named
    return dict(policy)


def listed_names(what: str, value: Any) -> tuple[Any, ...]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise RefusedError(f"experiment: {what} must be a list of names; got {value!r:.300}.")
    return tuple(value)


def plain_number(what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -1e300 < value < 1e300:
        raise RefusedError(f"{what} must be a finite number; got {value!r:.100}.")
    return float(value)


def window_seconds(value: Any) -> float | None:
    if value is None:
        return None
    return parsed_length("experiment: window", value)


def retention_seconds(value: Any) -> float | None:
    if value is None:
        return None
    return parsed_length("experiment: retention", value)


def checked_settings(given: Settings) -> Settings:
    """``given`` as it will be read back, if it makes sense."""
    try:
        settings = stored_settings(settings_text(given))
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise RefusedError(f"experiment: settings must be plain data: {error}") from error
    _check_arms(settings)
    _check_goals(settings.goals)
    _check_window(given.window, settings.window)
    _check_retention(given.retention, settings)
    if not (math.isfinite(settings.scale) and 1e-300 < settings.scale < 1e300):
        raise RefusedError(
            f"experiment: the largest value must be a finite number > 0; got {settings.scale!r}."
        )
    if settings.control is not None and settings.control not in settings.arms:
        raise RefusedError(f"experiment: control must be one of the arms; got {given.control!r}.")
    _check_shares(settings)
    if settings.currency is not None:
        printable_text("experiment: currency", settings.currency)
    if settings.credit not in CREDIT_RULES:
        raise RefusedError(
            f"experiment: credit must be one of {', '.join(CREDIT_RULES)}; got {given.credit!r}."
        )
    _check_policy(given, settings)
    return settings


def _check_arms(settings: Settings) -> None:
    arms = settings.arms
    for arm in arms:
        printable_text("experiment: every arm", arm)
    if not 1 <= len(arms) <= MOST_ARMS or len(set(arms)) < len(arms):
        raise RefusedError(
            f"experiment: 1 to {MOST_ARMS} different arms are needed; got {list(arms)!r:.300}."
        )
    unknown = [arm for arm in settings.retired if arm not in arms]
    if unknown:
        raise RefusedError(f"experiment: only arms that exist can be retired; got {unknown!r}.")
    if not settings.active:
        raise RefusedError("experiment: at least one arm must stay; pause the experiment instead.")


def _check_shares(settings: Settings) -> None:
    if settings.fallback is not None and settings.fallback not in settings.arms:
        raise RefusedError(
            f"experiment: fallback must be one of the arms; got {settings.fallback!r}."
        )
    shares = settings.shares
    if shares is None:
        return
    active = [settings.arms[place] for place in settings.active]
    if shares.control is not None and settings.control not in active:
        raise RefusedError(
            "experiment: a fixed share of control needs a control that is not retired; "
            f"got control={settings.control!r}."
        )
    if shares.holdback and settings.outside_arm is None:
        raise RefusedError(
            "experiment: a holdback needs a fallback arm, or a control, to be shown instead."
        )
    check_shares(shares, settings.arms, [settings.arms[place] for place in settings.chosen])


def _check_goals(goals: tuple[str, ...]) -> None:
    for goal in goals:
        printable_text("experiment: every goal", goal)
    if len(goals) > MOST_GOALS or len(set(goals)) < len(goals):
        raise RefusedError(
            f"experiment: up to {MOST_GOALS} different goals can be named; "
            f"got {list(goals)!r:.300}."
        )


def _check_window(given: float | None, read_back: float | None) -> None:
    """NaN and infinity are read back as None."""
    if given is None:
        return
    if read_back is None or not 0 < read_back <= LONGEST_WINDOW:
        raise RefusedError(
            f"experiment: window must be seconds, above 0 and at most ten years; got {given!r}."
        )


def _check_retention(given: float | None, settings: Settings) -> None:
    """An order within the window must find its unit."""
    if given is None:
        return
    shortest = settings.window or 0.0
    kept = settings.retention
    if kept is None or not 0 < kept <= LONGEST_RETENTION or kept < shortest:
        raise RefusedError(
            "experiment: retention must be seconds, at least the window and at most a hundred "
            f"years; got {given!r}."
        )


def _check_policy(given: Settings, settings: Settings) -> None:
    with told_as_refusal():
        _ = given.policy  # as the user gave it: its error names what he wrote
        policy = settings.policy
    require_fit_policy(policy, len(settings.active))

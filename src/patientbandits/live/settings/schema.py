"""The settings of an experiment, stored as JSON in the changes of its log."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from patientbandits.live.settings.crediting import Crediting
from patientbandits.live.settings.quarantine import QuarantineRules
from patientbandits.live.settings.shares import NOTHING_KEPT, Shares
from patientbandits.live.times import SECOND, length_text
from patientbandits.policies import CalendarThompson, PatientThompson, Policy, Thompson
from patientbandits.policies.patient_thompson import IGNORED
from patientbandits.policies.registry import policy_from


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An experiment's settings. ``arms`` never shrinks: the log knows an arm by its place."""

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
    """what conversions can reach: the first decides, the others are only reported"""
    retention: float | None = None
    """seconds after a person's last line until their names are removed"""
    reporting_lag: float | None = None
    """seconds by which orders may be reported late, as by an import every night: what happened
    before that is complete, and what came later does not count yet"""
    imported: int = 0
    """decisions that were imported so far: the policy learned from them, and did not make them"""
    shares: Shares | None = None
    """shares of traffic that hold whatever the policy chooses"""
    closed: bool = False
    """no new units: units in the experiment keep their arm, others get the fallback"""
    fallback: str | None = None
    """the arm for units outside the experiment; the control by default"""
    quarantine: QuarantineRules = ()
    """rules of events that do not count"""
    owner: str | None = None
    """who looks after it, for people"""
    about: str | None = None
    """what it is for, for people"""
    drawn: bool = False
    """arms are drawn from the logged chances of a policy that knows its own only roughly; so in
    experiments that began with 0.3 or later"""

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
    def mixes(self) -> bool:
        """Tell whether arms are drawn from shares, not chosen by the policy itself."""
        return self.kept.mixes or (self.drawn and isinstance(self.policy, Thompson))

    @property
    def chosen(self) -> tuple[int, ...]:
        """Places of the arms that the policy chooses among: not a control of a fixed share."""
        if self.kept.control is None:
            return self.active
        return tuple(place for place in self.active if self.arms[place] != self.control)

    @property
    def takes_everyone(self) -> bool:
        """Tell whether no unit is kept outside."""
        return not (self.closed or self.quarantine or self.kept.holdback)

    @property
    def unit_rules(self) -> QuarantineRules:
        """The quarantine rules that keep a unit outside."""
        return tuple(rule for rule in self.quarantine if rule.keeps_out)

    @property
    def outside_arm(self) -> str | None:
        """The arm of units outside the experiment."""
        return self.fallback or self.control

    @property
    def policy(self) -> Policy:
        """The policy, without parameters that only earlier versions had."""
        description = self.description
        if description.get("policy") == "PatientThompson":
            description = {key: value for key, value in description.items() if key not in IGNORED}
        return policy_from(description, "experiment")

    @property
    def deciding_policy(self) -> Policy:
        """The policy, with the experiment's window if it needs one and names none."""
        policy = self.policy
        if isinstance(policy, (CalendarThompson, PatientThompson)) and policy.window is None:
            if self.window is None:
                return policy
            # for the policy a conversion comes when it is sure to be reported
            return replace(policy, window=self.window + (self.reporting_lag or 0.0))
        return policy

    def complete_until(self, now: int) -> int:
        """The time up to which all orders are reported, in microseconds as ``now``."""
        return now - int((self.reporting_lag or 0.0) * SECOND)

    def counts(self, delay: int) -> bool:
        """Tell whether a conversion this many microseconds after its decision counts."""
        return self.window is None or delay <= self.window * SECOND

    @property
    def window_text(self) -> str | None:
        """The window as people write it: 30d."""
        return None if self.window is None else length_text(self.window)

    def decides_like(self, other: Settings) -> bool:
        """Tell whether the policy's memory is the same under both."""
        return (
            self.description == other.description
            and self.active == other.active
            and self.window == other.window
            and self.reporting_lag == other.reporting_lag
            and self.imported == other.imported
            and self.kept == other.kept
            and self.chosen == other.chosen
            and self.quarantine == other.quarantine
            and self.mixes == other.mixes
        )


NOT_CHANGED = ("imported", "quarantine", "drawn")
"""settings that users cannot change by name"""

CHANGEABLE = tuple(name for name in Settings.__struct_encode_fields__ if name not in NOT_CHANGED)
"""the fields as users name them"""


FIELD_NAMES = dict(zip(Settings.__struct_fields__, Settings.__struct_encode_fields__, strict=True))
"""field -> its name for users"""


DECODER = msgspec.json.Decoder(Settings)
"""Created at import, before there are threads: msgspec 0.22 crashes if two of them are the first to
use a type at the same time."""


def stored_settings(text: str) -> Settings:
    """The settings in a change's JSON."""
    return DECODER.decode(text)


def settings_text(settings: Settings) -> str:
    """The JSON that a change stores."""
    fields = msgspec.to_builtins(settings)
    for name in ("reporting_lag", "owner", "about"):
        if fields[name] is None:
            # versions that do not know it read the log as long as it is not used
            del fields[name]
    return msgspec.json.encode(fields).decode()

"""What policies over another one, their base, have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from patientbandits.errors import InputError, require
from patientbandits.policies.base import Policy, rule_of


@dataclass(frozen=True)
class OverBase(Policy):
    """A policy that decides by way of another one."""

    base: Policy
    first_pulls: ClassVar[int] = 0

    def __post_init__(self) -> None:
        if not isinstance(self.base, Policy):
            raise InputError(f"{self.owner}: base must be a policy; got base={self.base!r}.")
        hooks = rule_of(self.base, 2, horizon_known=True).hooks
        rule = "base must do without early signals"
        require("signalled" not in hooks, self.owner, rule, base=self.base.label)

    def numbers(self, arms: int) -> tuple[float, ...]:
        return self.base.numbers(arms)
